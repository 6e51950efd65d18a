// The sweep is plain C++ compiled once per instruction set; its conversions use only operations that vectors have
// everywhere and that round as a cast does.
//
// Source: docs/payload-format.md for the entries; outer_step.h for the four steps.
#include "core/numerics/outer/group_sums.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/numerics/codec/payload_layout.h"

namespace potluck::numerics {

namespace {

/// Integers as doubles, rounded once, as a cast does, by operations that every instruction set has for vectors: an
/// integer below 2^32 becomes the low bits of 2^52.
POTLUCK_INLINE double as_double(std::uint32_t x) {
    return std::bit_cast<double>(0x4330000000000000ULL | std::uint64_t{x}) - 0x1p52;
}
POTLUCK_INLINE double as_double(std::int64_t x) {
    const std::uint64_t bits = static_cast<std::uint64_t>(x);
    const std::uint64_t raised = (bits >> 32U) ^ 0x80000000ULL;  // the upper half plus 2^31, which is not negative
    const double upper = std::bit_cast<double>(0x4330000000000000ULL | raised) - (0x1p52 + 0x1p31);
    const double lower = std::bit_cast<double>(0x4330000000000000ULL | (bits & 0xffffffffULL)) - 0x1p52;
    return upper * 0x1p32 + lower;  // both terms are exact; the sum rounds
}

/// `next` may be `theta`: each coordinate is read before it is written, and vectors keep that order.
POTLUCK_INLINE void sweep_body(const float* theta, float* next, ChunkSums& sums, std::size_t length,
                               const StepPlan& plan, float alpha) {
    constexpr std::size_t block = 64;
    std::int64_t* POTLUCK_RESTRICT value = sums.value.data();
    std::uint32_t* POTLUCK_RESTRICT weight = sums.weight.data();
    const StepPlan local{.shares = {}, .exponent = 0, .divisor_min = plan.divisor_min, .unscale = plan.unscale};
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
    m_streams.reserve(plan.shares.size());
}

void GroupSums::open(std::size_t group) {
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
