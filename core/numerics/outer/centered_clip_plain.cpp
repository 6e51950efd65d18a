// CenteredClip as docs/payload-format.md describes it, as directly as it can be written: every payload as a vector of
// the model's length, values sorted, one coordinate after the other.
#include <algorithm>
#include <cmath>

#include "core/numerics/codec/payload_layout.h"
#include "core/numerics/outer/centered_clip.h"

namespace potluck::numerics {

namespace {

std::vector<std::int32_t> dense(const StepPlan& plan, const StepPlan::Share& share) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(share.payload->size()));
    std::vector<std::uint32_t> indices(chunks_per_group * share.payload->k());
    std::vector<std::uint8_t> codes(indices.size());
    for (std::size_t group = 0; group < share.payload->group_count(); ++group) {
        std::array<float, 4> means{};
        const std::size_t count = share.payload->decode_group(group, indices, codes, means);
        const std::array<std::int32_t, 4> values = plan.values(share, means);
        for (std::size_t i = 0; i < count; ++i) all[group * group_size + indices[i]] = values[codes[i]];
    }
    return all;
}

/// The middle one, of an even number the one nearer zero.
std::int32_t middle(std::vector<std::int32_t> values) {
    std::ranges::sort(values);
    const std::int32_t lower = values[(values.size() - 1) / 2], upper = values[values.size() / 2];
    return lower > 0 ? lower : upper < 0 ? upper : 0;
}

}  // namespace

std::vector<std::int32_t> set_pulls_plain(StepPlan& plan, std::uint64_t size) {
    std::vector<std::vector<std::int32_t>> x;
    for (const StepPlan::Share& share : plan.shares) x.push_back(dense(plan, share));
    std::vector<std::int32_t> centre;
    for (std::size_t j = 0; j < size; ++j) {
        std::vector<std::int32_t> with_say;
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (plan.shares[i].has_say) with_say.push_back(x[i][j]);
        }
        centre.push_back(middle(std::move(with_say)));
    }
    for (std::size_t iteration = 0;; ++iteration) {
        std::vector<ProductSum> squares(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) {
            for (std::size_t j = 0; j < size; ++j) {
                const std::int64_t difference = std::int64_t{x[i][j]} - centre[j];
                squares[i].add(difference * difference);
                squares[i].carry();
            }
        }
        plan.set_pulls(iteration, squares);
        if (iteration + 1 == clip_iterations) return centre;
        for (std::size_t j = 0; j < size; ++j) {
            std::int64_t sum = std::int64_t{plan.rest[iteration]} * centre[j];
            for (std::size_t i = 0; i < x.size(); ++i) {
                sum += std::int64_t{plan.shares[i].pull[iteration]} * x[i][j];
            }
            const double quotient = static_cast<double>(sum) / static_cast<double>(plan.total);
            centre[j] = static_cast<std::int32_t>(std::lrint(quotient));
        }
    }
}

}  // namespace potluck::numerics
