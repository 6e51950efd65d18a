// How members and what goes between them are drawn, in the picture and in its legend alike. Shape and filling tell
// apart, not colour alone: a backbone is a square, a seat in the committee a second outline; who trains is filled, who
// passes on is not, and who is silent has a dotted outline.
//
// Threads: Qt's main thread.
#pragma once

#include <cstdint>

#include <QLineF>
#include <QPainter>

#include "ui/members/swarm_scene.h"

namespace potluck::ui {

/// `letter`: what stands in it; null for none.
void drawMember(QPainter& painter, const SwarmNode& node, double radius, QChar letter);
/// An outline around a member that is pointed at.
void drawPointer(QPainter& painter, const SwarmNode& node, double radius);

/// In pixels, for bytes a second: one without any, about one more for each factor of ten, and no more than six.
[[nodiscard]] double strokeOf(std::uint64_t bytes);
struct Flow {
    std::uint64_t sent = 0, received = 0;
};
/// A direct connection, from this computer to the other: each end is as wide as what it sends, times `scale`.
void drawFlow(QPainter& painter, const QLineF& line, const Flow& flow, double scale, const QColor& colour);
/// Heard of through others.
void drawHearsay(QPainter& painter, const QLineF& line, const QColor& colour);

}  // namespace potluck::ui
