// What F decides about a whole list before it touches a coordinate: how far each payload is clipped, one power-of-two
// scale, and the weights; with CenteredClip also how much of each weight counts in each iteration, which depends on the
// coordinates (centered_clip.h). A pure function of the set of (payload, weight).
#pragma once

#include <array>
#include <vector>

#include "core/numerics/outer/outer_step.h"

namespace potluck::numerics {

inline constexpr std::size_t clip_iterations = 3;
/// Payloads that have a say, for CenteredClip: of fewer, one odd payload is too much of the middle.
inline constexpr std::size_t clip_voters_min = 8;

/// A sum of products below 2^63 in magnitude, exact: high * 2^32 + low.
struct ProductSum {
    std::int64_t high = 0;
    std::uint64_t low = 0;

    /// Up to 2^31 times before carry().
    void add(std::int64_t product) {
        high += product >> 32;
        low += static_cast<std::uint64_t>(product) & 0xffffffffU;
    }
    void add(const ProductSum& other) {
        high += other.high;
        low += other.low;
    }
    /// After it `low` is below 2^32.
    void carry() {
        high += static_cast<std::int64_t>(low >> 32U);
        low &= 0xffffffffU;
    }
    bool operator==(const ProductSum&) const = default;
};

struct StepPlan {
    struct Share {
        const PayloadView* payload = nullptr;
        double factor = 1;         // clips the norm to the lower median of the list's norms
        std::uint32_t weight = 0;  // the sum over the list is below 2^32
        bool has_say = false;      // in the median of norms, and in where CenteredClip's middle lies
        /// CenteredClip: how much of the weight counts in each iteration.
        std::array<std::uint32_t, clip_iterations> pull{};
    };
    std::vector<Share> shares;
    int exponent = 0;        // values enter the sums as integers, multiplied by 2^exponent; at most 2^30 then
    double divisor_min = 0;  // total weight / A
    double unscale = 0;      // 2^-exponent
    bool centred = false;    // CenteredClip; the total weight is at least 2^31 then
    std::uint32_t total = 0;
    /// CenteredClip: the weight that leaves the centre where it is, which is the total less all pulls.
    std::array<std::uint32_t, clip_iterations> rest{};

    /// What an entry of each code stands for: round(mean * factor * 2^exponent), at most 2^30 in magnitude.
    [[nodiscard]] std::array<std::int32_t, 4> values(const Share& share, std::span<const float, 4> means) const;
    /// What it adds to its coordinate's sum: its value times the share's weight, or the last pull if `centred`. Sums
    /// over the list, with `rest` times the centre, stay below 2^62.
    [[nodiscard]] std::array<std::int64_t, 4> addends(const Share& share, std::span<const float, 4> means) const;
    /// Sets the pulls of an iteration by each share's squared distance from the centre: the radius is the lower median
    /// of the distances of those that have a say.
    void set_pulls(std::size_t iteration, std::span<const ProductSum> squares);
};

/// `list` is not empty; rounding is exact (RoundingGuard). Of a plan that is `centred` all pulls are still to be set.
[[nodiscard]] StepPlan plan_step(std::span<const WeightedPayload> list, OuterStep step);

/// theta[r+1] of one coordinate from its sums. The order of operations is the definition of F.
[[nodiscard]] inline float stepped(float theta, double sum, double weight, const StepPlan& plan, float alpha) {
    const double divisor = weight > plan.divisor_min ? weight : plan.divisor_min;
    const auto mean = static_cast<float>((sum / divisor) * plan.unscale);
    return theta - alpha * mean;
}

}  // namespace potluck::numerics
