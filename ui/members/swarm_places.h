// Where the members of a run stand around this computer: in rings of eight places, sixteen, twenty-four and so on, so
// that neighbours are about equally far from each other everywhere.
//
// Who has a place keeps it for as long as it is here; others coming and going move nobody. A newcomer gets the place of
// the innermost ring with room that is farthest from those that are taken, by its key where several are. Only when so
// many have left that two rings would be empty, everybody is placed afresh.
//
// Threads: values and pure functions.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <QPointF>

namespace potluck::ui {

/// 224 places: more could not be told apart, nor pointed at.
inline constexpr int swarm_rings_max = 7;
[[nodiscard]] constexpr int placesIn(int rings) { return 4 * rings * (rings + 1); }
/// From 1 on.
[[nodiscard]] int ringOf(int place);

/// Who wants a place. Those of the lowest rank get one first, and innermost.
struct SwarmGuest {
    std::string_view key;
    int rank = 0;
};
/// Places by key.
using SwarmPlaces = std::map<std::string, int, std::less<>>;

/// `rings` from 1 to swarm_rings_max; who finds no place in them is not in the result. A key that comes twice counts
/// once.
[[nodiscard]] SwarmPlaces arrange(const SwarmPlaces& before, std::vector<SwarmGuest> guests, int rings);
/// The outermost ring that is used; 1 if nobody is there.
[[nodiscard]] int ringsOf(const SwarmPlaces& places);
/// In a circle of radius 1, the middle at (0, 0), the outermost of `rings` rings on its edge.
[[nodiscard]] QPointF pointOf(int place, int rings);

}  // namespace potluck::ui
