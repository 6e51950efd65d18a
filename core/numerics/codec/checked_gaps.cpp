#include "core/numerics/codec/checked_gaps.h"

#include <algorithm>

#include "core/numerics/codec/gap_code.h"

namespace potluck::numerics {

PayloadFault check_gaps(std::span<const std::byte> gaps, std::uint8_t code, const layout::GroupShape& shape,
                        std::uint32_t k) {
    if (!gap_code::known(code)) return PayloadFault::bad_index;
    gap_code::Reader reader(gaps);
    const std::size_t bits_there = gaps.size() * 8;
    std::size_t bit = 0;
    for (std::size_t at = 0; at < shape.length; at += chunk_size) {
        const std::size_t length = std::min(chunk_size, shape.length - at);
        std::size_t next = 0;
        for (std::size_t left = layout::kept(length, k); left > 0; --left) {
            if (bit >= bits_there) return PayloadFault::truncated;
            reader.refill();
            const gap_code::Read read = reader.take(code);
            next += read.gap + std::size_t{1};
            if (read.size == 0 || next > length) return PayloadFault::bad_index;
            bit += read.size;
        }
    }
    if (bit > bits_there) return PayloadFault::truncated;
    const bool clean = bit % 8 == 0 || std::to_integer<unsigned>(gaps.back()) >> (bit % 8) == 0;
    if (bits_there - bit >= 8 || !clean) return PayloadFault::trailing_bytes;
    return PayloadFault::none;
}

}  // namespace potluck::numerics
