// The vertical axis begins at zero, so that a bar's length is its number; a day with something has at least two pixels.
// Bars stand from left to right in time in every language, as the curves of losses do.
//
// Today is named below the axis, and of the days before it those that find room. The day that is read out is
// also the widget's description, which a screen reader hears; without one that is a sentence about all days.
#include "ui/records/day_chart.h"

#include <algorithm>

#include <QAccessible>
#include <QDateTime>
#include <QKeyEvent>
#include <QLocale>
#include <QMouseEvent>
#include <QPainter>

#include "ui/client/plain_text.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

namespace {

constexpr int ticks_wanted = 4;
constexpr double bar_pixels_min = 2, gap_share = 0.25;

QDate dateOf(const control::DayRow& day) { return QDateTime::fromSecsSinceEpoch(day.begins).date(); }

QString shortDate(const control::DayRow& day) { return QLocale().toString(dateOf(day), QStringLiteral("d MMM")); }

}  // namespace

DayChart::DayChart(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setAccessibleName(tr("Tokens by day"));
    describe();
}

void DayChart::show(std::vector<control::DayRow> days) {
    m_days = std::move(days);
    if (m_pointed >= static_cast<int>(m_days.size())) m_pointed = -1;
    std::uint64_t most = 0;
    for (const control::DayRow& day : m_days) most = std::max(most, day.tokens);
    m_tokens = wholeScaleFor({0, static_cast<double>(std::max<std::uint64_t>(most, 1))}, ticks_wanted);
    describe();
    update();
}

QString DayChart::readOut() const {
    if (m_pointed < 0) return {};
    const control::DayRow& day = m_days[static_cast<std::size_t>(m_pointed)];
    const QString date = QLocale().toString(dateOf(day), QStringLiteral("ddd d MMM"));
    return tr("%1: %2 tokens").arg(date, fullCount(day.tokens));
}

void DayChart::describe() {
    if (m_pointed >= 0) return setAccessibleDescription(readOut());
    std::uint64_t sum = 0;
    for (const control::DayRow& day : m_days) sum += day.tokens;
    setAccessibleDescription(
        tr("%1 tokens in %n day(s).", nullptr, static_cast<int>(m_days.size())).arg(fullCount(sum)));
}

QRectF DayChart::plotArea() const {
    const QFontMetricsF metrics(smallFont(*this));
    const double left = metrics.horizontalAdvance(QStringLiteral("000.0 k")) + grid;
    return QRectF(rect()).adjusted(left, metrics.height() + grid, -grid, -metrics.height() - grid);
}

QRectF DayChart::barOf(int day) const {
    const QRectF plot = plotArea();
    const double width = plot.width() / std::max<double>(1, static_cast<double>(m_days.size()));
    const auto tokens = static_cast<double>(m_days[static_cast<std::size_t>(day)].tokens);
    const double share = m_tokens.high > 0 ? tokens / m_tokens.high : 0;
    const double height = tokens > 0 ? std::max(bar_pixels_min, share * plot.height()) : 0;
    const double gap = gap_share * width / 2;
    return {plot.left() + day * width + gap, plot.bottom() - height, width - 2 * gap, height};
}

int DayChart::dayAt(double x) const {
    const QRectF plot = plotArea();
    if (m_days.empty() || x < plot.left() || x >= plot.right()) return -1;
    const auto count = static_cast<int>(m_days.size());
    return std::clamp(static_cast<int>((x - plot.left()) / plot.width() * count), 0, count - 1);
}

void DayChart::readOutAt(int day) {
    if (day == m_pointed) return;
    m_pointed = day;
    describe();
    QAccessibleEvent event(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
    update();
}

void DayChart::mouseMoveEvent(QMouseEvent* event) { readOutAt(dayAt(event->position().x())); }

void DayChart::leaveEvent(QEvent*) { readOutAt(-1); }

void DayChart::focusOutEvent(QFocusEvent* event) {
    readOutAt(-1);
    QWidget::focusOutEvent(event);
}

void DayChart::keyPressEvent(QKeyEvent* event) {
    const auto last = static_cast<int>(m_days.size()) - 1;
    if (last < 0) return QWidget::keyPressEvent(event);
    switch (event->key()) {
        case Qt::Key_Left: return readOutAt(m_pointed < 0 ? last : std::max(0, m_pointed - 1));
        case Qt::Key_Right: return readOutAt(m_pointed < 0 ? last : std::min(last, m_pointed + 1));
        case Qt::Key_Home: return readOutAt(0);
        case Qt::Key_End: return readOutAt(last);
        default: QWidget::keyPressEvent(event);
    }
}

void DayChart::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setFont(smallFont(*this));
    paintAxis(painter);
    paintBars(painter);
    paintReadOut(painter);
    if (!hasFocus()) return;
    painter.setPen(colourOf(QPalette::Highlight));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), grid, grid);
}

void DayChart::paintAxis(QPainter& painter) const {
    const QRectF plot = plotArea();
    const QFontMetricsF metrics(painter.font());
    for (const double tick : m_tokens.ticks()) {
        const double y = plot.bottom() - plot.height() * tick / std::max(m_tokens.high, 1.0);
        painter.setPen(colourOf(QPalette::Mid));
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
        painter.setPen(colourOf(QPalette::PlaceholderText));
        const QRectF place(0, y - metrics.height() / 2, plot.left() - grid, metrics.height());
        painter.drawText(place, Qt::AlignRight | Qt::AlignVCenter, shortCount(static_cast<std::uint64_t>(tick)));
    }
    const auto count = static_cast<int>(m_days.size());
    double free_to = plot.right();
    for (int day = count - 1; day >= 0; --day) {
        const QString date = shortDate(m_days[static_cast<std::size_t>(day)]);
        const double width = metrics.horizontalAdvance(date) + grid, middle = barOf(day).center().x();
        const double left = std::clamp(middle - width / 2, plot.left(), plot.right() - width);
        if (left + width > free_to) continue;
        painter.drawText(QRectF(left, plot.bottom() + grid / 2.0, width, metrics.height()), Qt::AlignCenter, date);
        free_to = left - grid;
    }
}

void DayChart::paintBars(QPainter& painter) const {
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    const auto count = static_cast<int>(m_days.size());
    for (int day = 0; day < count; ++day) {
        const bool today = day == count - 1;
        painter.setBrush(colourOf(today || day == m_pointed ? QPalette::Highlight : QPalette::Link));
        painter.drawRect(barOf(day));
    }
}

void DayChart::paintReadOut(QPainter& painter) const {
    if (m_pointed < 0) return;
    const QFontMetricsF metrics(painter.font());
    painter.setPen(colourOf(QPalette::Text));
    painter.drawText(QRectF(0, grid / 2.0, width() - grid, metrics.height()), Qt::AlignRight | Qt::AlignVCenter,
                     readOut());
}

}  // namespace potluck::ui
