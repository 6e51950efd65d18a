#include "core/numerics/optimizer/dynamic_map.h"

#include <algorithm>

namespace potluck::numerics {

namespace {

/// How many of the limits `y` is strictly above: eight comparisons at most.
template <std::size_t Count>
std::uint32_t limits_below(const float (&limits)[Count], float y) {
    std::uint32_t low = 0, high = Count;
    while (low < high) {
        const std::uint32_t middle = (low + high) / 2;
        if (y > limits[middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

}  // namespace

std::uint8_t plain_mean_code(float y) {
    const bool negative = y < 0.0F;
    const std::uint32_t magnitude = limits_below(mean_limits, negative ? -y : y);
    if (!negative) return static_cast<std::uint8_t>(mean_zero_code + magnitude);
    return static_cast<std::uint8_t>(mean_zero_code - std::min(magnitude, mean_most_negative));
}

std::uint8_t plain_variance_code(float y) { return static_cast<std::uint8_t>(limits_below(variance_limits, y)); }

}  // namespace potluck::numerics
