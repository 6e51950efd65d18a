// F, one group of 64 chunks per thread at a time (group_sums.h). `next` may be `theta`.
#include "core/numerics/outer/outer_stepper.h"

#include <algorithm>
#include <cstring>

#include "core/numerics/codec/payload_layout.h"
#include "core/numerics/outer/centered_clip.h"
#include "core/numerics/outer/group_sums.h"
#include "core/numerics/outer/step_code.h"
#include "core/numerics/parallel.h"
#include "core/numerics/require.h"

namespace potluck::numerics {

namespace {

/// One thread's share of F.
class GroupStepper {
public:
    GroupStepper(Isa isa, const StepPlan& plan, std::span<const float> theta, std::span<float> next, float alpha)
        : m_sums(isa, plan), m_theta(theta), m_next(next), m_alpha(alpha) {}

    void operator()(std::size_t group) {
        m_sums.open(group);
        const std::size_t begin = group * group_size;
        const std::size_t end = std::min(begin + group_size, m_theta.size());
        for (std::size_t at = begin; at < end; at += chunk_size) {
            const std::size_t length = std::min(chunk_size, end - at);
            m_sums.add_chunk(length);
            m_sums.sweep(m_theta.data() + at, m_next.data() + at, length, m_alpha);
        }
    }

private:
    GroupSums m_sums;
    std::span<const float> m_theta;
    std::span<float> m_next;
    float m_alpha;
};

}  // namespace

void apply_outer_step_with(Isa isa, std::span<const float> theta, std::span<float> next,
                           std::span<const WeightedPayload> list, OuterStep step, unsigned threads) {
    require(theta.size() == next.size() && available(isa));
    for (const WeightedPayload& entry : list) require(entry.payload->size() == theta.size());
    if (list.empty()) {
        if (next.data() != theta.data() && !theta.empty()) std::memmove(next.data(), theta.data(), theta.size_bytes());
        return;
    }
    if (step.form == StepForm::coded) {
        (void)apply_coded_step_with(isa, theta, next, list, step, threads);
        return;
    }
    const RoundingGuard guard;
    StepPlan plan = plan_step(list, step);
    set_pulls(isa, plan, theta.size(), threads);
    const auto groups = static_cast<std::size_t>(layout::group_count(theta.size()));
    exact_parallel_for(groups, threads, [&] { return GroupStepper(isa, plan, theta, next, step.alpha); });
}

void apply_outer_step(std::span<const float> theta, std::span<float> next, std::span<const WeightedPayload> list,
                      OuterStep step, unsigned threads) {
    apply_outer_step_with(isa_in_use(), theta, next, list, step, threads);
}

}  // namespace potluck::numerics
