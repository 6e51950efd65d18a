// A block's codes, values and step with AVX2. A magnitude's decade follows from its exponent by a multiplication and a
// comparison, the decade's line from tables of eight in registers.
//
// x86 only. Threads: any.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/numerics/cpu_dispatch.h"
#include "core/numerics/optimizer/dynamic_map.h"
#include "core/numerics/optimizer/optimizer.h"
#include "core/numerics/optimizer/optimizer_arithmetic.h"

#if POTLUCK_X86_ISAS
#include <immintrin.h>

namespace potluck::numerics {

/// The lines by segment modulo eight. Segment 8 (one) shares the entry of segment 0 (zero): the line through the origin
/// yields the codes of both.
struct EightLines {
    static constexpr std::uint32_t lowest_exponent = 102;  // 2^-25: smaller magnitudes are looked up as this one
    /// A segment from an exponent: the true one, or the one below it.
    static constexpr std::uint32_t guessed(std::uint32_t exponent) { return (exponent * 20597U) >> 16U; }

    alignas(32) std::uint32_t end[8];
    alignas(32) float slope[8];
    alignas(32) float offset[8];
    alignas(32) float last[8];
    bool guesses_hold = true;
};
constexpr EightLines eight_lines(const float* above, const float* slope, const float* offset, const float* last) {
    EightLines out{};
    for (std::size_t i = 0; i < 8; ++i) {
        out.end[i] = std::bit_cast<std::uint32_t>(above[i + 1]);
        out.slope[i] = i == 0 ? last[8] : slope[i];
        out.offset[i] = offset[i];
        out.last[i] = i == 0 ? last[8] : last[i];
    }
    const auto segment = [&](float y) {
        std::uint32_t at = 0;
        while (at + 1 < map_segments && y > above[at + 1]) ++at;
        return at;
    };
    for (std::uint32_t exponent = EightLines::lowest_exponent; exponent < 128; ++exponent) {
        const bool lowest = exponent == EightLines::lowest_exponent;
        const std::uint32_t guess = EightLines::guessed(exponent) % 8;
        const float from = lowest ? 0.0F : std::bit_cast<float>(exponent << 23U);
        const float to = exponent == 127 ? 1.0F : std::bit_cast<float>(((exponent + 1) << 23U) - 1);
        out.guesses_hold = out.guesses_hold && segment(from) >= guess && segment(to) <= guess + 1;
    }
    return out;
}
inline constexpr EightLines mean_eight = eight_lines(mean_above, mean_slope, mean_offset, mean_last);
inline constexpr EightLines variance_eight =
    eight_lines(variance_above, variance_slope, variance_offset, variance_last);
static_assert(mean_eight.guesses_hold && variance_eight.guesses_hold);

/// Whole blocks, as LineCodes.
struct Avx2Blocks {
    POTLUCK_AVX2 static POTLUCK_INLINE void mean_values(const std::uint8_t* codes, float scale, float* out) {
        values(mean_map, codes, scale, out);
    }
    POTLUCK_AVX2 static POTLUCK_INLINE void variance_values(const std::uint8_t* codes, float scale, float* out) {
        values(variance_map, codes, scale, out);
    }
    /// -128 and 255 of what the additions leave become 0 and 255: there is no mean of -1.
    POTLUCK_AVX2 static POTLUCK_INLINE void mean_codes(const float* values, float inverse, std::uint8_t* out) {
        const __m256i zero = _mm256_set1_epi16(mean_zero_code);
        for (std::size_t i = 0; i < optimizer_block; i += 32) {
            const __m256i first = two_means(values + i, inverse), second = two_means(values + i + 16, inverse);
            put(_mm256_packus_epi16(_mm256_add_epi16(first, zero), _mm256_add_epi16(second, zero)), out + i);
        }
    }
    POTLUCK_AVX2 static POTLUCK_INLINE void variance_codes(const float* values, float inverse, std::uint8_t* out) {
        for (std::size_t i = 0; i < optimizer_block; i += 32) {
            put(_mm256_packus_epi16(two_variances(values + i, inverse), two_variances(values + i + 16, inverse)),
                out + i);
        }
    }

private:
    POTLUCK_AVX2 static POTLUCK_INLINE void values(const float* map, const std::uint8_t* codes, float scale,
                                                   float* out) {
        for (std::size_t i = 0; i < optimizer_block; i += 8) {
            alignas(32) float found[8];  // one by one: a gather takes longer
            for (std::size_t k = 0; k < 8; ++k) found[k] = map[codes[i + k]];
            _mm256_storeu_ps(out + i, _mm256_mul_ps(_mm256_load_ps(found), _mm256_set1_ps(scale)));
        }
    }

    /// The codes of 8 magnitudes in [0, 1], as floats yet to be truncated.
    POTLUCK_AVX2 static POTLUCK_INLINE __m256 lines_of(__m256 y, const EightLines& lines) {
        const __m256i least = _mm256_set1_epi32(static_cast<int>(EightLines::lowest_exponent << 23U));
        const __m256i exponent = _mm256_srli_epi32(_mm256_max_epi32(_mm256_castps_si256(y), least), 23);
        const __m256i guess = _mm256_mulhi_epu16(exponent, _mm256_set1_epi32(20597));
        const __m256 end = _mm256_permutevar8x32_ps(load(lines.end), guess);
        const __m256i segment = _mm256_sub_epi32(guess, _mm256_castps_si256(_mm256_cmp_ps(y, end, _CMP_GT_OQ)));
        const __m256 rise = _mm256_mul_ps(y, _mm256_permutevar8x32_ps(_mm256_load_ps(lines.slope), segment));
        const __m256 line = _mm256_add_ps(rise, _mm256_permutevar8x32_ps(_mm256_load_ps(lines.offset), segment));
        return _mm256_min_ps(line, _mm256_permutevar8x32_ps(_mm256_load_ps(lines.last), segment));
    }
    POTLUCK_AVX2 static POTLUCK_INLINE __m256 load(const std::uint32_t* from) {
        return _mm256_castsi256_ps(_mm256_load_si256(reinterpret_cast<const __m256i*>(from)));
    }
    POTLUCK_AVX2 static POTLUCK_INLINE __m256i mean_code(const float* values, float inverse) {
        const __m256 sign = _mm256_set1_ps(-0.0F);
        const __m256 y = _mm256_mul_ps(_mm256_loadu_ps(values), _mm256_set1_ps(inverse));
        const __m256 line = lines_of(_mm256_andnot_ps(sign, y), mean_eight);
        return _mm256_cvttps_epi32(_mm256_or_ps(line, _mm256_and_ps(sign, y)));
    }
    POTLUCK_AVX2 static POTLUCK_INLINE __m256i variance_code(const float* values, float inverse) {
        const __m256 y = _mm256_mul_ps(_mm256_loadu_ps(values), _mm256_set1_ps(inverse));
        return _mm256_cvttps_epi32(lines_of(y, variance_eight));
    }
    POTLUCK_AVX2 static POTLUCK_INLINE __m256i two_means(const float* values, float inverse) {
        return _mm256_packs_epi32(mean_code(values, inverse), mean_code(values + 8, inverse));
    }
    POTLUCK_AVX2 static POTLUCK_INLINE __m256i two_variances(const float* values, float inverse) {
        return _mm256_packs_epi32(variance_code(values, inverse), variance_code(values + 8, inverse));
    }
    /// 32 bytes whose quarters the packing left in the order of its lanes.
    POTLUCK_AVX2 static POTLUCK_INLINE void put(__m256i bytes, std::uint8_t* out) {
        const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_permutevar8x32_epi32(bytes, order));
    }
};

/// A block's largest magnitudes, as bits, and whether any number took part.
struct BlockMost {
    std::uint32_t mean, variance;
    bool any;
};

POTLUCK_AVX2 POTLUCK_INLINE std::uint32_t largest(__m256i of) {
    alignas(32) std::uint32_t lanes[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), of);
    std::uint32_t most = 0;
    for (const std::uint32_t lane : lanes) most = lane > most ? lane : most;
    return most;
}

/// Steps a block of floats.
template <bool Lamb>
POTLUCK_AVX2 POTLUCK_INLINE BlockMost step_floats_avx2(const arithmetic::StepConstants& c, float factor,
                                                       float* POTLUCK_RESTRICT parameters,
                                                       const float* POTLUCK_RESTRICT gradient,
                                                       float* POTLUCK_RESTRICT mean, float* POTLUCK_RESTRICT variance) {
    __m256i mean_max = _mm256_setzero_si256(), variance_max = _mm256_setzero_si256();
    __m256 any = _mm256_setzero_ps();
    for (std::size_t i = 0; i < optimizer_block; i += 8) {
        const __m256 p = _mm256_loadu_ps(parameters + i);
        const __m256 g = _mm256_mul_ps(_mm256_loadu_ps(gradient + i), _mm256_set1_ps(c.scale));
        const __m256 square = _mm256_mul_ps(g, g);
        // A parameter that is not finite turns this into NaN; a finite one adds a zero.
        const __m256 checked = _mm256_add_ps(square, _mm256_mul_ps(p, _mm256_setzero_ps()));
        const __m256 part = _mm256_cmp_ps(checked, _mm256_set1_ps(arithmetic::square_max), _CMP_LE_OQ);
        const __m256 m0 = _mm256_loadu_ps(mean + i), v0 = _mm256_loadu_ps(variance + i);
        const __m256 m1 = _mm256_add_ps(_mm256_mul_ps(_mm256_set1_ps(c.beta1), m0),
                                        _mm256_mul_ps(_mm256_set1_ps(c.one_minus_beta1), g));
        const __m256 v1 = _mm256_add_ps(_mm256_mul_ps(_mm256_set1_ps(c.beta2), v0),
                                        _mm256_mul_ps(_mm256_set1_ps(c.one_minus_beta2), square));
        const __m256 m = _mm256_blendv_ps(m0, m1, part), v = _mm256_blendv_ps(v0, v1, part);
        const __m256 direction = _mm256_div_ps(_mm256_mul_ps(_mm256_set1_ps(c.step_size), m),
                                               _mm256_add_ps(_mm256_sqrt_ps(v), _mm256_set1_ps(c.epsilon)));
        __m256 after;
        if constexpr (Lamb) {
            const __m256 update = _mm256_add_ps(direction, _mm256_mul_ps(_mm256_set1_ps(c.decay), p));
            after = _mm256_sub_ps(p, _mm256_mul_ps(_mm256_set1_ps(factor), update));
        } else {
            after = _mm256_sub_ps(_mm256_mul_ps(p, _mm256_set1_ps(c.decay_factor)), direction);
        }
        _mm256_storeu_ps(parameters + i, _mm256_blendv_ps(p, after, part));
        _mm256_storeu_ps(mean + i, m);
        _mm256_storeu_ps(variance + i, v);
        any = _mm256_or_ps(any, part);
        // As integers, which order floats above zero alike and leave the multipliers alone.
        const __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0F), m);
        mean_max = _mm256_max_epi32(mean_max, _mm256_castps_si256(size));
        variance_max = _mm256_max_epi32(variance_max, _mm256_castps_si256(v));
    }
    return {largest(mean_max), largest(variance_max), _mm256_movemask_ps(any) != 0};
}

/// `Block` is optimizer_step.cpp's; moments that are floats already are stepped where they lie.
template <bool Coded, bool Lamb, class Block, class PendingBlock>
POTLUCK_AVX2 void step_block_avx2(const Block& block, const arithmetic::StepConstants& constants, float factor,
                                  PendingBlock&) {
    const arithmetic::StepConstants c = constants;
    if constexpr (!Coded) {
        step_floats_avx2<Lamb>(c, factor, block.parameters, block.gradient, block.mean, block.variance);
    } else {
        alignas(32) float mean[optimizer_block];
        alignas(32) float variance[optimizer_block];
        Avx2Blocks::mean_values(block.mean_codes, *block.mean_scale, mean);
        Avx2Blocks::variance_values(block.variance_codes, *block.variance_scale, variance);
        const BlockMost most = step_floats_avx2<Lamb>(c, factor, block.parameters, block.gradient, mean, variance);
        if (!most.any) return;
        *block.mean_scale = arithmetic::scale_of(arithmetic::float_of(most.mean));
        *block.variance_scale = arithmetic::scale_of(arithmetic::float_of(most.variance));
        Avx2Blocks::mean_codes(mean, arithmetic::inverse_of(*block.mean_scale), block.mean_codes);
        Avx2Blocks::variance_codes(variance, arithmetic::inverse_of(*block.variance_scale), block.variance_codes);
    }
}

}  // namespace potluck::numerics

#endif
