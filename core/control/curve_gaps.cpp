#include "core/control/curve_gaps.h"

#include <algorithm>

namespace potluck::control {

std::vector<std::size_t> curve_breaks(std::span<const std::uint64_t> rounds) {
    std::vector<std::size_t> breaks;
    const auto distance = [&](std::size_t end) { return rounds[end] - rounds[end - 1]; };
    for (std::size_t i = 1; i < rounds.size(); ++i) {
        std::uint64_t beside = UINT64_MAX;
        if (i > 1) beside = std::min(beside, distance(i - 1));
        if (i + 1 < rounds.size()) beside = std::min(beside, distance(i + 1));
        if (beside == UINT64_MAX) beside = 1;
        // Several points of one round are next to each other, and say nothing of the others' distance.
        if (distance(i) > gap_factor * std::max<std::uint64_t>(beside, 1)) breaks.push_back(i);
    }
    return breaks;
}

}  // namespace potluck::control
