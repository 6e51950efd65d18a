#include "core/numerics/outer/outer_step_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/numerics/require.h"
#include "core/numerics/rounding.h"

namespace potluck::numerics {

namespace {

constexpr int value_bits = 30;
constexpr std::uint64_t total_weight_limit = 1ULL << 32U;

bool counts(const WeightedPayload& entry, bool newcomers) {
    return entry.newcomer == newcomers && !entry.repeated && entry.payload->norm() > 0;
}

std::vector<double> norms_of(std::span<const WeightedPayload> list, bool newcomers) {
    std::vector<double> norms;
    norms.reserve(list.size());
    for (const WeightedPayload& entry : list) {
        if (counts(entry, newcomers)) norms.push_back(entry.payload->norm());
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

/// An attacker needs half of the list to raise a median above an honest norm. Keys are free, and payloads of zeros are
/// too, so neither newcomers nor such payloads may lower it for the others; and where all are newcomers their median
/// may be the attacker's, so it has a limit of its own.
double norm_max(std::span<const WeightedPayload> list, const OuterStep& step) {
    if (const double median = median_norm(list); median > 0) return median;
    const double median = lower_median(norms_of(list, true));
    return step.newcomers_norm > 0 ? std::min(median, step.newcomers_norm) : median;
}

double norm_of(double rms, std::size_t size) {
    const RoundingGuard guard;
    return rms * std::sqrt(static_cast<double>(size));
}

std::array<std::int32_t, 4> StepPlan::values(const Share& share, std::span<const float, 4> means) const {
    std::array<std::int32_t, 4> out{};
    for (std::size_t c = 0; c < 4; ++c) {
        const double value = std::ldexp(static_cast<double>(means[c]) * share.factor, exponent);
        // A mean that no entry uses may lie outside the scale; nothing is ever added for it.
        if (std::fabs(value) > 0x1p30) continue;
        out[c] = static_cast<std::int32_t>(std::lrint(value));
    }
    return out;
}

std::array<std::int64_t, 4> StepPlan::addends(const Share& share, std::span<const float, 4> means) const {
    const std::array<std::int32_t, 4> value = values(share, means);
    const std::int64_t weight = centred ? share.pull.back() : share.weight;
    return {value[0] * weight, value[1] * weight, value[2] * weight, value[3] * weight};
}

void StepPlan::set_pulls(std::size_t iteration, std::span<const ProductSum> squares) {
    require(squares.size() == shares.size());
    std::vector<double> distances, with_say;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const double square = static_cast<double>(squares[i].high) * 0x1p32 + static_cast<double>(squares[i].low);
        distances.push_back(std::sqrt(square));
        if (shares[i].has_say) with_say.push_back(distances.back());
    }
    const double radius = lower_median(std::move(with_say));
    std::uint64_t pulled = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const double part = distances[i] > radius ? radius / distances[i] * 0x1p30 : 0x1p30;
        const auto factor = static_cast<std::uint64_t>(std::llrint(part));
        shares[i].pull[iteration] = static_cast<std::uint32_t>((shares[i].weight * factor + (1U << 29U)) >> 30U);
        pulled += shares[i].pull[iteration];
    }
    rest[iteration] = static_cast<std::uint32_t>(total - pulled);
}

StepPlan plan_step(std::span<const WeightedPayload> list, OuterStep step) {
    require(!list.empty() && list.size() <= contributions_max && step.amplification >= 1);
    const double most = norm_max(list, step);
    const unsigned times = halvings(list);
    const bool newcomers_say = median_norm(list) == 0;
    StepPlan plan;
    double largest = 0;
    std::uint64_t total = 0;
    std::size_t voters = 0;
    for (const WeightedPayload& entry : list) {
        require(entry.weight >= 1);
        const double norm = entry.payload->norm();
        const double factor = norm > most ? most / norm : 1.0;
        const auto weight = static_cast<std::uint32_t>(halved(entry.weight, times));
        const bool has_say = counts(entry, newcomers_say);
        plan.shares.push_back({.payload = entry.payload, .factor = factor, .weight = weight, .has_say = has_say});
        voters += has_say ? 1 : 0;
        largest = std::max(largest, entry.payload->largest() * factor);
        total += weight;
    }
    int binary_exponent = 0;  // largest < 2^binary_exponent
    static_cast<void>(std::frexp(largest, &binary_exponent));
    plan.exponent = largest > 0 ? value_bits - binary_exponent : 0;
    plan.unscale = std::ldexp(1.0, -plan.exponent);
    plan.centred = step.robust == RobustRule::centered_clip && voters >= clip_voters_min;
    if (plan.centred) {
        // As large as they may be, so that a part of a small weight is still a whole number.
        const int doublings = std::countl_zero(static_cast<std::uint32_t>(total));
        for (StepPlan::Share& share : plan.shares) share.weight <<= doublings;
        total <<= doublings;
    }
    plan.total = static_cast<std::uint32_t>(total);
    plan.divisor_min = static_cast<double>(total) / static_cast<double>(step.amplification);
    return plan;
}

}  // namespace potluck::numerics
