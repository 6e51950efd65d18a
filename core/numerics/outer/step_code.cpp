// One group of 64 chunks per thread at a time. A chunk's means are the sweep of F (group_sums.h: a step from zero
// with alpha -1), the codec's selection the places of the largest, and each block of 256 its scale and its values.
// Values are rounded by adding and subtracting 1.5 * 2^23, which every instruction set does alike and for vectors.
//
// Source: docs/payload-format.md.
#include "core/numerics/outer/step_code.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>

#include "core/numerics/codec/gap_code.h"
#include "core/numerics/codec/select.h"
#include "core/numerics/outer/centered_clip.h"
#include "core/numerics/outer/group_sums.h"
#include "core/numerics/outer/step_layout.h"
#include "core/numerics/parallel.h"
#include "core/numerics/require.h"

namespace potluck::numerics {

namespace {

using layout::GroupShape;

constexpr std::array<float, chunk_size> zeros{};

/// The integer nearest to `value`, whose magnitude is below 2^22; ties to even.
POTLUCK_INLINE std::int32_t rounded(float value) {
    constexpr float magic = 0x1.8p23F;
    return std::bit_cast<std::int32_t>(value + magic) - std::bit_cast<std::int32_t>(magic);
}

/// Encodes one group after the other; each thread has its own.
class StepEncoder {
public:
    StepEncoder(Isa isa, const StepPlan& plan, std::uint64_t size, std::uint32_t kept)
        : m_sums(isa, plan),
          m_select(select_for(isa)),
          m_scratch(std::make_unique<SelectScratch>()),
          m_size(size),
          m_kept(kept),
          m_means(chunk_size),
          m_places(chunk_size) {}

    [[nodiscard]] std::vector<std::byte> encode(std::uint64_t group) {
        const GroupShape shape = layout::shape_of(group, m_size, m_kept);
        m_sums.open(static_cast<std::size_t>(group));
        m_scales.clear();
        m_values.clear();
        m_gaps.clear();
        for (std::size_t at = 0; at < shape.length; at += chunk_size) {
            add_chunk(std::min(chunk_size, shape.length - at));
        }
        return write(shape);
    }

private:
    void add_chunk(std::size_t length) {
        m_sums.add_chunk(length);
        m_sums.sweep(zeros.data(), m_means.data(), length, -1.0F);
        const std::size_t kept = layout::kept(length, m_kept);
        m_select(std::span(m_means).first(length), kept, m_places.data(), *m_scratch);
        std::uint32_t next = 0;
        for (std::size_t i = 0; i < kept; ++i) {
            m_gaps.push_back(static_cast<std::uint16_t>(m_places[i] - next));
            next = m_places[i] + 1U;
        }
        for (std::size_t first = 0; first < kept; first += step_layout::block_size) {
            add_block(std::span(m_places).subspan(first, std::min(step_layout::block_size, kept - first)));
        }
    }

    void add_block(std::span<const std::uint16_t> places) {
        float largest = 0;
        for (const std::uint16_t place : places) largest = std::max(largest, std::fabs(m_means[place]));
        const int scale = step_layout::scale_of(largest);
        const float unscale = std::ldexp(1.0F, -scale);
        m_scales.push_back(static_cast<std::int8_t>(scale));
        for (const std::uint16_t place : places) {
            m_values.push_back(static_cast<std::uint8_t>(rounded(m_means[place] * unscale) & 15));
        }
    }

    [[nodiscard]] std::vector<std::byte> write(const GroupShape& shape) {
        constexpr std::size_t gap_bytes_max = 4;  // a gap has 28 bits at most
        const bool has_gaps = m_kept < chunk_size;
        const std::size_t fixed = step_layout::fixed_size(shape, m_kept);
        std::vector<std::byte> bytes(fixed + (has_gaps ? shape.entries * gap_bytes_max + 8 : 0));
        std::memcpy(&bytes[1], m_scales.data(), m_scales.size());
        std::byte* const values = &bytes[1 + m_scales.size()];
        m_values.push_back(0);  // half a byte may be left
        for (std::size_t i = 0; i < shape.entries; i += 2) {
            values[i / 2] = static_cast<std::byte>(m_values[i] | (m_values[i + 1] << 4U));
        }
        if (!has_gaps) return bytes;
        const std::uint8_t code = gap_code::shortest(m_gaps);
        bytes[0] = static_cast<std::byte>(code);
        gap_code::Writer writer(bytes.data() + fixed);
        for (const std::uint16_t gap : m_gaps) writer.put(gap_code::word_of(gap, code));
        bytes.resize(static_cast<std::size_t>(writer.finish() - bytes.data()));
        return bytes;
    }

    GroupSums m_sums;
    Select m_select;
    std::unique_ptr<SelectScratch> m_scratch;
    std::uint64_t m_size;
    std::uint32_t m_kept;
    std::vector<float> m_means;
    std::vector<std::uint16_t> m_places;
    std::vector<std::int8_t> m_scales;
    std::vector<std::uint8_t> m_values;  // of 4 bits each
    std::vector<std::uint16_t> m_gaps;
};

/// What a 4-bit value stands for.
POTLUCK_INLINE int value_of(std::byte pair, std::size_t entry) {
    const unsigned bits = (std::to_integer<unsigned>(pair) >> (4 * (entry % 2))) & 15U;
    return static_cast<int>(bits ^ 8U) - 8;
}

/// Moves one group of `next`, which holds theta.
void apply_group(std::span<float> next, std::span<const std::byte> group, const GroupShape& shape, std::uint32_t kept,
                 float alpha) {
    const std::byte* const scales = group.data() + 1;
    const std::byte* const values = scales + step_layout::blocks_of(shape, kept);
    const auto code = std::to_integer<std::uint8_t>(group[0]);
    gap_code::Reader gaps(group.subspan(step_layout::fixed_size(shape, kept)));
    std::size_t entry = 0, block = 0;
    for (std::size_t at = 0; at < shape.length; at += chunk_size) {
        const std::size_t here = layout::kept(std::min(chunk_size, shape.length - at), kept);
        std::size_t place = at;
        for (std::size_t i = 0; i < here; ++i, ++entry, ++place) {
            if (i % step_layout::block_size == 0) ++block;
            if (kept < chunk_size) {
                gaps.refill();
                place += gaps.take(code).gap;
            }
            const int value = value_of(values[entry / 2], entry);
            if (value == 0) continue;
            const int scale = std::to_integer<std::int8_t>(scales[block - 1]);
            const float mean = std::ldexp(static_cast<float>(value), scale);
            next[place] = next[place] - alpha * mean;
        }
    }
}

}  // namespace

std::uint32_t kept_of_step(std::uint32_t k) {
    return std::clamp<std::uint32_t>(2 * std::min(k, sent_max), step_layout::kept_min, chunk_size);
}

std::vector<std::byte> encode_step_with(Isa isa, std::span<const WeightedPayload> list, std::uint64_t size,
                                        OuterStep step, unsigned threads) {
    require(!list.empty() && available(isa));
    std::uint32_t k = 0;
    for (const WeightedPayload& entry : list) {
        require(entry.payload->size() == size);
        k = std::max(k, entry.payload->k());
    }
    const std::uint32_t kept = kept_of_step(k);
    const RoundingGuard guard;
    StepPlan plan = plan_step(list, step);
    set_pulls(isa, plan, size, threads);
    const auto count = static_cast<std::size_t>(layout::group_count(size));
    std::vector<std::vector<std::byte>> groups(count);
    exact_parallel_for(count, threads, [&] {
        return [&groups, encoder = std::make_unique<StepEncoder>(isa, plan, size, kept)](std::size_t group) {
            groups[group] = encoder->encode(group);
        };
    });
    std::size_t total = layout::header_size + count * layout::table_entry_size;
    for (const auto& group : groups) total += group.size();
    std::vector<std::byte> bytes(layout::header_size + count * layout::table_entry_size);
    bytes.reserve(total);
    std::memcpy(bytes.data(), step_layout::magic, sizeof step_layout::magic);
    layout::store(&bytes[4], kept, 4);
    layout::store(&bytes[8], size, 8);
    for (std::size_t g = 0; g < count; ++g) {
        layout::store(&bytes[layout::header_size + g * layout::table_entry_size], groups[g].size(), 4);
        bytes.insert(bytes.end(), groups[g].begin(), groups[g].end());
    }
    return bytes;
}

std::vector<std::byte> encode_step(std::span<const WeightedPayload> list, std::uint64_t size, OuterStep step,
                                   unsigned threads) {
    return encode_step_with(isa_in_use(), list, size, step, threads);
}

void apply_step(std::span<const float> theta, std::span<float> next, const StepView& step, float alpha,
                unsigned threads) {
    require(theta.size() == next.size() && theta.size() == step.size());
    exact_parallel_for(step.group_count(), threads, [&] {
        return [&, alpha](std::size_t group) {
            const GroupShape shape = layout::shape_of(group, step.size(), step.kept());
            const std::span<float> to = next.subspan(static_cast<std::size_t>(shape.begin), shape.length);
            if (next.data() != theta.data()) {
                std::memcpy(to.data(), theta.data() + shape.begin, to.size_bytes());
            }
            apply_group(to, step.group(group), shape, step.kept(), alpha);
        };
    });
}

std::vector<std::byte> apply_coded_step_with(Isa isa, std::span<const float> theta, std::span<float> next,
                                             std::span<const WeightedPayload> list, OuterStep step, unsigned threads) {
    std::vector<std::byte> bytes = encode_step_with(isa, list, theta.size(), step, threads);
    StepView view;
    require(StepView::parse(bytes, theta.size(), view) == PayloadFault::none);
    apply_step(theta, next, view, step.alpha, threads);
    return bytes;
}

std::vector<std::byte> apply_coded_step(std::span<const float> theta, std::span<float> next,
                                        std::span<const WeightedPayload> list, OuterStep step, unsigned threads) {
    return apply_coded_step_with(isa_in_use(), theta, next, list, step, threads);
}

std::uint64_t step_bytes_max(std::uint64_t size, std::uint32_t kept) {
    require(kept >= 1 && kept <= sent_max);
    // A payload's gaps, with four bits instead of two for each value and a scale for each block.
    const std::uint64_t chunks = size / chunk_size + (size % chunk_size != 0);
    return payload_bytes_max(size, kept) + chunks * (step_layout::blocks_of(kept) + (2 * std::uint64_t{kept} + 7) / 8);
}

}  // namespace potluck::numerics
