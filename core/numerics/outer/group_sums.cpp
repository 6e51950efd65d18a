// The sweep is plain C++ compiled once per instruction set; its conversions use only operations that vectors have
// everywhere and that round as a cast does.
//
// Source: docs/payload-format.md for the entries; outer_step.h for the four steps.
#include "core/numerics/outer/group_sums.h"

#include <algorithm>
#include <cstring>

#include "core/numerics/codec/payload_layout.h"
#include "core/numerics/outer/centered_clip.h"
#include "core/numerics/outer/exact_double.h"

namespace potluck::numerics {

namespace {

/// `next` may be `theta`: each coordinate is read before it is written, and vectors keep that order.
POTLUCK_INLINE void sweep_body(const float* theta, float* next, ChunkSums& sums, std::size_t length,
                               const StepPlan& plan, float alpha) {
    constexpr std::size_t block = 64;
    std::int64_t* POTLUCK_RESTRICT value = sums.value.data();
    std::uint32_t* POTLUCK_RESTRICT weight = sums.weight.data();
    StepPlan local;  // without the list, for the loop's registers
    local.divisor_min = plan.divisor_min;
    local.unscale = plan.unscale;
    for (std::size_t at = 0; at < length; at += block) {
        const std::size_t here = std::min(block, length - at);
        float before[block] = {};
        float after[block];
        std::memcpy(before, theta + at, here * sizeof(float));
        for (std::size_t i = 0; i < block; ++i) {
            after[i] = stepped(before[i], as_double(value[at + i]), as_double(weight[at + i]), local, alpha);
            value[at + i] = 0;
            weight[at + i] = 0;
        }
        std::memcpy(next + at, after, here * sizeof(float));
    }
}

void sweep_baseline(const float* theta, float* next, ChunkSums& sums, std::size_t length, const StepPlan& plan,
                    float alpha) {
    sweep_body(theta, next, sums, length, plan, alpha);
}

#if POTLUCK_X86_ISAS
POTLUCK_AVX2 void sweep_avx2(const float* theta, float* next, ChunkSums& sums, std::size_t length, const StepPlan& plan,
                             float alpha) {
    sweep_body(theta, next, sums, length, plan, alpha);
}
POTLUCK_AVX512 void sweep_avx512(const float* theta, float* next, ChunkSums& sums, std::size_t length,
                                 const StepPlan& plan, float alpha) {
    sweep_body(theta, next, sums, length, plan, alpha);
}
#endif

}  // namespace

GroupSums::Sweep GroupSums::sweep_for(Isa isa) {
#if POTLUCK_X86_ISAS
    if (isa == Isa::avx512) return sweep_avx512;
    if (isa == Isa::avx2) return sweep_avx2;
#endif
    static_cast<void>(isa);
    return sweep_baseline;
}

GroupSums::GroupSums(Isa isa, const StepPlan& plan)
    : m_sweep(sweep_for(isa)), m_plan(plan), m_sums(std::make_unique<ChunkSums>()) {
    if (plan.centred) m_centre = std::make_unique<ChunkCentre>(isa, plan);
    m_streams.reserve(plan.shares.size());
}

GroupSums::GroupSums(GroupSums&&) noexcept = default;
GroupSums::~GroupSums() = default;

void GroupSums::open(std::size_t group) {
    if (m_centre) m_centre->open(group);
    m_streams.clear();
    for (const StepPlan::Share& share : m_plan.shares) {
        const std::span<const std::byte> from = share.payload->group_from(group);
        const layout::GroupShape shape = layout::shape_of(group, share.payload->size(), share.payload->k());
        std::array<float, 4> means{};
        for (std::size_t c = 0; c < 4; ++c) means[c] = layout::load_mean(from.data(), c);
        m_streams.push_back({.cursor = GroupCursor(from, shape),
                             .addends = m_plan.addends(share, means),
                             .weight = share.weight,
                             .k = share.payload->k()});
    }
}

void GroupSums::add_chunk(std::size_t length) {
    if (m_centre) m_centre->add_rest(length, m_sums->value);
    std::int64_t* POTLUCK_RESTRICT value = m_sums->value.data();
    std::uint32_t* POTLUCK_RESTRICT weight = m_sums->weight.data();
    for (Stream& stream : m_streams) {
        const std::array<std::int64_t, 4> addends = stream.addends;
        const std::uint32_t own_weight = stream.weight;
        stream.cursor.walk_chunk(layout::kept(length, stream.k), [&](std::uint32_t place, unsigned code) {
            value[place] += addends[code];
            weight[place] += own_weight;
        });
    }
}

}  // namespace potluck::numerics
