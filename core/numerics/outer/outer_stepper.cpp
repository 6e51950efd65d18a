// F, one group of 64 chunks per thread at a time. For each chunk all payloads are scattered into 48 KiB of sums, then
// one sweep divides, applies alpha and clears the sums:
//
//   for each payload:  value[place] += addend of the entry's code;  weight[place] += the payload's weight
//   sweep:             next = theta - alpha * (value / max(weight, total / A) * unscale)
//
// Sums are integers, so they do not depend on the order of the list or on the threads, and the plan keeps them below
// 2^62 (outer_step_plan.h). The sweep is plain C++ compiled once per instruction set; its conversions use only
// operations that vectors have everywhere and that round as a cast does. `next` may be `theta`.
//
// Source: docs/payload-format.md for the entries; outer_step.h for the four steps.
#include "core/numerics/outer/outer_stepper.h"

#include <bit>
#include <cstring>
#include <memory>

#include "core/numerics/codec/group_cursor.h"
#include "core/numerics/codec/payload_layout.h"
#include "core/numerics/outer/outer_step_plan.h"
#include "core/numerics/parallel.h"
#include "core/numerics/require.h"

namespace potluck::numerics {

namespace {

/// The sums of one chunk's coordinates. The list's payloads are scattered into them, then one sweep divides and
/// clears. 48 KiB stay in the processor's nearest caches, whatever the length of the list.
struct Sums {
    alignas(64) std::array<std::int64_t, chunk_size> value{};
    alignas(64) std::array<std::uint32_t, chunk_size> weight{};
};

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

using Sweep = void (*)(const float* theta, float* next, Sums& sums, std::size_t length, const StepPlan& plan,
                       float alpha);

/// `next` may be `theta`: each coordinate is read before it is written, and vectors keep that order.
POTLUCK_INLINE void sweep_body(const float* theta, float* next, Sums& sums, std::size_t length, const StepPlan& plan,
                               float alpha) {
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

void sweep_baseline(const float* theta, float* next, Sums& sums, std::size_t length, const StepPlan& plan,
                    float alpha) {
    sweep_body(theta, next, sums, length, plan, alpha);
}

#if POTLUCK_X86_ISAS
POTLUCK_AVX2 void sweep_avx2(const float* theta, float* next, Sums& sums, std::size_t length, const StepPlan& plan,
                             float alpha) {
    sweep_body(theta, next, sums, length, plan, alpha);
}
POTLUCK_AVX512 void sweep_avx512(const float* theta, float* next, Sums& sums, std::size_t length, const StepPlan& plan,
                                 float alpha) {
    sweep_body(theta, next, sums, length, plan, alpha);
}
#endif

Sweep sweep_for(Isa isa) {
#if POTLUCK_X86_ISAS
    if (isa == Isa::avx512) return sweep_avx512;
    if (isa == Isa::avx2) return sweep_avx2;
#endif
    static_cast<void>(isa);
    return sweep_baseline;
}

/// One thread's share of F.
class GroupStepper {
public:
    GroupStepper(Isa isa, const StepPlan& plan, std::span<const float> theta, std::span<float> next, float alpha)
        : m_sweep(sweep_for(isa)),
          m_plan(plan),
          m_theta(theta),
          m_next(next),
          m_alpha(alpha),
          m_sums(std::make_unique<Sums>()) {
        m_streams.reserve(plan.shares.size());
    }

    void operator()(std::size_t group) {
        open_streams(group);
        const std::size_t begin = group * group_size;
        const std::size_t end = std::min(begin + group_size, m_theta.size());
        for (std::size_t at = begin; at < end; at += chunk_size) {
            const std::size_t length = std::min(chunk_size, end - at);
            for (Stream& stream : m_streams) add_chunk(stream, layout::kept(length, stream.k));
            m_sweep(m_theta.data() + at, m_next.data() + at, *m_sums, length, m_plan, m_alpha);
        }
    }

private:
    /// One payload's entries of the group at hand.
    struct Stream {
        GroupCursor cursor;
        std::array<std::int64_t, 4> addends{};
        std::uint32_t weight = 0;
        std::uint32_t k = 0;
    };

    void open_streams(std::size_t group) {
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

    void add_chunk(Stream& stream, std::size_t entries) {
        std::int64_t* POTLUCK_RESTRICT value = m_sums->value.data();
        std::uint32_t* POTLUCK_RESTRICT weight = m_sums->weight.data();
        const std::array<std::int64_t, 4> addends = stream.addends;
        const std::uint32_t own_weight = stream.weight;
        stream.cursor.walk_chunk(entries, [&](std::uint32_t place, unsigned code) {
            value[place] += addends[code];
            weight[place] += own_weight;
        });
    }

    Sweep m_sweep;
    const StepPlan& m_plan;
    std::span<const float> m_theta;
    std::span<float> m_next;
    float m_alpha;
    std::unique_ptr<Sums> m_sums;
    std::vector<Stream> m_streams;
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
    const RoundingGuard guard;
    const StepPlan plan = plan_step(list, step);
    const auto groups = static_cast<std::size_t>(layout::group_count(theta.size()));
    exact_parallel_for(groups, threads, [&] { return GroupStepper(isa, plan, theta, next, step.alpha); });
}

void apply_outer_step(std::span<const float> theta, std::span<float> next, std::span<const WeightedPayload> list,
                      OuterStep step, unsigned threads) {
    apply_outer_step_with(isa_in_use(), theta, next, list, step, threads);
}

}  // namespace potluck::numerics
