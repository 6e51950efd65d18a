#include "ui/members/swarm_strokes.h"

#include <algorithm>
#include <cmath>

#include <QPalette>
#include <QPen>

#include "ui/widgets/theme.h"

namespace potluck::ui {

namespace {

constexpr double letter_radius_min = 8;
constexpr double seat_gap = 3;

/// The outline of a member, `more` pixels outside its own.
void drawShape(QPainter& painter, const SwarmNode& node, double radius) {
    const QRectF box(node.at.x() - radius, node.at.y() - radius, 2 * radius, 2 * radius);
    if (node.is_backbone) {
        // About the area of a disc.
        const double side = 0.1 * radius;
        painter.drawRoundedRect(box.adjusted(side, side, -side, -side), 0.3 * radius, 0.3 * radius);
    } else {
        painter.drawEllipse(box);
    }
}

QColor inkOf(const SwarmNode& node) {
    if (node.is_self) return colourOf(QPalette::Highlight);
    return colourOf(node.doing == Doing::trains ? QPalette::Link : QPalette::PlaceholderText);
}

}  // namespace

void drawMember(QPainter& painter, const SwarmNode& node, double radius, QChar letter) {
    const QColor colour = inkOf(node), card = colourOf(QPalette::Base);
    const double thick = std::max(1.2, 0.12 * radius);
    // A border of the card's colour keeps the lines that pass away from it.
    painter.setPen(Qt::NoPen);
    painter.setBrush(card);
    drawShape(painter, node, radius + 2 + (node.has_seat ? seat_gap : 0));
    QPen outline(colour, thick);
    if (node.doing == Doing::silent) {
        outline.setDashPattern({1, 2});
        outline.setCapStyle(Qt::RoundCap);
    }
    painter.setPen(outline);
    painter.setBrush(node.doing == Doing::trains ? colour : card);
    drawShape(painter, node, radius - thick / 2);
    if (node.has_seat) {
        painter.setPen(QPen(colour, std::max(1.2, 0.09 * radius)));
        painter.setBrush(Qt::NoBrush);
        drawShape(painter, node, radius + seat_gap);
    }
    if (letter.isNull() || radius < letter_radius_min) return;
    painter.setPen(node.doing == Doing::trains ? card : colour);
    painter.drawText(QRectF(node.at.x() - radius, node.at.y() - radius, 2 * radius, 2 * radius), Qt::AlignCenter,
                     QString(letter));
}

void drawPointer(QPainter& painter, const SwarmNode& node, double radius) {
    painter.setPen(QPen(colourOf(QPalette::Text), 2));
    painter.setBrush(Qt::NoBrush);
    drawShape(painter, node, radius + 3 + (node.has_seat ? seat_gap : 0));
}

double strokeOf(std::uint64_t bytes) {
    return std::clamp(1 + std::log10(1 + static_cast<double>(bytes) / 500), 1.0, 6.0);
}

void drawFlow(QPainter& painter, const QLineF& line, const Flow& flow, double scale, const QColor& colour) {
    if (line.length() < 1) return;
    const QLineF across = line.normalVector().unitVector();
    const QPointF side(scale * across.dx() / 2, scale * across.dy() / 2);
    const double here = strokeOf(flow.sent), there = strokeOf(flow.received);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    const QPointF corners[] = {line.p1() + here * side, line.p2() + there * side, line.p2() - there * side,
                               line.p1() - here * side};
    painter.drawConvexPolygon(corners, 4);
}

void drawHearsay(QPainter& painter, const QLineF& line, const QColor& colour) {
    QPen pen(colour, 1.1);
    pen.setDashPattern({4, 6});
    painter.setPen(pen);
    painter.drawLine(line);
}

}  // namespace potluck::ui
