// What differs between instruction sets is only how sixteen patterns are compared with a threshold and gathered
// (Baseline, Avx2, Avx512). The method above that is select_method.inl, included once per set inside a namespace,
// because a function can be inlined only into one that is compiled for the same target.
//
// All work is on integers: a float's bits without the sign sort as the magnitudes do, NaN and infinity are set to zero
// before, and the answer is unique, so the sets cannot differ. For k up to 128 a threshold comes from column maxima;
// beyond that threshold_by_digits() finds it by radix selection over 11 + 10 + 10 bits. A chunk that is shorter than
// 4,096 is padded with zeros, which lose every tie because they stand last.
#include "core/numerics/codec/select.h"

#include <bit>
#include <cstring>

#if POTLUCK_X86_ISAS
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace potluck::numerics {

namespace {

/// A float's pattern where it lies; the attribute allows to read it through an integer.
#if defined(__GNUC__)
using Pattern = std::uint32_t __attribute__((may_alias));
#else
using Pattern = std::uint32_t;
#endif

constexpr std::uint32_t magnitude_mask = 0x7fffffff;
constexpr std::uint32_t infinite = 0x7f800000;  // patterns from here on are infinities and NaNs
constexpr std::size_t columns = 256;
constexpr std::size_t step = 16;  // entries looked at together
constexpr std::size_t column_method_max = 128;

// ---- Sixteen patterns at a time -------------------------------------------------------------------------------

struct Baseline {
    /// Bit i is set if pattern i without its sign is at least `threshold`.
    static POTLUCK_INLINE std::uint32_t reach(const Pattern* at, std::uint32_t threshold) {
#if POTLUCK_X86_ISAS
        const __m128i mask = _mm_set1_epi32(static_cast<int>(magnitude_mask));
        const __m128i below = _mm_set1_epi32(static_cast<int>(threshold) - 1);
        std::uint32_t bits = 0;
        for (int i = 0; i < 4; ++i) {
            const __m128i x = _mm_and_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at) + i), mask);
            const int four = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpgt_epi32(x, below)));
            bits |= static_cast<std::uint32_t>(four) << (4 * i);
        }
        return bits;
#elif defined(__aarch64__)
        // NEON has no movemask: what reaches the threshold becomes the bit of its lane, and the sum has all sixteen.
        static constexpr std::uint32_t lane_bits[4] = {1, 2, 4, 8};
        const uint32x4_t mask = vdupq_n_u32(magnitude_mask);
        const uint32x4_t least = vdupq_n_u32(threshold);
        uint32x4_t bits = vdupq_n_u32(0);
        for (int i = 0; i < static_cast<int>(step); i += 4) {
            uint32x4_t x;
            std::memcpy(&x, at + i, sizeof x);
            const uint32x4_t hits = vandq_u32(vcgeq_u32(vandq_u32(x, mask), least), vld1q_u32(lane_bits));
            bits = vorrq_u32(bits, vshlq_u32(hits, vdupq_n_s32(i)));
        }
        return vaddvq_u32(bits);
#else
        std::uint32_t bits = 0;
        for (std::uint32_t i = 0; i < step; ++i) {
            bits |= static_cast<std::uint32_t>((at[i] & magnitude_mask) >= threshold) << i;
        }
        return bits;
#endif
    }
    /// Appends what `reach` finds to patterns and places; returns the new count.
    static POTLUCK_INLINE std::size_t gather(const Pattern* at, std::uint32_t first, std::uint32_t threshold,
                                             SelectScratch& scratch, std::size_t count) {
        for (std::uint32_t bits = reach(at, threshold); bits != 0; bits &= bits - 1) {
            const auto i = static_cast<std::uint32_t>(std::countr_zero(bits));
            scratch.patterns[count] = at[i] & magnitude_mask;
            scratch.places[count++] = first + i;
        }
        return count;
    }
};

#if POTLUCK_X86_ISAS

struct Avx2 {
    POTLUCK_AVX2 static POTLUCK_INLINE std::uint32_t reach(const Pattern* at, std::uint32_t threshold) {
        const __m256i mask = _mm256_set1_epi32(static_cast<int>(magnitude_mask));
        const __m256i below = _mm256_set1_epi32(static_cast<int>(threshold) - 1);
        std::uint32_t bits = 0;
        for (int i = 0; i < 2; ++i) {
            const __m256i x = _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at) + i), mask);
            const int eight = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(x, below)));
            bits |= static_cast<std::uint32_t>(eight) << (8 * i);
        }
        return bits;
    }
    POTLUCK_AVX2 static POTLUCK_INLINE std::size_t gather(const Pattern* at, std::uint32_t first,
                                                          std::uint32_t threshold, SelectScratch& scratch,
                                                          std::size_t count) {
        for (std::uint32_t bits = reach(at, threshold); bits != 0; bits &= bits - 1) {
            const auto i = static_cast<std::uint32_t>(std::countr_zero(bits));
            scratch.patterns[count] = at[i] & magnitude_mask;
            scratch.places[count++] = first + i;
        }
        return count;
    }
};

struct Avx512 {
    POTLUCK_AVX512 static POTLUCK_INLINE std::uint32_t reach(const Pattern* at, std::uint32_t threshold) {
        const __m512i x = _mm512_and_si512(_mm512_loadu_si512(at), _mm512_set1_epi32(static_cast<int>(magnitude_mask)));
        return _mm512_cmpge_epu32_mask(x, _mm512_set1_epi32(static_cast<int>(threshold)));
    }
    POTLUCK_AVX512 static POTLUCK_INLINE std::size_t gather(const Pattern* at, std::uint32_t first,
                                                            std::uint32_t threshold, SelectScratch& scratch,
                                                            std::size_t count) {
        const __m512i x = _mm512_and_si512(_mm512_loadu_si512(at), _mm512_set1_epi32(static_cast<int>(magnitude_mask)));
        const __mmask16 hits = _mm512_cmpge_epu32_mask(x, _mm512_set1_epi32(static_cast<int>(threshold)));
        if (hits == 0) return count;
        const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        const __m512i places = _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int>(first)));
        _mm512_storeu_si512(scratch.patterns.data() + count, _mm512_maskz_compress_epi32(hits, x));
        _mm512_storeu_si512(scratch.places.data() + count, _mm512_maskz_compress_epi32(hits, places));
        return count + static_cast<std::size_t>(std::popcount(static_cast<std::uint32_t>(hits)));
    }
};

#endif

// ---- What all instruction sets share ----------------------------------------------------------------------------

struct Maxima {
    alignas(64) std::uint32_t of[columns];
    std::uint32_t least;
    std::uint32_t largest;
};

/// The largest threshold that `keep` of a chunk's patterns reach: radix selection, 11 + 10 + 10 bits.
std::uint32_t threshold_by_digits(const Pattern* patterns, std::size_t keep) {
    std::uint32_t prefix = 0;
    std::uint32_t prefix_mask = 0;
    std::size_t wanted = keep;
    struct Digit {
        unsigned shift;
        unsigned bits;
    };
    for (const auto& [shift, bits] : {Digit{20, 11}, Digit{10, 10}, Digit{0, 10}}) {
        std::array<std::uint32_t, 2048> counts{};
        const std::uint32_t digit_mask = (1U << bits) - 1;
        for (std::size_t i = 0; i < chunk_size; ++i) {
            const std::uint32_t x = patterns[i] & magnitude_mask;
            counts[(x >> shift) & digit_mask] += (x & prefix_mask) == prefix ? 1U : 0U;
        }
        std::uint32_t digit = digit_mask;
        for (; counts[digit] < wanted; --digit) wanted -= counts[digit];
        prefix |= digit << shift;
        prefix_mask |= digit_mask << shift;
    }
    return prefix;
}

void zero_infinite(std::span<float> chunk) {
    for (float& x : chunk) {
        if ((std::bit_cast<std::uint32_t>(x) & magnitude_mask) >= infinite) x = 0.0F;
    }
}

/// The chunk's patterns; a short chunk's are padded with zeros, which lose every tie against what stands before them.
const Pattern* patterns_of(std::span<float> chunk, SelectScratch& scratch) {
    if (chunk.size() == chunk_size) return reinterpret_cast<const Pattern*>(chunk.data());
    scratch.padded.fill(0);
    std::memcpy(scratch.padded.data(), chunk.data(), chunk.size_bytes());
    return scratch.padded.data();
}

// ---- The method, once per instruction set -----------------------------------------------------------------------

namespace baseline {
using Simd = Baseline;
#define POTLUCK_TARGET
#include "core/numerics/codec/select_method.inl"
#undef POTLUCK_TARGET
}  // namespace baseline

#if POTLUCK_X86_ISAS
namespace avx2 {
using Simd = Avx2;
#define POTLUCK_TARGET POTLUCK_AVX2
#include "core/numerics/codec/select_method.inl"
#undef POTLUCK_TARGET
}  // namespace avx2

namespace avx512 {
using Simd = Avx512;
#define POTLUCK_TARGET POTLUCK_AVX512
#include "core/numerics/codec/select_method.inl"
#undef POTLUCK_TARGET
}  // namespace avx512
#endif

}  // namespace

Select select_for(Isa isa) {
#if POTLUCK_X86_ISAS
    if (isa == Isa::avx512) return avx512::select;
    if (isa == Isa::avx2) return avx2::select;
#endif
    static_cast<void>(isa);
    return baseline::select;
}

}  // namespace potluck::numerics
