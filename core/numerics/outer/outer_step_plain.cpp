#include <algorithm>
#include <array>
#include <vector>

#include "core/numerics/codec/payload_layout.h"
#include "core/numerics/outer/centered_clip.h"
#include "core/numerics/outer/outer_step.h"
#include "core/numerics/outer/outer_step_plan.h"
#include "core/numerics/outer/step_code.h"
#include "core/numerics/require.h"
#include "core/numerics/rounding.h"

namespace potluck::numerics {

namespace {

/// One payload's entries of a group, taken in order of their places.
struct Stream {
    std::vector<std::uint32_t> indices;
    std::vector<std::uint8_t> codes;
    std::array<std::int64_t, 4> addends{};
    std::uint32_t weight = 0;
    std::size_t count = 0;
    std::size_t at = 0;
};

Stream open_stream(const StepPlan& plan, const StepPlan::Share& share, std::size_t group) {
    Stream stream;
    stream.indices.resize(chunks_per_group * share.payload->k());
    stream.codes.resize(stream.indices.size());
    std::array<float, 4> means{};
    stream.count = share.payload->decode_group(group, stream.indices, stream.codes, means);
    stream.addends = plan.addends(share, means);
    stream.weight = share.weight;
    return stream;
}

}  // namespace

void apply_outer_step_plain(std::span<const float> theta, std::span<float> next, std::span<const WeightedPayload> list,
                            OuterStep step) {
    const RoundingGuard guard;
    require(theta.size() == next.size());
    if (list.empty()) {
        for (std::size_t i = 0; i < theta.size(); ++i) next[i] = theta[i];
        return;
    }
    if (step.form == StepForm::coded) {
        const std::vector<std::byte> bytes = encode_step_plain(list, theta.size(), step);
        StepView view;
        require(StepView::parse(bytes, theta.size(), view) == PayloadFault::none);
        return apply_step(theta, next, view, step.alpha, 1);
    }
    StepPlan plan = plan_step(list, step);
    std::vector<std::int32_t> centre(theta.size());
    if (plan.centred) centre = set_pulls_plain(plan, theta.size());
    for (std::size_t group = 0; group < layout::group_count(theta.size()); ++group) {
        std::vector<Stream> streams;
        for (const StepPlan::Share& share : plan.shares) streams.push_back(open_stream(plan, share, group));
        const std::size_t begin = group * group_size;
        for (std::size_t i = begin; i < std::min(begin + group_size, theta.size()); ++i) {
            std::int64_t sum = std::int64_t{plan.rest.back()} * centre[i];
            std::uint64_t weight = 0;
            for (Stream& stream : streams) {
                if (stream.at == stream.count || begin + stream.indices[stream.at] != i) continue;
                sum += stream.addends[stream.codes[stream.at++]];
                weight += stream.weight;
            }
            next[i] = stepped(theta[i], static_cast<double>(sum), static_cast<double>(weight), plan, step.alpha);
        }
    }
}

}  // namespace potluck::numerics
