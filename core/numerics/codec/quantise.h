// Two bits per sent entry: its sign, and whether its magnitude lies above the mean magnitude of the entries of that
// sign in the group. Each of the four buckets is replaced by its mean.
//
// Sums are doubles in eight lanes: entry j goes to lane j mod 8, lanes are added as ((0+1)+(2+3))+((4+5)+(6+7)). That
// order is part of the format, because the encoder's own rest depends on the means it sends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/numerics/cpu_dispatch.h"

namespace potluck::numerics {

inline constexpr std::size_t sum_lanes = 8;

/// `values` are finite, and zeros follow them up to a multiple of eight. Writes a code per value (and per padding
/// zero) to `codes`: 0 and 1 positive below and above the mean, 2 and 3 negative so. Returns the four means, as fp32
/// of at most 2^60 in magnitude; that of an empty bucket is zero.
using Quantise = std::array<float, 4> (*)(const float* values, std::size_t count, std::uint8_t* codes);

[[nodiscard]] Quantise quantise_for(Isa isa);

}  // namespace potluck::numerics
