#include "core/base/rng.h"

#include <bit>

#include "core/base/check.h"

namespace potluck {

KeyedPermutation::KeyedPermutation(std::uint64_t key, std::uint64_t size) : m_key(key), m_size(size), m_half_bits(1) {
    POTLUCK_CHECK(size > 0 && size <= (1ULL << 62U));
    const auto bits = static_cast<unsigned>(std::bit_width(size - 1));
    m_half_bits = bits < 2 ? 1 : (bits + 1) / 2;
}

std::uint64_t KeyedPermutation::at(std::uint64_t index) const {
    POTLUCK_CHECK(index < m_size);
    const std::uint64_t mask = (1ULL << m_half_bits) - 1;
    std::uint64_t image = index;
    do {  // the network permutes [0, 4^half_bits), at most four times as large: walk the cycle back into range
        std::uint64_t left = image >> m_half_bits;
        std::uint64_t right = image & mask;
        for (std::uint64_t round = 0; round < 4; ++round) {
            const std::uint64_t mixed = mix64(m_key ^ mix64(right + (round << 56U))) & mask;
            const std::uint64_t swapped = left ^ mixed;
            left = right;
            right = swapped;
        }
        image = (left << m_half_bits) | right;
    } while (image >= m_size);
    return image;
}

}  // namespace potluck
