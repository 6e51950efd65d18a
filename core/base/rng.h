// Seeded randomness with the same sequence on every computer: SplitMix64 (Steele, Lea, Flood 2014) as a stream, and
// a keyed permutation of [0, n) as a Feistel network with cycle walking. Not for secrets.
#pragma once

#include <cstdint>

#include "core/base/mix.h"

namespace potluck {

class Rng {
public:
    explicit constexpr Rng(std::uint64_t seed) : m_state(seed) {}
    constexpr std::uint64_t next() {
        const std::uint64_t value = mix64(m_state);
        m_state += splitmix_increment;
        return value;
    }
    /// Uniform in [0, bound); `bound` > 0. The bias of at most bound / 2^64 does not matter here.
    constexpr std::uint64_t below(std::uint64_t bound) { return next() % bound; }
    /// Uniform in [0, 1) with 53 bits.
    constexpr double unit() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

private:
    std::uint64_t m_state;
};

/// A permutation of [0, size) chosen by `key`; `at(i)` costs a few mixes and no memory.
class KeyedPermutation {
public:
    KeyedPermutation(std::uint64_t key, std::uint64_t size);
    /// The image of `index`, which is below `size`.
    [[nodiscard]] std::uint64_t at(std::uint64_t index) const;

private:
    std::uint64_t m_key;
    std::uint64_t m_size;
    unsigned m_half_bits;
};

}  // namespace potluck
