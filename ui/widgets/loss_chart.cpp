#include "ui/widgets/loss_chart.h"

#include <algorithm>
#include <cmath>

#include <QAccessible>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QLocale>
#include <QPainter>
#include <QPainterPath>

#include "ui/client/plain_text.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

namespace {

QString lossText(double loss, int decimals = 3) { return QLocale().toString(loss, 'f', decimals); }

QFont smallFont(const QWidget& widget) {
    QFont font = widget.font();
    font.setPixelSize(std::max(10, QFontInfo(font).pixelSize() - 2));
    return font;
}

/// The application's palette: the widget's own has what the style sheet made of it.
QColor colourOf(QPalette::ColorRole role) { return QGuiApplication::palette().color(role); }

QColor faint(QColor colour, double opacity) {
    colour.setAlphaF(static_cast<float>(opacity));
    return colour;
}

}  // namespace

LossChart::LossChart(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setAccessibleName(tr("Loss by round"));
    setToolTip({});
    describe();
}

void LossChart::show(std::vector<control::CurvePoint> points, double bigramLoss) {
    std::erase_if(points, [](const control::CurvePoint& point) { return !std::isfinite(point.loss); });
    m_points = std::move(points);
    m_bigramLoss = std::isfinite(bigramLoss) ? bigramLoss : 0;
    if (m_pointed >= static_cast<int>(m_points.size())) m_pointed = -1;
    if (!m_points.empty()) {
        const auto [least, most] = std::minmax_element(m_points.begin(), m_points.end(),
                                                       [](const auto& a, const auto& b) { return a.loss < b.loss; });
        AxisRange losses{least->loss, most->loss};
        if (m_bigramLoss > 0) losses = {std::min(losses.low, m_bigramLoss), std::max(losses.high, m_bigramLoss)};
        m_losses = scaleFor(losses, 4);
        m_rounds =
            wholeScaleFor({static_cast<double>(m_points.front().round), static_cast<double>(m_points.back().round)}, 5);
    }
    describe();
    update();
}

QString LossChart::readOut() const {
    if (m_pointed < 0) return {};
    const control::CurvePoint& point = m_points[static_cast<std::size_t>(m_pointed)];
    return tr("Round %1, loss %2").arg(fullCount(point.round), lossText(point.loss));
}

void LossChart::describe() {
    if (m_points.empty()) {
        setAccessibleDescription(tr("No round has ended yet."));
        return;
    }
    const auto& first = m_points.front();
    const auto& last = m_points.back();
    QString text = tr("The loss went from %1 in round %2 to %3 in round %4.")
                       .arg(lossText(first.loss), fullCount(first.round), lossText(last.loss), fullCount(last.round));
    if (m_bigramLoss > 0) text += QLatin1Char(' ') + tr("The bigram baseline is %1.").arg(lossText(m_bigramLoss));
    setAccessibleDescription(text);
}

QRectF LossChart::plotArea() const {
    const QFontMetricsF metrics(smallFont(*this));
    const double left = metrics.horizontalAdvance(QStringLiteral("00.00")) + 2 * grid + metrics.height();
    return QRectF(rect()).adjusted(left, grid, -2 * grid, -2 * metrics.height() - grid - 4);
}

QPointF LossChart::pointAt(const control::CurvePoint& point) const {
    const QRectF area = plotArea();
    return {area.left() + area.width() * m_rounds.position(static_cast<double>(point.round)),
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
    if (m_points.empty()) return;
    const double x = event->position().x();
    const auto nearest = std::min_element(m_points.begin(), m_points.end(), [&](const auto& a, const auto& b) {
        return std::abs(pointAt(a).x() - x) < std::abs(pointAt(b).x() - x);
    });
    readOutAt(static_cast<int>(nearest - m_points.begin()));
}

void LossChart::leaveEvent(QEvent*) { readOutAt(-1); }

void LossChart::focusOutEvent(QFocusEvent* event) {
    readOutAt(-1);
    QWidget::focusOutEvent(event);
}

void LossChart::keyPressEvent(QKeyEvent* event) {
    const int last = static_cast<int>(m_points.size()) - 1;
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
    if (m_points.empty()) {
        paintEmpty(painter);
    } else {
        paintAxes(painter);
        paintBaseline(painter);
        paintCurve(painter);
        paintReadOut(painter);
    }
    if (!hasFocus()) return;
    painter.setPen(QPen(colourOf(QPalette::Highlight), 1.5));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), grid, grid);
}

void LossChart::paintEmpty(QPainter& painter) const {
    painter.setPen(colourOf(QPalette::PlaceholderText));
    painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, tr("The curve begins when the first round ends."));
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
    for (const double round : m_rounds.ticks()) {
        const double x = area.left() + area.width() * m_rounds.position(round);
        painter.drawText(QRectF(x - 40, area.bottom() + 4, 80, metrics.height()), Qt::AlignCenter,
                         QLocale().toString(round, 'f', 0));
    }
    painter.drawText(QRectF(area.left(), area.bottom() + metrics.height() + 6, area.width(), metrics.height()),
                     Qt::AlignCenter, tr("Round"));
    painter.save();
    painter.translate(metrics.height() / 2 + 2, area.center().y());
    painter.rotate(-90);
    painter.drawText(QRectF(-area.height() / 2, -metrics.height() / 2, area.height(), metrics.height()),
                     Qt::AlignCenter, tr("Loss (nats per token)"));
    painter.restore();
}

void LossChart::paintBaseline(QPainter& painter) const {
    if (m_bigramLoss <= 0) return;
    const QRectF area = plotArea();
    const QFontMetricsF metrics(painter.font());
    const double y = area.bottom() - area.height() * m_losses.position(m_bigramLoss);
    QPen pen(colourOf(QPalette::Link), 1.5);
    pen.setDashPattern({4, 4});
    painter.setPen(pen);
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
    const QString text = tr("Bigram baseline %1").arg(lossText(m_bigramLoss, 2));
    const double width = metrics.horizontalAdvance(text);
    // The curve starts high and ends low: the right end above the line is where it has room.
    const double top = y - metrics.height() - 2 < area.top() ? y + 2 : y - metrics.height() - 2;
    const QRectF box(area.right() - width - 4, top, width + 4, metrics.height());
    painter.fillRect(box, faint(colourOf(QPalette::Base), 0.8));
    painter.setPen(colourOf(QPalette::Link));
    painter.drawText(box, Qt::AlignCenter, text);
}

void LossChart::paintCurve(QPainter& painter) const {
    const QRectF area = plotArea();
    const QColor colour = colourOf(QPalette::Highlight);
    QPainterPath line;
    for (const auto& point : m_points) {
        if (line.elementCount() == 0)
            line.moveTo(pointAt(point));
        else
            line.lineTo(pointAt(point));
    }
    QPainterPath below = line;
    below.lineTo(pointAt(m_points.back()).x(), area.bottom());
    below.lineTo(pointAt(m_points.front()).x(), area.bottom());
    below.closeSubpath();
    QLinearGradient shade(area.topLeft(), area.bottomLeft());
    shade.setColorAt(0, faint(colour, 0.18));
    shade.setColorAt(1, faint(colour, 0.02));
    painter.fillPath(below, shade);
    painter.setPen(QPen(colour, 2.2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(line);
    painter.setPen(QPen(colourOf(QPalette::Base), 2));
    painter.setBrush(colour);
    painter.drawEllipse(pointAt(m_points.back()), 4.5, 4.5);
}

void LossChart::paintReadOut(QPainter& painter) const {
    if (m_pointed < 0) return;
    const QRectF area = plotArea();
    const QFontMetricsF metrics(painter.font());
    const QPointF at = pointAt(m_points[static_cast<std::size_t>(m_pointed)]);
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
