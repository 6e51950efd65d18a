#include "core/numerics/outer_stepper.h"

#include <cstring>

#include "core/numerics/outer_step_plan.h"
#include "core/numerics/parallel.h"
#include "core/numerics/payload_layout.h"
#include "core/numerics/require.h"

namespace potluck::numerics {

namespace {

/// The sums of one group's coordinates. The list's payloads are scattered into them, then one sweep divides and
/// clears. 12 bytes a coordinate: what fits a processor's cache sets the speed here.
struct Sums {
    std::vector<std::int64_t> value = std::vector<std::int64_t>(group_size);
    std::vector<std::uint32_t> weight = std::vector<std::uint32_t>(group_size);
};

using Sweep = void (*)(const float* theta, float* next, Sums& sums, std::size_t length, const StepPlan& plan,
                       float alpha);

/// `next` may be `theta`: each coordinate is read before it is written, and vectors keep that order.
POTLUCK_INLINE void sweep_body(const float* theta, float* next, Sums& sums, std::size_t length, const StepPlan& plan,
                               float alpha) {
    constexpr std::size_t block = 64;
    std::int64_t* POTLUCK_RESTRICT value = sums.value.data();
    std::uint32_t* POTLUCK_RESTRICT weight = sums.weight.data();
    const StepPlan local{.shares = {}, .exponent = 0, .least_divisor = plan.least_divisor, .unscale = plan.unscale};
    for (std::size_t at = 0; at < length; at += block) {
        const std::size_t here = std::min(block, length - at);
        float before[block] = {};
        float after[block];
        std::memcpy(before, theta + at, here * sizeof(float));
        for (std::size_t i = 0; i < block; ++i) {
            after[i] = stepped(before[i], static_cast<double>(value[at + i]), static_cast<double>(weight[at + i]), local,
                               alpha);
            value[at + i] = 0;
            weight[at + i] = 0;
        }
        std::memcpy(next + at, after, here * sizeof(float));
    }
}

void sweep_baseline(const float* theta, float* next, Sums& sums, std::size_t length, const StepPlan& plan,
                    float alpha) {
    sweep_body(theta, next, sums, length, plan, alpha);
}

#if POTLUCK_X86_PATHS
POTLUCK_AVX2 void sweep_avx2(const float* theta, float* next, Sums& sums, std::size_t length, const StepPlan& plan,
                             float alpha) {
    sweep_body(theta, next, sums, length, plan, alpha);
}
POTLUCK_AVX512 void sweep_avx512(const float* theta, float* next, Sums& sums, std::size_t length, const StepPlan& plan,
                                 float alpha) {
    sweep_body(theta, next, sums, length, plan, alpha);
}
#endif

Sweep sweep_for(Path path) {
#if POTLUCK_X86_PATHS
    if (path == Path::avx512) return sweep_avx512;
    if (path == Path::avx2) return sweep_avx2;
#endif
    static_cast<void>(path);
    return sweep_baseline;
}

/// One thread's share of F.
class GroupStepper {
public:
    GroupStepper(Path path, const StepPlan& plan, std::span<const float> theta, std::span<float> next, float alpha)
        : m_sweep(sweep_for(path)), m_plan(plan), m_theta(theta), m_next(next), m_alpha(alpha) {
        std::size_t most = 0;
        for (const StepPlan::Share& share : plan.shares) {
            most = std::max<std::size_t>(most, chunks_per_group * share.payload->k());
        }
        m_indices.resize(most);
        m_codes.resize(most);
    }

    void operator()(std::size_t group) {
        for (const StepPlan::Share& share : m_plan.shares) add(share, group);
        const std::size_t begin = group * group_size;
        const std::size_t length = std::min(group_size, m_theta.size() - begin);
        m_sweep(m_theta.data() + begin, m_next.data() + begin, m_sums, length, m_plan, m_alpha);
    }

private:
    void add(const StepPlan::Share& share, std::size_t group) {
        std::array<float, 4> means{};
        const std::size_t count = share.payload->decode_group(group, m_indices, m_codes, means);
        const std::array<std::int64_t, 4> addends = m_plan.addends(share, means);
        std::int64_t* POTLUCK_RESTRICT value = m_sums.value.data();
        std::uint32_t* POTLUCK_RESTRICT weight = m_sums.weight.data();
        for (std::size_t i = 0; i < count; ++i) {
            value[m_indices[i]] += addends[m_codes[i]];
            weight[m_indices[i]] += share.weight;
        }
    }

    Sweep m_sweep;
    const StepPlan& m_plan;
    std::span<const float> m_theta;
    std::span<float> m_next;
    float m_alpha;
    Sums m_sums;
    std::vector<std::uint32_t> m_indices;
    std::vector<std::uint8_t> m_codes;
};

}  // namespace

void apply_outer_step_with(Path path, std::span<const float> theta, std::span<float> next,
                           std::span<const WeightedPayload> list, OuterStep step, unsigned threads) {
    require(theta.size() == next.size() && available(path));
    for (const WeightedPayload& entry : list) require(entry.payload->size() == theta.size());
    if (list.empty()) {
        if (next.data() != theta.data() && !theta.empty()) std::memmove(next.data(), theta.data(), theta.size_bytes());
        return;
    }
    const RoundingGuard guard;
    const StepPlan plan = plan_step(list, step);
    const auto groups = static_cast<std::size_t>(layout::group_count(theta.size()));
    share_out(groups, threads, [&] { return GroupStepper(path, plan, theta, next, step.alpha); });
}

void apply_outer_step(std::span<const float> theta, std::span<float> next, std::span<const WeightedPayload> list,
                      OuterStep step, unsigned threads) {
    apply_outer_step_with(best_path(), theta, next, list, step, threads);
}

}  // namespace potluck::numerics
