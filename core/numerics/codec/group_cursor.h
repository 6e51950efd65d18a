// Walks the entries of one group of a checked payload, chunk by chunk.
#pragma once

#include <array>

#include "core/numerics/codec/gap_code.h"
#include "core/numerics/codec/payload_layout.h"
#include "core/numerics/cpu_dispatch.h"

namespace potluck::numerics {

class GroupCursor {
public:
    /// `from` begins with the group and may go on behind it; reading ahead there is harmless.
    GroupCursor(std::span<const std::byte> from, const layout::GroupShape& shape)
        : m_codes(from.data() + layout::group_header_size),
          m_gap_code(std::to_integer<std::uint8_t>(from[16])),
          m_gaps(from.subspan(layout::group_header_size + shape.codes_size())) {}

    /// Calls `take(place, code)` for each of the next chunk's `entries`; `place` counts from the chunk's start.
    template <class Take>
    void walk_chunk(std::size_t entries, const Take& take) {
        gap_code::Reader gaps = m_gaps;  // a copy lives in registers
        const std::uint8_t gap_code = m_gap_code;
        std::uint32_t next = 0;
        const auto one = [&](std::size_t entry) {
            const std::uint32_t place = next + gaps.take(gap_code).gap;
            next = place + 1;
            const unsigned code = (std::to_integer<unsigned>(m_codes[entry / 4]) >> (2 * (entry % 4))) & 3U;
            take(place, code);
        };
        const std::size_t end = m_entry + entries;
        std::size_t entry = m_entry;
        for (; entry + 2 <= end; entry += 2) {
            gaps.refill();
            one(entry);
            one(entry + 1);
        }
        if (entry < end) {
            gaps.refill();
            one(entry);
        }
        m_entry = end;
        m_gaps = gaps;
    }

private:
    const std::byte* m_codes;
    std::uint8_t m_gap_code;
    gap_code::Reader m_gaps;
    std::size_t m_entry = 0;
};

}  // namespace potluck::numerics
