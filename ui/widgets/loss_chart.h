// One of the run's two losses over its rounds, drawn with QPainter: the model's validation loss with a mark at each
// measurement, and the baseline, which is a validation loss, too, as a dashed line; or the members' training loss,
// which is of other text and of models that are still being trained, so that it never stands beside the other two. A
// legend above the plot says which is which. Rounds of which nothing is known are a gap in the line. The mouse or the
// arrow keys read out single points; a screen reader gets the curve as a sentence. It does not fetch or keep a history
// of its own: what `show` was given last is what it draws.
//
// Threads: Qt's main thread.
#pragma once

#include <vector>

#include <QPainterPath>
#include <QWidget>

#include "core/control/node_protocol.h"
#include "ui/widgets/chart_scale.h"

namespace potluck::ui {

class LossChart : public QWidget {
    Q_OBJECT

public:
    explicit LossChart(QWidget* parent = nullptr);

    /// Points by rising round; a baseline of zero or less is not drawn. Losses that are not finite or not above zero
    /// are left out.
    void show(std::vector<control::CurvePoint> points, double baselineLoss,
              model::Baseline baseline = model::Baseline::bigram);
    /// Which loss is drawn; the one that there is where the other is missing.
    enum class Losses { validation, training };
    void setShown(Losses losses);
    [[nodiscard]] Losses shown() const;
    /// Said in place of a curve where there is none; at first that it begins when the first round ends.
    void setEmptyText(const QString& text);
    /// Whether the training loss is drawn as a mean over a few rounds, with the losses themselves as a thin line behind
    /// it.
    enum class Smoothing { off, light };
    void setSmoothing(Smoothing smoothing);
    /// What the curves are drawn over: rounds, or the tokens that the run was trained on by then. Rounds where the
    /// points do not say how many.
    enum class Axis { rounds, tokens };
    void setAxis(Axis axis);
    /// What is read out at the moment, for example "Round 12, training loss 3.214"; empty if nothing is.
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
    struct Point {
        std::uint64_t round = 0;
        double loss = 0;
        std::uint64_t tokens = 0;
    };
    [[nodiscard]] bool isOverTokens() const { return m_axis == Axis::tokens && main().back().tokens > 0; }
    [[nodiscard]] double placeOf(const Point& point) const;
    void countTokens();
    [[nodiscard]] QPointF pointAt(const Point& point) const;
    [[nodiscard]] const std::vector<Point>& main() const {
        return shown() == Losses::training ? m_training : m_validation;
    }
    [[nodiscard]] bool showsBaseline() const { return shown() == Losses::validation && m_baselineLoss > 0; }
    [[nodiscard]] bool empty() const { return main().empty(); }
    using Stretch = std::vector<Point>;
    [[nodiscard]] static std::vector<Stretch> stretchesOf(const std::vector<Point>& curve);
    [[nodiscard]] QPainterPath lineThrough(const Stretch& stretch) const;
    void smooth();
    void fitScales();
    void readOutAt(int index);
    void describe();
    [[nodiscard]] QString baselineSentence() const;
    [[nodiscard]] QString baselineLabel() const;
    void paintAxes(QPainter& painter) const;
    void paintBaseline(QPainter& painter) const;
    void paintTraining(QPainter& painter) const;
    void paintValidation(QPainter& painter) const;
    struct LegendEntry {
        QString text;
        QColor colour;
        Qt::PenStyle style;
    };
    [[nodiscard]] std::vector<LegendEntry> legend() const;
    void paintLegend(QPainter& painter) const;
    void paintReadOut(QPainter& painter) const;
    void paintEmpty(QPainter& painter) const;

    std::vector<Point> m_training, m_validation;
    std::vector<Point> m_smooth;  // of m_training; empty without smoothing
    Losses m_shown = Losses::validation;
    Smoothing m_smoothing = Smoothing::off;
    Axis m_axis = Axis::rounds;
    QString m_emptyText;
    double m_baselineLoss = 0;
    model::Baseline m_baseline = model::Baseline::bigram;
    AxisScale m_places;
    AxisScale m_losses;
    int m_pointed = -1;  // index into main() of the point that is read out
};

}  // namespace potluck::ui
