// What F decides about a whole list before it touches a coordinate: how far each payload is clipped, one power-of-two
// scale, and the weights. A pure function of the set of (payload, weight).
#pragma once

#include <array>
#include <vector>

#include "core/numerics/outer/outer_step.h"

namespace potluck::numerics {

struct StepPlan {
    struct Share {
        const PayloadView* payload = nullptr;
        double factor = 1;         // clips the norm to the lower median of the list's norms
        std::uint32_t weight = 0;  // the sum over the list is below 2^32
    };
    std::vector<Share> shares;
    int exponent = 0;        // values enter the sums as integers, multiplied by 2^exponent; at most 2^30 then
    double divisor_min = 0;  // total weight / A
    double unscale = 0;      // 2^-exponent

    /// What an entry of each code adds to its coordinate's sum: round(mean * factor * 2^exponent) * weight. Its
    /// magnitude is at most 2^30 * weight, so that sums over the list stay below 2^62.
    [[nodiscard]] std::array<std::int64_t, 4> addends(const Share& share, std::span<const float, 4> means) const;
};

/// `list` is not empty; rounding is exact (RoundingGuard).
[[nodiscard]] StepPlan plan_step(std::span<const WeightedPayload> list, OuterStep step);

/// theta[r+1] of one coordinate from its sums. The order of operations is the definition of F.
[[nodiscard]] inline float stepped(float theta, double sum, double weight, const StepPlan& plan, float alpha) {
    const double divisor = weight > plan.divisor_min ? weight : plan.divisor_min;
    const auto mean = static_cast<float>((sum / divisor) * plan.unscale);
    return theta - alpha * mean;
}

}  // namespace potluck::numerics
