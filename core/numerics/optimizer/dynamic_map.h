// The two dynamic-tree maps of 8-bit moments (Dettmers et al. 2022), 256 values each: a signed one for the mean and an
// unsigned one for the variance. Seven decades 10^-6 .. 1, each cut into twice as many cells as the one below (1 to 64
// for the mean and its mirror image, 2 to 128 for the variance), a cell's value in its middle; and zero and one. There
// is no -1. The values are constants, because their usual recipe rounds differently from computer to computer.
//
// The code of a magnitude y in [0, 1] is that of the nearest value: the count of limits that y is strictly above. A
// limit is the middle between two neighbours to within 4 parts in a million: it is where a straight line per decade
// (a comparison, a multiplication, an addition, a conversion) turns, so that no search is needed, on any instruction
// set. Both ways are here; they give the same code for every float.
//
// Sign and magnitude of a mean are coded apart, so a code never has the wrong sign and needs no correction of it. The
// first limit of a variance is zero: whatever is above zero gets code 1 at least, because a mean that is kept beside a
// variance that is lost would be divided by epsilon alone.
//
// Does not: know blocks and scales (optimizer.h).
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>

namespace potluck::numerics {

inline constexpr std::uint8_t mean_zero_code = 127;
inline constexpr std::uint32_t mean_most_negative = 127;  // magnitudes above have no negative

#define POTLUCK_MAP(name, count) inline constexpr float name[count]
#include "core/numerics/optimizer/dynamic_map_values.inl"
#undef POTLUCK_MAP

inline constexpr std::size_t map_segments = 9;

/// The code of `y` in [-1, 1], found by bisection among the limits: the reference.
[[nodiscard]] std::uint8_t plain_mean_code(float y);
/// The code of `y` in [0, 1], likewise.
[[nodiscard]] std::uint8_t plain_variance_code(float y);

}  // namespace potluck::numerics
