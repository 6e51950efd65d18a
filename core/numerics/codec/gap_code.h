// How the gaps between sorted indices of a chunk become bits. A gap is the number of parameters skipped since the
// last sent one, 0..4095. Each group names, in one byte, the code that is shortest for its gaps:
//
//   0..12   Rice (Golomb 1966, Rice 1979) with parameter b = byte: q = gap >> b zeros, a one, the low b bits;
//           q >= 16 is written as 16 zeros and the gap in 12 bits, so that a single far entry costs 28 bits at most
//   16..28  exponential Golomb (Teuhola 1978) with parameter b = byte - 16: v = (gap >> b) + 1 has n + 1 bits:
//           n zeros, a one, the low n bits of v, the low b bits of the gap
//
// Rice is best where entries lie independently, the other where they cluster (rows and columns of a matrix).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/numerics/codec/payload_layout.h"

namespace potluck::numerics::gap_code {

inline constexpr unsigned parameter_max = 12;
inline constexpr unsigned rice_zeros_max = 16;
inline constexpr unsigned gap_bits = 12;
inline constexpr unsigned exponential_zeros_max = 12;  // v is at most 4,096
inline constexpr std::uint8_t exponential = 16;        // first byte value of the second family

[[nodiscard]] constexpr bool known(std::uint8_t code) {
    return code <= parameter_max || (code >= exponential && code <= exponential + parameter_max);
}

/// A gap as bits, the first one lowest; at most 28.
struct Word {
    std::uint64_t bits = 0;
    unsigned size = 0;
};

[[nodiscard]] constexpr Word word_of(std::uint32_t gap, std::uint8_t code) {
    if (code >= exponential) {
        const unsigned b = code - exponential;
        const std::uint64_t v = (std::uint64_t{gap} >> b) + 1;
        const unsigned n = static_cast<unsigned>(std::bit_width(v)) - 1;
        const std::uint64_t low_v = v & ((1ULL << n) - 1);
        const std::uint64_t low_gap = gap & ((1ULL << b) - 1);
        return {(1ULL << n) | (low_v << (n + 1)) | (low_gap << (2 * n + 1)), 2 * n + 1 + b};
    }
    const unsigned b = code;
    const unsigned q = gap >> b;
    if (q >= rice_zeros_max) return {std::uint64_t{gap} << rice_zeros_max, rice_zeros_max + gap_bits};
    return {(1ULL << q) | ((gap & ((1ULL << b) - 1)) << (q + 1)), q + 1 + b};
}

/// The gap that the low bits of `window` begin with, and its size in bits; at least 28 bits of `window` are valid or
/// zero. A size of zero means that no gap begins so.
struct Read {
    std::uint32_t gap = 0;
    unsigned size = 0;
};

[[nodiscard]] inline Read read(std::uint64_t window, std::uint8_t code) {
    const auto zeros = static_cast<unsigned>(std::countr_zero(window | (1ULL << 63U)));
    if (code >= exponential) {
        const unsigned b = code - exponential;
        if (zeros > exponential_zeros_max) return {};
        const std::uint64_t rest = window >> (zeros + 1);
        const std::uint64_t v = (1ULL << zeros) | (rest & ((1ULL << zeros) - 1));
        const std::uint64_t gap = ((v - 1) << b) | ((rest >> zeros) & ((1ULL << b) - 1));
        return {static_cast<std::uint32_t>(gap), 2 * zeros + 1 + b};
    }
    const unsigned b = code;
    if (zeros >= rice_zeros_max) {
        const std::uint64_t gap = (window >> rice_zeros_max) & ((1ULL << gap_bits) - 1);
        return {static_cast<std::uint32_t>(gap), rice_zeros_max + gap_bits};
    }
    const std::uint64_t low = (window >> (zeros + 1)) & ((1ULL << b) - 1);
    return {static_cast<std::uint32_t>((zeros << b) | low), zeros + 1 + b};
}

/// The code with the fewest bits for `gaps`; the lower byte value on a tie.
[[nodiscard]] std::uint8_t shortest(std::span<const std::uint16_t> gaps);

/// Writes gaps one after the other. The buffer has room for 8 bytes beyond the last word.
class Writer {
public:
    explicit Writer(std::byte* at) : m_at(at) {}
    void put(Word word);
    /// Writes the rest, padded with zero bits; returns the first byte after it.
    [[nodiscard]] std::byte* finish();

private:
    std::byte* m_at;
    std::uint64_t m_pending = 0;
    unsigned m_filled = 0;  // below 32 between calls
};

/// Reads gaps one after the other. Bits beyond the end of the bytes are zero. Two gaps fit between refills, so that the
/// chain from one gap to the next is a few register operations and no load.
class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : m_at(bytes.data()), m_end(bytes.data() + bytes.size()) {}

    /// Makes the next two calls of `take` valid.
    void refill() {
        if (m_end - m_at >= 8) {
            m_window |= layout::load_u64(m_at) << m_filled;
            m_at += (63 - m_filled) / 8;
            m_filled |= 56U;
        } else {
            refill_from_tail();
        }
    }
    Read take(std::uint8_t code) {
        const Read gap = read(m_window, code);
        m_window >>= gap.size;
        m_filled -= gap.size;
        return gap;
    }

private:
    void refill_from_tail();
    const std::byte* m_at;
    const std::byte* m_end;
    std::uint64_t m_window = 0;
    unsigned m_filled = 0;
};

}  // namespace potluck::numerics::gap_code
