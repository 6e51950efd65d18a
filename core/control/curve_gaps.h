// Where a curve has gaps: a member that came late, or was away, knows nothing of some rounds, and a line over them
// would be invented. The window's chart and the public page draw by it.
//
// Does not: know how often anybody measures. A distance is a gap by the distances beside it, so that points of every
// round and points of every hundredth are curves alike.
//
// Threads: a pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace potluck::control {

/// A distance of so many times the smaller one beside it is a gap. A list that is thinned by halves has steps of two, a
/// round without a loss makes one, too, and both together make no more than three.
inline constexpr std::uint64_t gap_factor = 3;

/// Indices of `rounds`, which rise, at which a new stretch of the curve begins; 0 is none of them. Two points that
/// stand alone are one stretch if they lie within `gap_factor` rounds.
[[nodiscard]] std::vector<std::size_t> curve_breaks(std::span<const std::uint64_t> rounds);

}  // namespace potluck::control
