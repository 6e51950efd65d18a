// Ranges of the numbers on the line protocols, and what becomes of a number that JSON cannot carry.
#pragma once

#include <cmath>
#include <cstdint>

namespace potluck::control {

inline constexpr std::uint64_t integer_max = 1ULL << 62U;
inline constexpr double number_max = 1e18;

/// JSON has no NaN and no infinity; a reader shows 0, which the protocols define as "none".
[[nodiscard]] inline double finite_or_zero(double value) { return std::isfinite(value) ? value : 0.0; }

}  // namespace potluck::control
