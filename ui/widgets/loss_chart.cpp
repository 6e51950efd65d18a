// show() keeps what can be drawn and fits both axes to what is shown of it, the baseline included, so that no curve
// leaves the plot; chart_scale.h finds round ticks. Painting goes from back to front: legend, which has lines of its
// own above the plot, axes, baseline, the curve, read-out.
//
// Smoothing is a weighted mean of a point and its two neighbours on each side (binomial weights), which lags behind
// nothing, at the ends of those that are there. Reading out is of the losses themselves, smoothed or not.
//
// Colour is never the only sign: the curve is whole, the baseline is dashed, and each is named. The
// point that is read out is an index into the main curve, moved by the mouse or the keys, and announced to screen
// readers as the widget's description; without one the description is a sentence about the whole curve. Colours come
// from the application's palette, since a style sheet changes the widget's own.
#include "ui/widgets/loss_chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <QAccessible>
#include <QKeyEvent>
#include <QLocale>
#include <QPainter>
#include <QPainterPath>

#include "core/control/curve_gaps.h"
#include "ui/client/plain_text.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

namespace {

/// Single rounds vanish, a turn of the curve does not.
constexpr std::array smoothing_weights = {1.0, 4.0, 6.0, 4.0, 1.0};

QString lossText(double loss, int decimals = 3) { return QLocale().toString(loss, 'f', decimals); }

QColor faint(QColor colour, double opacity) {
    colour.setAlphaF(static_cast<float>(opacity));
    return colour;
}

}  // namespace

LossChart::LossChart(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    m_emptyText = tr("The curve begins when the first round ends.");
    setAccessibleName(tr("What the model has learned by round"));
    setToolTip({});
    describe();
}

QString LossChart::baselineSentence() const {
    const QString loss = lossText(m_baselineLoss);
    switch (m_baseline) {
        case model::Baseline::bigram: return tr("A table of which token follows which reaches %1.").arg(loss);
        case model::Baseline::unigram: return tr("A table of how frequent each token is reaches %1.").arg(loss);
        case model::Baseline::chance: return tr("A model that finds all pictures alike reaches %1.").arg(loss);
        case model::Baseline::mean_colour: break;
    }
    return tr("A picture of one mean colour reaches %1.").arg(loss);
}

QString LossChart::baselineLabel() const {
    const QString loss = lossText(m_baselineLoss, 2);
    switch (m_baseline) {
        case model::Baseline::bigram: return tr("Mere table of pairs: %1").arg(loss);
        case model::Baseline::unigram: return tr("Mere table of frequencies: %1").arg(loss);
        case model::Baseline::chance: return tr("All pictures alike: %1").arg(loss);
        case model::Baseline::mean_colour: break;
    }
    return tr("One mean colour: %1").arg(loss);
}

void LossChart::show(std::vector<control::CurvePoint> points, double baselineLoss, model::Baseline baseline) {
    m_training.clear();
    m_validation.clear();
    const auto drawable = [](double loss) { return std::isfinite(loss) && loss > 0; };
    for (const control::CurvePoint& point : points) {
        if (drawable(point.loss)) m_training.push_back({point.round, point.loss, point.tokens});
        if (drawable(point.validation)) m_validation.push_back({point.round, point.validation, point.tokens});
    }
    m_baselineLoss = std::isfinite(baselineLoss) ? baselineLoss : 0;
    m_baseline = baseline;
    countTokens();
    smooth();
    if (m_pointed >= static_cast<int>(main().size())) m_pointed = -1;
    if (!empty()) fitScales();
    describe();
    update();
}

LossChart::Losses LossChart::shown() const {
    if (m_validation.empty()) return Losses::training;
    return m_training.empty() ? Losses::validation : m_shown;
}

void LossChart::setShown(Losses losses) {
    m_shown = losses;
    m_pointed = -1;
    if (!empty()) fitScales();
    describe();
    update();
}

void LossChart::setEmptyText(const QString& text) {
    if (text == m_emptyText) return;
    m_emptyText = text;
    describe();
    update();
}

void LossChart::setSmoothing(Smoothing smoothing) {
    m_smoothing = smoothing;
    smooth();
    update();
}

void LossChart::setAxis(Axis axis) {
    m_axis = axis;
    if (!empty()) fitScales();
    update();
}

/// A validation loss is of a state; its tokens are those of the rounds that led to it.
void LossChart::countTokens() {
    auto round = m_training.begin();
    std::uint64_t tokens = 0;
    for (Point& point : m_validation) {
        for (; round != m_training.end() && round->round < point.round; ++round) tokens = round->tokens;
        if (point.tokens == 0) point.tokens = tokens;
    }
}

double LossChart::placeOf(const Point& point) const {
    return static_cast<double>(isOverTokens() ? point.tokens : point.round);
}

void LossChart::smooth() {
    m_smooth.clear();
    if (m_smoothing == Smoothing::off) return;
    const auto count = static_cast<std::ptrdiff_t>(m_training.size());
    constexpr auto reach = static_cast<std::ptrdiff_t>(smoothing_weights.size() / 2);
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        double sum = 0, weights = 0;
        for (std::ptrdiff_t j = std::max<std::ptrdiff_t>(0, i - reach); j <= std::min(count - 1, i + reach); ++j) {
            const double weight = smoothing_weights[static_cast<std::size_t>(j - i + reach)];
            sum += weight * m_training[static_cast<std::size_t>(j)].loss;
            weights += weight;
        }
        const Point& here = m_training[static_cast<std::size_t>(i)];
        m_smooth.push_back({here.round, sum / weights, here.tokens});
    }
}

void LossChart::fitScales() {
    AxisRange losses{main().front().loss, main().front().loss};
    AxisRange places{placeOf(main().front()), placeOf(main().back())};
    if (showsBaseline()) losses = {std::min(losses.low, m_baselineLoss), std::max(losses.high, m_baselineLoss)};
    for (const Point& point : main()) {
        losses = {std::min(losses.low, point.loss), std::max(losses.high, point.loss)};
        places = {std::min(places.low, placeOf(point)), std::max(places.high, placeOf(point))};
    }
    m_losses = scaleFor(losses, 4);
    m_places = wholeScaleFor(places, 5);
}

QString LossChart::readOut() const {
    if (m_pointed < 0) return {};
    const Point& point = main()[static_cast<std::size_t>(m_pointed)];
    const QString text =
        shown() == Losses::validation ? tr("Round %1: %2 on new text") : tr("Round %1: %2 in training");
    QString readout = text.arg(fullCount(point.round), lossText(point.loss));
    if (isOverTokens()) readout += tr(", %1 tokens").arg(shortCount(point.tokens));
    return readout;
}

void LossChart::describe() {
    if (empty()) {
        setAccessibleDescription(m_emptyText);
        return;
    }
    const auto told = [](const QString& sentence, const std::vector<Point>& curve) {
        return sentence.arg(lossText(curve.front().loss), fullCount(curve.front().round), lossText(curve.back().loss),
                            fullCount(curve.back().round));
    };
    QStringList sentences;
    if (shown() == Losses::training) {
        sentences << told(tr("The members' own value in training went from %1 in round %2 to %3 in round %4."),
                          m_training);
    } else {
        sentences << told(tr("The model's value on new text went from %1 in round %2 to %3 in round %4."),
                          m_validation);
    }
    if (showsBaseline()) sentences << baselineSentence();
    setAccessibleDescription(sentences.join(QLatin1Char(' ')));
}

QRectF LossChart::plotArea() const {
    const QFontMetricsF metrics(smallFont(*this));
    const double left = metrics.horizontalAdvance(QStringLiteral("00.00")) + 2 * grid + metrics.height();
    const double top = grid / 2 + static_cast<double>(legend().size()) * metrics.height() + grid;
    return QRectF(rect()).adjusted(left, top, -2 * grid, -2 * metrics.height() - grid - 4);
}

QPointF LossChart::pointAt(const Point& point) const {
    const QRectF area = plotArea();
    return {area.left() + area.width() * m_places.position(placeOf(point)),
            area.bottom() - area.height() * m_losses.position(point.loss)};
}

void LossChart::readOutAt(int index) {
    if (index == m_pointed) return;
    m_pointed = index;
    if (index >= 0) {
        setAccessibleDescription(readOut());
        QAccessibleEvent event(this, QAccessible::DescriptionChanged);
        QAccessible::updateAccessibility(&event);
    } else {
        describe();
    }
    update();
}

void LossChart::mouseMoveEvent(QMouseEvent* event) {
    if (empty()) return;
    const double x = event->position().x();
    const auto nearest = std::min_element(main().begin(), main().end(), [&](const auto& a, const auto& b) {
        return std::abs(pointAt(a).x() - x) < std::abs(pointAt(b).x() - x);
    });
    readOutAt(static_cast<int>(nearest - main().begin()));
}

void LossChart::leaveEvent(QEvent*) { readOutAt(-1); }

void LossChart::focusOutEvent(QFocusEvent* event) {
    readOutAt(-1);
    QWidget::focusOutEvent(event);
}

void LossChart::keyPressEvent(QKeyEvent* event) {
    const int last = static_cast<int>(main().size()) - 1;
    int next = m_pointed < 0 ? last : m_pointed;
    switch (event->key()) {
        case Qt::Key_Left: next = m_pointed < 0 ? last : m_pointed - 1; break;
        case Qt::Key_Right: next = m_pointed < 0 ? last : m_pointed + 1; break;
        case Qt::Key_Home: next = 0; break;
        case Qt::Key_End: next = last; break;
        default: QWidget::keyPressEvent(event); return;
    }
    if (last >= 0) readOutAt(std::clamp(next, 0, last));
}

void LossChart::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(smallFont(*this));
    if (empty()) {
        paintEmpty(painter);
    } else {
        paintLegend(painter);
        paintAxes(painter);
        if (shown() == Losses::training) {
            paintTraining(painter);
        } else {
            paintBaseline(painter);
            paintValidation(painter);
        }
        paintReadOut(painter);
    }
    paintFocus(painter, *this);
}

void LossChart::paintEmpty(QPainter& painter) const {
    painter.setPen(colourOf(QPalette::PlaceholderText));
    painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, m_emptyText);
}

void LossChart::paintAxes(QPainter& painter) const {
    const QRectF area = plotArea();
    const QFontMetricsF metrics(painter.font());
    const QColor line = colourOf(QPalette::Mid);
    const QColor muted = colourOf(QPalette::PlaceholderText);
    for (const double loss : m_losses.ticks()) {
        const double y = area.bottom() - area.height() * m_losses.position(loss);
        painter.setPen(QPen(line, 1));
        painter.drawLine(QPointF(area.left(), std::round(y) + 0.5), QPointF(area.right(), std::round(y) + 0.5));
        painter.setPen(muted);
        painter.drawText(QRectF(0, y - metrics.height() / 2, area.left() - grid, metrics.height()),
                         Qt::AlignRight | Qt::AlignVCenter, lossText(loss, std::max(1, m_losses.decimals)));
    }
    for (const double place : m_places.ticks()) {
        const double x = area.left() + area.width() * m_places.position(place);
        painter.drawText(
            QRectF(x - 40, area.bottom() + 4, 80, metrics.height()), Qt::AlignCenter,
            isOverTokens() ? shortCount(static_cast<std::uint64_t>(place)) : QLocale().toString(place, 'f', 0));
    }
    painter.drawText(QRectF(area.left(), area.bottom() + metrics.height() + 6, area.width(), metrics.height()),
                     Qt::AlignCenter, isOverTokens() ? tr("Tokens of all members") : tr("Round"));
    painter.save();
    painter.translate(metrics.height() / 2 + 2, area.center().y());
    painter.rotate(-90);
    const bool ofPicture = m_baseline == model::Baseline::mean_colour || m_baseline == model::Baseline::chance;
    painter.drawText(QRectF(-area.height() / 2, -metrics.height() / 2, area.height(), metrics.height()),
                     Qt::AlignCenter, ofPicture ? tr("Error") : tr("Surprise"));
    painter.restore();
}

void LossChart::paintBaseline(QPainter& painter) const {
    if (!showsBaseline()) return;
    const QRectF area = plotArea();
    const double y = area.bottom() - area.height() * m_losses.position(m_baselineLoss);
    painter.setPen(QPen(colourOf(QPalette::PlaceholderText), 1.5, Qt::DashLine));
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
}

void LossChart::paintTraining(QPainter& painter) const {
    const QRectF area = plotArea();
    const QColor colour = colourOf(QPalette::Highlight);
    const std::vector<Point>& drawn = m_smooth.empty() ? m_training : m_smooth;
    QLinearGradient shade(area.topLeft(), area.bottomLeft());
    shade.setColorAt(0, faint(colour, 0.18));
    shade.setColorAt(1, faint(colour, 0.02));
    for (const Stretch& stretch : stretchesOf(drawn)) {
        QPainterPath below = lineThrough(stretch);
        below.lineTo(pointAt(stretch.back()).x(), area.bottom());
        below.lineTo(pointAt(stretch.front()).x(), area.bottom());
        below.closeSubpath();
        painter.fillPath(below, shade);
    }
    painter.setBrush(Qt::NoBrush);
    if (!m_smooth.empty()) {
        painter.setPen(QPen(faint(colour, 0.45), 1));
        for (const Stretch& stretch : stretchesOf(m_training)) painter.drawPath(lineThrough(stretch));
    }
    painter.setPen(QPen(colour, 2.2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    for (const Stretch& stretch : stretchesOf(drawn)) painter.drawPath(lineThrough(stretch));
    painter.setPen(QPen(colourOf(QPalette::Base), 2));
    painter.setBrush(colour);
    painter.drawEllipse(pointAt(drawn.back()), 4.5, 4.5);
}

std::vector<LossChart::Stretch> LossChart::stretchesOf(const std::vector<Point>& curve) {
    std::vector<std::uint64_t> rounds;
    for (const Point& point : curve) rounds.push_back(point.round);
    std::vector<std::size_t> breaks = control::curve_breaks(rounds);
    breaks.push_back(curve.size());
    std::vector<Stretch> stretches;
    std::size_t begin = 0;
    for (const std::size_t end : breaks) {
        stretches.emplace_back(curve.begin() + static_cast<std::ptrdiff_t>(begin),
                               curve.begin() + static_cast<std::ptrdiff_t>(end));
        begin = end;
    }
    return stretches;
}

QPainterPath LossChart::lineThrough(const Stretch& stretch) const {
    QPainterPath line(pointAt(stretch.front()));
    for (const Point& point : stretch) line.lineTo(pointAt(point));
    return line;
}

/// A square at each measurement, without a line, too, where it has no neighbours.
void LossChart::paintValidation(QPainter& painter) const {
    const QColor colour = colourOf(QPalette::Link);
    painter.setPen(QPen(colour, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    for (const Stretch& stretch : stretchesOf(m_validation)) painter.drawPath(lineThrough(stretch));
    for (const Point& point : m_validation) {
        const QPointF at = pointAt(point);
        painter.fillRect(QRectF(at.x() - 2, at.y() - 2, 4, 4), colour);
    }
}

std::vector<LossChart::LegendEntry> LossChart::legend() const {
    if (empty()) return {};
    const bool ofPicture = m_baseline == model::Baseline::mean_colour || m_baseline == model::Baseline::chance;
    if (shown() == Losses::training)
        return {{tr("The members in training, on what they train on"), colourOf(QPalette::Highlight), Qt::SolidLine}};
    std::vector<LegendEntry> entries = {{ofPicture ? tr("The model, on pictures that nobody trains on")
                                                   : tr("The model, on text that nobody trains on"),
                                         colourOf(QPalette::Link), Qt::SolidLine}};
    if (showsBaseline()) entries.push_back({baselineLabel(), colourOf(QPalette::PlaceholderText), Qt::DashLine});
    return entries;
}

/// Above the plot, one entry a line, so that it covers no curve however low that one falls.
void LossChart::paintLegend(QPainter& painter) const {
    const QRectF area = plotArea();
    const QFontMetricsF metrics(painter.font());
    double y = grid / 2;
    for (const LegendEntry& entry : legend()) {
        painter.setPen(QPen(entry.colour, 2, entry.style));
        painter.drawLine(QPointF(area.left(), y + metrics.height() / 2),
                         QPointF(area.left() + 2.5 * grid, y + metrics.height() / 2));
        painter.setPen(colourOf(QPalette::Text));
        const QRectF box(area.left() + 3 * grid, y, area.width() - 3 * grid, metrics.height());
        painter.drawText(box, Qt::AlignVCenter | Qt::AlignLeft,
                         metrics.elidedText(entry.text, Qt::ElideRight, box.width()));
        y += metrics.height();
    }
}

void LossChart::paintReadOut(QPainter& painter) const {
    if (m_pointed < 0) return;
    const QRectF area = plotArea();
    const QFontMetricsF metrics(painter.font());
    const QPointF at = pointAt(main()[static_cast<std::size_t>(m_pointed)]);
    painter.setPen(QPen(colourOf(QPalette::PlaceholderText), 1));
    painter.drawLine(QPointF(at.x(), area.top()), QPointF(at.x(), area.bottom()));
    painter.setPen(QPen(colourOf(QPalette::Base), 2));
    painter.setBrush(colourOf(QPalette::Highlight));
    painter.drawEllipse(at, 5, 5);
    const double width = metrics.horizontalAdvance(readOut()) + 2 * grid;
    const double left = std::clamp(at.x() - width / 2, area.left(), std::max(area.left(), area.right() - width));
    const QRectF box(left, area.top(), width, metrics.height() + grid);
    painter.setPen(QPen(colourOf(QPalette::Mid), 1));
    painter.setBrush(colourOf(QPalette::Window));
    painter.drawRoundedRect(box, 6, 6);
    painter.setPen(colourOf(QPalette::Text));
    painter.drawText(box, Qt::AlignCenter, readOut());
}

}  // namespace potluck::ui
