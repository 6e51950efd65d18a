#include "core/numerics/codec/bit_string.h"

#include <bit>

namespace potluck::numerics {

namespace {

void put_gap(BitString& bits, std::uint32_t gap, unsigned code) {
    if (code >= 16) {
        const unsigned b = code - 16;
        const std::uint32_t v = (gap >> b) + 1;
        const auto n = static_cast<unsigned>(std::bit_width(v)) - 1;
        bits.put(0, n);
        bits.put(1, 1);
        bits.put(v & ((1U << n) - 1), n);
        bits.put(gap & ((1U << b) - 1), b);
    } else if ((gap >> code) >= 16) {
        bits.put(0, 16);
        bits.put(gap, 12);
    } else {
        bits.put(0, gap >> code);
        bits.put(1, 1);
        bits.put(gap & ((1U << code) - 1), code);
    }
}

}  // namespace

std::pair<unsigned, BitString> code_gaps_plain(std::span<const std::uint32_t> gaps) {
    std::pair<unsigned, BitString> best;
    for (unsigned code = 0; code <= 28; ++code) {
        if (code > 12 && code < 16) continue;
        BitString bits;
        for (const std::uint32_t gap : gaps) put_gap(bits, gap, code);
        if (code == 0 || bits.size() < best.second.size()) best = {code, bits};
    }
    return best;
}

}  // namespace potluck::numerics
