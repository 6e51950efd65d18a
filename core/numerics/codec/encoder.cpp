#include "core/numerics/codec/encoder.h"

#include <memory>

#include "core/numerics/codec/gap_code.h"
#include "core/numerics/codec/payload_layout.h"
#include "core/numerics/codec/quantise.h"
#include "core/numerics/codec/select.h"
#include "core/numerics/parallel.h"
#include "core/numerics/require.h"

namespace potluck::numerics {

namespace {

using layout::GroupShape;

/// Encodes one group after the other; each thread has its own.
class GroupEncoder {
public:
    GroupEncoder(Isa isa, std::span<float> error, std::uint32_t k)
        : m_select(select_for(isa)),
          m_quantise(quantise_for(isa)),
          m_error(error),
          m_k(k),
          m_select_scratch(std::make_unique<SelectScratch>()) {
        const std::size_t most = chunks_per_group * k + sum_lanes;
        m_places.resize(most);
        m_gaps.resize(most);
        m_values.resize(most);
        m_codes.resize(most);
    }

    [[nodiscard]] std::vector<std::byte> encode(std::uint64_t group) {
        const GroupShape shape = layout::shape_of(group, m_error.size(), m_k);
        gather(shape);
        const std::array<float, 4> means = m_quantise(m_values.data(), shape.entries, m_codes.data());
        keep_rest(shape, means);
        return write(shape, means);
    }

private:
    /// Selects in every chunk; fills values, gaps and places (relative to the chunk).
    void gather(const GroupShape& shape) {
        std::size_t entry = 0;
        for (std::size_t at = 0; at < shape.length; at += chunk_size) {
            const std::size_t length = std::min(chunk_size, shape.length - at);
            const std::span<float> chunk = m_error.subspan(shape.begin + at, length);
            const std::size_t kept = layout::kept(length, m_k);
            std::uint16_t* places = m_places.data() + entry;
            m_select(chunk, kept, places, *m_select_scratch);
            std::uint32_t next = 0;
            for (std::size_t i = 0; i < kept; ++i) {
                m_values[entry + i] = chunk[places[i]];
                m_gaps[entry + i] = static_cast<std::uint16_t>(places[i] - next);
                next = places[i] + 1U;
            }
            entry += kept;
        }
        std::fill_n(m_values.begin() + static_cast<std::ptrdiff_t>(entry), sum_lanes, 0.0F);
    }

    void keep_rest(const GroupShape& shape, const std::array<float, 4>& means) {
        std::size_t entry = 0;
        for (std::size_t at = 0; at < shape.length; at += chunk_size) {
            const std::size_t kept = layout::kept(std::min(chunk_size, shape.length - at), m_k);
            float* chunk = m_error.data() + shape.begin + at;
            for (const std::size_t end = entry + kept; entry < end; ++entry) {
                chunk[m_places[entry]] = m_values[entry] - means[m_codes[entry]];
            }
        }
    }

    [[nodiscard]] std::vector<std::byte> write(const GroupShape& shape, const std::array<float, 4>& means) const {
        constexpr std::size_t gap_bytes_max = 4;  // a gap has 28 bits at most
        const std::size_t fixed = layout::group_header_size + shape.codes_size();
        std::vector<std::byte> bytes(fixed + shape.entries * gap_bytes_max + 8);
        for (std::size_t c = 0; c < 4; ++c) layout::store(&bytes[4 * c], std::bit_cast<std::uint32_t>(means[c]), 4);
        const std::span<const std::uint16_t> gaps(m_gaps.data(), shape.entries);
        const std::uint8_t code = gap_code::shortest(gaps);
        bytes[16] = static_cast<std::byte>(code);
        std::byte* at = bytes.data() + layout::group_header_size;
        write_codes(at, shape.entries);
        gap_code::Writer writer(at + shape.codes_size());
        for (const std::uint16_t gap : gaps) writer.put(gap_code::word_of(gap, code));
        bytes.resize(static_cast<std::size_t>(writer.finish() - bytes.data()));
        return bytes;
    }

    void write_codes(std::byte* at, std::size_t entries) const {
        // The quantiser wrote zeros beyond the last entry, so the last byte needs no care.
        for (std::size_t i = 0; i < entries; i += 4, ++at) {
            const int four = m_codes[i] | (m_codes[i + 1] << 2U) | (m_codes[i + 2] << 4U) | (m_codes[i + 3] << 6U);
            *at = static_cast<std::byte>(four);
        }
    }

    Select m_select;
    Quantise m_quantise;
    std::span<float> m_error;
    std::uint32_t m_k;
    std::unique_ptr<SelectScratch> m_select_scratch;
    std::vector<std::uint16_t> m_places;
    std::vector<std::uint16_t> m_gaps;
    std::vector<float> m_values;
    std::vector<std::uint8_t> m_codes;
};

}  // namespace

std::vector<std::byte> encode_with(Isa isa, std::span<float> error, std::uint32_t k, unsigned threads) {
    require(k >= 1 && k <= sent_max && available(isa));
    const std::size_t count = static_cast<std::size_t>(layout::group_count(error.size()));
    std::vector<std::vector<std::byte>> groups(count);
    exact_parallel_for(count, threads, [&] {
        return [&groups, encoder = GroupEncoder(isa, error, k)](std::size_t group) mutable {
            groups[group] = encoder.encode(group);
        };
    });
    std::size_t total = layout::header_size + count * layout::table_entry_size;
    for (const auto& group : groups) total += group.size();
    std::vector<std::byte> payload(layout::header_size + count * layout::table_entry_size);
    std::memcpy(payload.data(), layout::magic, sizeof layout::magic);
    layout::store(&payload[4], k, 4);
    layout::store(&payload[8], error.size(), 8);
    for (std::size_t g = 0; g < count; ++g) {
        layout::store(&payload[layout::header_size + g * layout::table_entry_size], groups[g].size(), 4);
    }
    payload.reserve(total);
    for (const auto& group : groups) payload.insert(payload.end(), group.begin(), group.end());
    return payload;
}

}  // namespace potluck::numerics
