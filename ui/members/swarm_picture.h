// The members of the run as a picture: this computer in the middle, the others around it, each at a place of its own
// that it keeps. A line is a direct connection, at each end as wide as what that end sends; a dashed one leads to the
// member through which another is heard of, or to the middle where that is not known. Those for whom there is no room
// are told as a number.
//
// The mouse or the arrow keys point at one member, which is read out in a line of text; without one the picture is a
// sentence for screen readers. It fetches nothing: what `show` was given last is what it draws.
//
// Threads: Qt's main thread.
#pragma once

#include <vector>

#include <QWidget>

#include "core/control/node_protocol.h"
#include "ui/members/swarm_scene.h"

namespace potluck::ui {

class SwarmPicture : public QWidget {
    Q_OBJECT

public:
    explicit SwarmPicture(QWidget* parent = nullptr);

    /// At most control::members_max, with this computer's among them.
    void show(const std::vector<control::MemberRow>& members);
    /// What is read out at the moment; empty if nothing is.
    [[nodiscard]] QString readOut() const;
    /// "and 240 more"; empty if everybody is drawn.
    [[nodiscard]] QString restText() const;
    [[nodiscard]] const SwarmScene& scene() const { return m_scene; }

    [[nodiscard]] QSize sizeHint() const override { return {420, 300}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {240, 160}; }

signals:
    /// There is room for more members than before, or for fewer: it wants to be shown them again.
    void roomChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    /// A sign of the legend, with its meaning. Places are for a layout from left to right.
    struct Entry {
        QString text;
        SwarmNode sign;
        enum class Line { none, direct, hearsay } line = Line::none;
        QRectF box;
    };
    [[nodiscard]] int rings() const;
    void place();
    void fillLegend();
    /// The height that the legend takes; it goes where it would take more than a third.
    [[nodiscard]] double placeLegend();
    void pointAt(int node);
    void describe();
    void paintLines(QPainter& painter) const;
    void paintNames(QPainter& painter) const;
    void paintLegend(QPainter& painter) const;
    void paintReadOut(QPainter& painter) const;

    SwarmPlaces m_places;
    SwarmScene m_scene;
    int m_rings = 0;  // for which there was room when it was shown
    std::vector<Entry> m_legend;
    double m_legendHeight = 0;
    int m_pointed = -1;  // index into the scene's nodes
};

}  // namespace potluck::ui
