// The run's loss over its rounds, drawn with QPainter: labelled axes, the curve, the bigram baseline as a dashed line
// with its name. The mouse or the arrow keys read out single points; a screen reader gets the curve as a sentence.
// It does not fetch or keep a history of its own: what `show` was given last is what it draws.
//
// Threads: Qt's main thread.
#pragma once

#include <vector>

#include <QWidget>

#include "core/control/node_protocol.h"
#include "ui/widgets/chart_scale.h"

namespace potluck::ui {

class LossChart : public QWidget {
    Q_OBJECT

public:
    explicit LossChart(QWidget* parent = nullptr);

    /// Points by rising round; a baseline of zero or less is not drawn. Losses that are not finite are left out.
    void show(std::vector<control::CurvePoint> points, double bigramLoss);
    /// What is read out at the moment, for example "Round 12, loss 3.214"; empty if nothing is.
    [[nodiscard]] QString readOut() const;

    [[nodiscard]] QSize sizeHint() const override { return {420, 240}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {240, 160}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    [[nodiscard]] QRectF plotArea() const;
    [[nodiscard]] QPointF pointAt(const control::CurvePoint& point) const;
    void readOutAt(int index);
    void describe();
    void paintAxes(QPainter& painter) const;
    void paintBaseline(QPainter& painter) const;
    void paintCurve(QPainter& painter) const;
    void paintReadOut(QPainter& painter) const;
    void paintEmpty(QPainter& painter) const;

    std::vector<control::CurvePoint> m_points;
    double m_bigramLoss = 0;
    AxisScale m_rounds;
    AxisScale m_losses;
    int m_pointed = -1;  // index of the point that is read out
};

}  // namespace potluck::ui
