// Integers as doubles and back, as a cast does it, by operations that every instruction set has for vectors.
#pragma once

#include <bit>
#include <cstdint>

#include "core/numerics/cpu_dispatch.h"

namespace potluck::numerics {

/// Rounded once: an integer below 2^32 becomes the low bits of 2^52.
POTLUCK_INLINE double as_double(std::uint32_t x) {
    return std::bit_cast<double>(0x4330000000000000ULL | std::uint64_t{x}) - 0x1p52;
}
POTLUCK_INLINE double as_double(std::int64_t x) {
    const std::uint64_t bits = static_cast<std::uint64_t>(x);
    const std::uint64_t raised = (bits >> 32U) ^ 0x80000000ULL;  // the upper half plus 2^31, which is not negative
    const double upper = std::bit_cast<double>(0x4330000000000000ULL | raised) - (0x1p52 + 0x1p31);
    const double lower = std::bit_cast<double>(0x4330000000000000ULL | (bits & 0xffffffffULL)) - 0x1p52;
    return upper * 0x1p32 + lower;  // both terms are exact; the sum rounds
}

/// The integer nearest to `x`, whose magnitude is below 2^31; ties to even.
POTLUCK_INLINE std::int32_t nearest(double x) {
    constexpr double magic = 0x1.8p52;
    return static_cast<std::int32_t>(std::bit_cast<std::int64_t>(x + magic) - std::bit_cast<std::int64_t>(magic));
}

}  // namespace potluck::numerics
