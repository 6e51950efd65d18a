// What the picture of a run's members shows, as values: who is drawn and where, what each does and how it is heard of,
// and how many are not drawn. Does not paint (swarm_strokes.h) or listen to anybody (swarm_picture.h).
//
// Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <QFontMetricsF>
#include <QPointF>
#include <QRectF>
#include <QString>

#include "core/control/node_protocol.h"
#include "ui/members/swarm_places.h"

namespace potluck::ui {

/// silent: here, and neither of use to the training nor to others at the moment.
enum class Doing { trains, passes_on, silent };
[[nodiscard]] Doing doingOf(const control::MemberRow& member);

struct SwarmNode {
    std::string key;
    QString name;
    QString line;  // everything that is said of it
    Doing doing = Doing::silent;
    bool is_self = false, is_backbone = false, has_seat = false, is_direct = false;
    std::size_t through = 0;               // whom it is heard through, as a place in the scene's nodes; 0: not known
    std::uint64_t sent = 0, received = 0;  // bytes a second, to and from this computer
    int place = 0;
    QPointF at;
    QString shown;  // its name, cut to what there is room for; empty if there is none
    QRectF label;
};

struct SwarmScene {
    std::vector<SwarmNode> nodes;  // this computer first, the others from the innermost ring outwards
    int rings = 1;
    double radius = 0;  // of a member
    int rest = 0;       // who is here and not drawn
    /// These count all but this computer, drawn or not.
    int others = 0, training = 0, passing_on = 0, silent = 0, direct = 0;
};

/// As many rings as are told apart in an area where text has lines of this height.
[[nodiscard]] int ringsIn(const QSizeF& area, double line);
/// Who gets a place, with those who had one before.
[[nodiscard]] SwarmPlaces placesOf(const std::vector<control::MemberRow>& members, const SwarmPlaces& before,
                                   int rings);
/// The members that have a place, without positions.
[[nodiscard]] SwarmScene sceneOf(const std::vector<control::MemberRow>& members, const SwarmPlaces& places);
/// Positions, and names where there is room.
void layOut(SwarmScene& scene, const QRectF& area, const QFontMetricsF& metrics);
/// The node at `point`, or -1.
[[nodiscard]] int nodeAt(const SwarmScene& scene, const QPointF& point);

}  // namespace potluck::ui
