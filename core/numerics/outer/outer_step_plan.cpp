#include "core/numerics/outer/outer_step_plan.h"

#include <algorithm>
#include <cmath>

#include "core/numerics/require.h"
#include "core/numerics/rounding.h"

namespace potluck::numerics {

namespace {

constexpr int value_bits = 30;
constexpr std::uint64_t total_weight_limit = 1ULL << 32U;

std::vector<double> norms_of(std::span<const WeightedPayload> list, bool newcomers) {
    std::vector<double> norms;
    norms.reserve(list.size());
    for (const WeightedPayload& entry : list) {
        const bool counts = entry.newcomer == newcomers && !entry.repeated;
        if (counts && entry.payload->norm() > 0) norms.push_back(entry.payload->norm());
    }
    return norms;
}

/// 0 of nothing.
double lower_median(std::vector<double> norms) {
    if (norms.empty()) return 0;
    const auto middle = norms.begin() + static_cast<std::ptrdiff_t>((norms.size() - 1) / 2);
    std::nth_element(norms.begin(), middle, norms.end());
    return *middle;
}

/// What norms are clipped to. An attacker needs half of the list to raise a median above an honest norm. Keys are free,
/// and payloads of zeros are too, so neither newcomers nor such payloads may lower it for the others; and where all are
/// newcomers their median may be the attacker's, so it has a limit of its own. 0 if there is nothing but zeros.
double norm_max(std::span<const WeightedPayload> list, const OuterStep& step) {
    if (const double median = median_norm(list); median > 0) return median;
    const double median = lower_median(norms_of(list, true));
    return step.newcomers_norm > 0 ? std::min(median, step.newcomers_norm) : median;
}

std::uint64_t halved(std::uint64_t weight, unsigned times) { return std::max<std::uint64_t>(weight >> times, 1); }

/// How often all weights are halved (never below 1) until their sum is below 2^32.
unsigned halvings(std::span<const WeightedPayload> list) {
    for (unsigned times = 0; times < 64; ++times) {
        std::uint64_t total = 0;
        for (const WeightedPayload& entry : list) {
            // Saturates far below overflow: each term is cut to the limit, and there are at most 4,096.
            total += std::min(halved(entry.weight, times), total_weight_limit);
        }
        if (total < total_weight_limit) return times;
    }
    return 63;
}

}  // namespace

double median_norm(std::span<const WeightedPayload> list) { return lower_median(norms_of(list, false)); }

double norm_of(double rms, std::size_t size) {
    const RoundingGuard guard;
    return rms * std::sqrt(static_cast<double>(size));
}

std::array<std::int64_t, 4> StepPlan::addends(const Share& share, std::span<const float, 4> means) const {
    std::array<std::int64_t, 4> out{};
    for (std::size_t c = 0; c < 4; ++c) {
        const double value = std::ldexp(static_cast<double>(means[c]) * share.factor, exponent);
        // A mean that no entry uses may lie outside the scale; nothing is ever added for it.
        if (std::fabs(value) > 0x1p30) continue;
        out[c] = static_cast<std::int64_t>(std::llrint(value)) * static_cast<std::int64_t>(share.weight);
    }
    return out;
}

StepPlan plan_step(std::span<const WeightedPayload> list, OuterStep step) {
    require(!list.empty() && list.size() <= contributions_max && step.amplification >= 1);
    const double most = norm_max(list, step);
    const unsigned times = halvings(list);
    StepPlan plan;
    double largest = 0;
    std::uint64_t total = 0;
    for (const WeightedPayload& entry : list) {
        require(entry.weight >= 1);
        const double norm = entry.payload->norm();
        const double factor = norm > most ? most / norm : 1.0;
        const auto weight = static_cast<std::uint32_t>(halved(entry.weight, times));
        plan.shares.push_back({.payload = entry.payload, .factor = factor, .weight = weight});
        largest = std::max(largest, entry.payload->largest() * factor);
        total += weight;
    }
    int binary_exponent = 0;  // largest < 2^binary_exponent
    static_cast<void>(std::frexp(largest, &binary_exponent));
    plan.exponent = largest > 0 ? value_bits - binary_exponent : 0;
    plan.unscale = std::ldexp(1.0, -plan.exponent);
    plan.divisor_min = static_cast<double>(total) / static_cast<double>(step.amplification);
    return plan;
}

}  // namespace potluck::numerics
