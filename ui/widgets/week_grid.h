// The hours of a week as a table: a click or the space bar takes a cell from training to half speed, to pause, and
// back. A sign beside the colour tells them apart, and each cell says its day, hour and meaning to screen readers.
//
// Threads: Qt's main thread.
#pragma once

#include <QTableWidget>

#include "core/activity/schedule.h"

namespace potluck::ui {

class WeekGrid : public QTableWidget {
    Q_OBJECT

public:
    explicit WeekGrid(QWidget* parent);

    void show(const activity::Schedule& schedule);
    [[nodiscard]] const activity::Schedule& schedule() const { return m_schedule; }

signals:
    /// A cell was taken on by the person.
    void edited();

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void advance(int day, int hour);
    void paint(int day, int hour);

    activity::Schedule m_schedule;
};

}  // namespace potluck::ui
