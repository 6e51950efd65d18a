#include "core/numerics/codec/gap_code.h"

#include <array>
#include <cstring>

#include "core/numerics/codec/payload_layout.h"

namespace potluck::numerics::gap_code {

namespace {

/// How often each gap occurs: costs of all codes then need 4,096 steps, whatever the number of entries.
using Histogram = std::array<std::uint32_t, chunk_size>;

}  // namespace

std::uint8_t shortest(std::span<const std::uint16_t> gaps) {
    Histogram histogram{};
    for (const std::uint16_t gap : gaps) ++histogram[gap];
    // The gaps that occur, with their counts, side by side.
    static_assert(chunk_size <= 65'536);
    std::array<std::uint16_t, chunk_size> present;
    std::size_t kinds = 0;
    for (std::size_t gap = 0; gap < chunk_size; ++gap) {
        present[kinds] = static_cast<std::uint16_t>(gap);
        kinds += histogram[gap] != 0;
    }
    std::uint8_t best = 0;
    std::uint64_t best_bits = ~0ULL;
    for (std::uint8_t code = 0; code <= exponential + parameter_max; ++code) {
        if (!known(code)) continue;
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i < kinds; ++i) {
            bits += std::uint64_t{histogram[present[i]]} * word_of(present[i], code).size;
        }
        if (bits < best_bits) {
            best = code;
            best_bits = bits;
        }
    }
    return best;
}

void Writer::put(Word word) {
    m_pending |= word.bits << m_filled;
    m_filled += word.size;
    if (m_filled < 32) return;
    layout::store_u32(m_at, static_cast<std::uint32_t>(m_pending));
    m_at += 4;
    m_pending >>= 32U;
    m_filled -= 32;
}

std::byte* Writer::finish() {
    layout::store(m_at, m_pending, 4);
    return m_at + (m_filled + 7) / 8;
}

void Reader::refill_from_tail() {
    while (m_filled <= 56) {
        if (m_at != m_end) m_window |= std::to_integer<std::uint64_t>(*m_at++) << m_filled;
        m_filled += 8;
    }
}

}  // namespace potluck::numerics::gap_code
