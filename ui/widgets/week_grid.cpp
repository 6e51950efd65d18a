#include "ui/widgets/week_grid.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QLocale>

#include "ui/client/plain_text.h"

namespace potluck::ui {

namespace {

using activity::Level;

constexpr int cell = 24;  // pixels
constexpr int days = activity::days_per_week, hours = activity::hours_per_day;

activity::HourOfWeek hourOf(int day, int hour) { return {static_cast<std::size_t>(day * hours + hour)}; }

Level next(Level level) {
    switch (level) {
        case Level::run: return Level::quiet;
        case Level::quiet: return Level::pause;
        case Level::pause: return Level::run;
    }
    return Level::run;
}

}  // namespace

WeekGrid::WeekGrid(QWidget* parent) : QTableWidget(days, hours, parent) {
    setSelectionMode(QAbstractItemView::SingleSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setAccessibleName(tr("Hours of the week"));
    horizontalHeader()->setMinimumSectionSize(cell);
    horizontalHeader()->setDefaultSectionSize(cell);
    horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    verticalHeader()->setDefaultSectionSize(cell);
    QStringList names, numbers;
    for (int day = 0; day < days; ++day) names << QLocale().dayName(day + 1, QLocale::ShortFormat);
    for (int hour = 0; hour < hours; ++hour) numbers << QString::number(hour);
    setVerticalHeaderLabels(names);
    setHorizontalHeaderLabels(numbers);
    setFixedHeight((days + 2) * cell);
    for (int day = 0; day < days; ++day) {
        for (int hour = 0; hour < hours; ++hour) {
            auto* item = new QTableWidgetItem;
            item->setTextAlignment(Qt::AlignCenter);
            setItem(day, hour, item);
            paint(day, hour);
        }
    }
    connect(this, &QTableWidget::cellClicked, this, &WeekGrid::advance);
}

void WeekGrid::show(const activity::Schedule& schedule) {
    if (m_schedule == schedule) return;
    m_schedule = schedule;
    for (int day = 0; day < days; ++day) {
        for (int hour = 0; hour < hours; ++hour) paint(day, hour);
    }
}

void WeekGrid::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Space && currentRow() >= 0) return advance(currentRow(), currentColumn());
    QTableWidget::keyPressEvent(event);
}

void WeekGrid::advance(int day, int hour) {
    m_schedule.set(hourOf(day, hour), next(m_schedule.at(hourOf(day, hour))));
    paint(day, hour);
    emit edited();
}

void WeekGrid::paint(int day, int hour) {
    const Level level = m_schedule.at(hourOf(day, hour));
    const QString sign =
        level == Level::run ? QString() : QString(level == Level::quiet ? QChar(0x00BD) : QChar(0x2013));
    const QString meaning = level == Level::run     ? tr("training")
                            : level == Level::quiet ? tr("half speed")
                                                    : tr("pause");
    QTableWidgetItem* const at = item(day, hour);
    at->setText(sign);
    const QString text = QStringLiteral("%1 %2: %3").arg(QLocale().dayName(day + 1), QString::number(hour), meaning);
    at->setData(Qt::AccessibleTextRole, text);
    at->setToolTip(literalText(text));
    at->setBackground(palette().color(level == Level::run     ? QPalette::AlternateBase
                                      : level == Level::quiet ? QPalette::Base
                                                              : QPalette::Mid));
}

}  // namespace potluck::ui
