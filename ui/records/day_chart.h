// Tokens by day as bars, drawn with QPainter: one bar for each day, today in the colour of what is selected. The arrow
// keys or the mouse read out single days; a screen reader gets the days as a sentence. It keeps what `show` was given
// last and nothing else.
//
// Threads: Qt's main thread.
#pragma once

#include <vector>

#include <QWidget>

#include "core/control/record_methods.h"
#include "ui/widgets/chart_scale.h"

namespace potluck::ui {

class DayChart : public QWidget {
    Q_OBJECT

public:
    explicit DayChart(QWidget* parent = nullptr);

    /// Oldest first.
    void show(std::vector<control::DayRow> days);
    /// What is read out at the moment, for example "Mon 2 Mar: 1,200 tokens"; empty if nothing is.
    [[nodiscard]] QString readOut() const;

    [[nodiscard]] QSize sizeHint() const override { return {420, 180}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {240, 140}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    [[nodiscard]] QRectF plotArea() const;
    [[nodiscard]] QRectF barOf(int day) const;
    [[nodiscard]] int dayAt(double x) const;
    void readOutAt(int day);
    void describe();
    void paintAxis(QPainter& painter) const;
    void paintBars(QPainter& painter) const;
    void paintReadOut(QPainter& painter) const;

    std::vector<control::DayRow> m_days;
    AxisScale m_tokens;
    int m_pointed = -1;  // the day that is read out
};

}  // namespace potluck::ui
