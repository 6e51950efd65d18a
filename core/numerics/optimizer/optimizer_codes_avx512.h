// A block's codes and values with AVX-512 and its lookups of bytes: both maps are four tables of bytes, one per byte of
// a value, which are looked up 64 at a time; the lines are tables of floats in registers.
//
// x86 only. Threads: any.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/numerics/cpu_dispatch.h"
#include "core/numerics/optimizer/dynamic_map.h"
#include "core/numerics/optimizer/optimizer.h"

#if POTLUCK_X86_ISAS
#include <immintrin.h>

/// With lookups of bytes as well (Ice Lake, Zen 4 and later).
#define POTLUCK_AVX512_BYTES \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,popcnt,bmi" POTLUCK_AVX512_WIDTH)))

namespace potluck::numerics {

/// One byte of each value of a map: lookups of bytes find 64 numbers at a time.
template <std::size_t Count>
struct BytePlanes {
    alignas(64) std::uint8_t of[4][Count];  // lowest byte first
};
template <std::size_t Count>
constexpr BytePlanes<Count> planes_of(const float* values) {
    BytePlanes<Count> out{};
    for (std::size_t i = 0; i < Count; ++i) {
        for (unsigned plane = 0; plane < 4; ++plane) {
            out.of[plane][i] = static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(values[i]) >> (8 * plane));
        }
    }
    return out;
}
inline constexpr BytePlanes<128> mean_planes = planes_of<128>(mean_map + mean_zero_code);  // of magnitudes
inline constexpr BytePlanes<256> variance_planes = planes_of<256>(variance_map);

/// The lines as tables: what the exponent of a magnitude tells, two powers of two at a time (its segment, in the low
/// four bits of where that ends), and each segment's line.
struct LineTables {
    alignas(64) std::uint32_t ends[16];  // by the four lowest bits of exponent / 2
    alignas(64) float slope[16];
    alignas(64) float offset[16];
    alignas(64) float last[16];
};
inline constexpr std::uint32_t lowest_exponent = 102;  // 2^-25: smaller magnitudes are looked up as this one
constexpr LineTables tables_of(const float* above, const float* slope, const float* offset, const float* last) {
    LineTables out{};
    for (std::uint32_t exponent = lowest_exponent; exponent < 128; exponent += 2) {
        // From where on the entry counts; the lowest stands for everything below it too.
        const float from = exponent == lowest_exponent ? 0.0F : std::bit_cast<float>(exponent << 23U);
        std::uint32_t segment = 0;
        while (segment + 1 < map_segments && from > above[segment + 1]) ++segment;
        // Where it ends, or beyond every magnitude with the segment's number as the low bits.
        out.ends[exponent / 2 % 16] =
            segment + 1 < map_segments ? std::bit_cast<std::uint32_t>(above[segment + 1]) : 0x40000000U | segment;
    }
    for (std::size_t i = 0; i < map_segments; ++i) {
        out.slope[i] = slope[i];
        out.offset[i] = offset[i];
        out.last[i] = last[i];
    }
    return out;
}
inline constexpr LineTables mean_lines = tables_of(mean_above, mean_slope, mean_offset, mean_last);
inline constexpr LineTables variance_lines = tables_of(variance_above, variance_slope, variance_offset, variance_last);

/// 64 numbers at a time.
struct Avx512Codes {
    static constexpr std::size_t width = 64;
    static constexpr int first_or_both_others = 0xf8;  // a | (b & c)
    struct TwoCodes {
        __m512i first, second;
    };

    POTLUCK_AVX512_BYTES static POTLUCK_INLINE void mean_values(const std::uint8_t* codes, __m512 scale, float* out) {
        const __m512i top = _mm512_set1_epi8(-0x80);
        const __m512i from_zero = _mm512_sub_epi8(transposed(codes), _mm512_set1_epi8(mean_zero_code));
        const __m512i index = _mm512_abs_epi8(from_zero);  // 128 for code 255 alone, which is one: 0x3f800000
        const __mmask64 one = _mm512_cmpeq_epi8_mask(from_zero, top);
        __m512i planes[4];
        for (std::size_t i = 0; i < 4; ++i) planes[i] = looked_up(mean_planes.of[i], index);
        planes[2] = _mm512_ternarylogic_epi32(planes[2], index, top, first_or_both_others);
        constexpr int first_and_third_alone = 0x20;
        const __m512i sign = _mm512_ternarylogic_epi32(from_zero, index, top, first_and_third_alone);
        planes[3] = _mm512_mask_mov_epi8(_mm512_or_si512(planes[3], sign), one, _mm512_set1_epi8(0x3f));
        put(planes, scale, out);
    }

    POTLUCK_AVX512_BYTES static POTLUCK_INLINE void variance_values(const std::uint8_t* codes, __m512 scale,
                                                                    float* out) {
        const __m512i code = transposed(codes);
        const __mmask64 above = _mm512_movepi8_mask(code);
        __m512i planes[4];
        for (std::size_t i = 0; i < 4; ++i) {
            planes[i] = _mm512_mask_blend_epi8(above, looked_up(variance_planes.of[i], code),
                                               looked_up(variance_planes.of[i] + 128, code));
        }
        put(planes, scale, out);
    }

    /// The codes of twice sixteen magnitudes, for `put_means` and `put_variances`.
    POTLUCK_AVX512_BYTES static POTLUCK_INLINE TwoCodes two_means(const float* values, __m512 inverse) {
        constexpr int larger_without_sign = 0x0b;
        const __m512 least = _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(lowest_exponent << 23U)));
        const __m512i sign = _mm512_set1_epi32(static_cast<int>(0x80000000U));
        const __m512 y0 = _mm512_mul_ps(_mm512_load_ps(values), inverse);
        const __m512 y1 = _mm512_mul_ps(_mm512_load_ps(values + 16), inverse);
        const __m512 size0 = _mm512_range_ps(y0, least, larger_without_sign);
        const __m512 size1 = _mm512_range_ps(y1, least, larger_without_sign);
        const TwoLines line =
            two_lines(size0, size1, _mm512_castps_si512(size0), _mm512_castps_si512(size1), mean_lines);
        return {_mm512_cvttps_epi32(_mm512_castsi512_ps(_mm512_ternarylogic_epi32(
                    _mm512_castps_si512(line.first), _mm512_castps_si512(y0), sign, first_or_both_others))),
                _mm512_cvttps_epi32(_mm512_castsi512_ps(_mm512_ternarylogic_epi32(
                    _mm512_castps_si512(line.second), _mm512_castps_si512(y1), sign, first_or_both_others)))};
    }
    POTLUCK_AVX512_BYTES static POTLUCK_INLINE TwoCodes two_variances(const float* values, __m512 inverse) {
        const __m512i least = _mm512_set1_epi32(static_cast<int>(lowest_exponent << 23U));
        const __m512 y0 = _mm512_mul_ps(_mm512_load_ps(values), inverse);
        const __m512 y1 = _mm512_mul_ps(_mm512_load_ps(values + 16), inverse);
        const TwoLines line = two_lines(y0, y1, _mm512_max_epi32(_mm512_castps_si512(y0), least),
                                        _mm512_max_epi32(_mm512_castps_si512(y1), least), variance_lines);
        return {_mm512_cvttps_epi32(line.first), _mm512_cvttps_epi32(line.second)};
    }
    /// -128 and 255 of what the additions leave become 0 and 255: there is no mean of -1.
    POTLUCK_AVX512_BYTES static POTLUCK_INLINE void put_means(TwoCodes a, TwoCodes b, std::uint8_t* out) {
        const __m512i zero = _mm512_set1_epi16(mean_zero_code);
        const __m512i first = _mm512_add_epi16(_mm512_packs_epi32(a.first, a.second), zero);
        const __m512i second = _mm512_add_epi16(_mm512_packs_epi32(b.first, b.second), zero);
        _mm512_storeu_si512(out, in_order(_mm512_packus_epi16(first, second)));
    }
    POTLUCK_AVX512_BYTES static POTLUCK_INLINE void put_variances(TwoCodes a, TwoCodes b, std::uint8_t* out) {
        const __m512i first = _mm512_packs_epi32(a.first, a.second);
        const __m512i second = _mm512_packs_epi32(b.first, b.second);
        _mm512_storeu_si512(out, in_order(_mm512_packus_epi16(first, second)));
    }
    POTLUCK_AVX512_BYTES static POTLUCK_INLINE void mean_codes(const float* values, __m512 inverse, std::uint8_t* out) {
        put_means(two_means(values, inverse), two_means(values + 32, inverse), out);
    }
    POTLUCK_AVX512_BYTES static POTLUCK_INLINE void variance_codes(const float* values, __m512 inverse,
                                                                   std::uint8_t* out) {
        put_variances(two_variances(values, inverse), two_variances(values + 32, inverse), out);
    }

private:
    /// 64 bytes as a table of 4 x 4 dwords with rows and columns exchanged: its own inverse.
    POTLUCK_AVX512_BYTES static POTLUCK_INLINE __m512i in_order(__m512i bytes) {
        const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        return _mm512_permutexvar_epi32(order, bytes);
    }
    POTLUCK_AVX512_BYTES static POTLUCK_INLINE __m512i transposed(const std::uint8_t* codes) {
        return in_order(_mm512_loadu_si512(codes));
    }
    /// From a table of 128 bytes, by the low seven bits of the index.
    POTLUCK_AVX512_BYTES static POTLUCK_INLINE __m512i looked_up(const std::uint8_t* table, __m512i index) {
        return _mm512_permutex2var_epi8(_mm512_load_si512(table), index, _mm512_load_si512(table + 64));
    }
    /// Times `scale`, in the order that `transposed` prepared.
    POTLUCK_AVX512_BYTES static POTLUCK_INLINE void put(const __m512i (&planes)[4], __m512 scale, float* out) {
        const __m512i lower[2] = {_mm512_unpacklo_epi8(planes[0], planes[1]),
                                  _mm512_unpackhi_epi8(planes[0], planes[1])};
        const __m512i upper[2] = {_mm512_unpacklo_epi8(planes[2], planes[3]),
                                  _mm512_unpackhi_epi8(planes[2], planes[3])};
        for (std::size_t i = 0; i < 2; ++i) {
            const __m512 first = _mm512_castsi512_ps(_mm512_unpacklo_epi16(lower[i], upper[i]));
            const __m512 second = _mm512_castsi512_ps(_mm512_unpackhi_epi16(lower[i], upper[i]));
            _mm512_storeu_ps(out + 32 * i, _mm512_mul_ps(first, scale));
            _mm512_storeu_ps(out + 32 * i + 16, _mm512_mul_ps(second, scale));
        }
    }

    struct TwoLines {
        __m512 first, second;
    };
    /// The codes of twice 16 magnitudes in [0, 1], as floats yet to be truncated; a `size` is a y with small ones
    /// enlarged. Side by side, because each step waits for the one before.
    POTLUCK_AVX512_BYTES static POTLUCK_INLINE TwoLines two_lines(__m512 y0, __m512 y1, __m512i size0, __m512i size1,
                                                                  const LineTables& lines) {
        const __m512i ends = _mm512_load_si512(lines.ends);
        const __m512i end0 = _mm512_permutexvar_epi32(_mm512_srli_epi32(size0, 24), ends);
        const __m512i end1 = _mm512_permutexvar_epi32(_mm512_srli_epi32(size1, 24), ends);
        const __mmask16 beyond0 = _mm512_cmpgt_epi32_mask(_mm512_castps_si512(y0), end0);
        const __mmask16 beyond1 = _mm512_cmpgt_epi32_mask(_mm512_castps_si512(y1), end1);
        // In their low bits.
        const __m512i segment0 = _mm512_mask_add_epi32(end0, beyond0, end0, _mm512_set1_epi32(1));
        const __m512i segment1 = _mm512_mask_add_epi32(end1, beyond1, end1, _mm512_set1_epi32(1));
        const __m512 slope = _mm512_load_ps(lines.slope), offset = _mm512_load_ps(lines.offset);
        const __m512 last = _mm512_load_ps(lines.last);
        const __m512 rise0 = _mm512_mul_ps(y0, _mm512_permutexvar_ps(segment0, slope));
        const __m512 rise1 = _mm512_mul_ps(y1, _mm512_permutexvar_ps(segment1, slope));
        const __m512 line0 = _mm512_add_ps(rise0, _mm512_permutexvar_ps(segment0, offset));
        const __m512 line1 = _mm512_add_ps(rise1, _mm512_permutexvar_ps(segment1, offset));
        return {_mm512_min_ps(line0, _mm512_permutexvar_ps(segment0, last)),
                _mm512_min_ps(line1, _mm512_permutexvar_ps(segment1, last))};
    }
};

/// The same for whole blocks, as LineCodes.
struct Avx512Blocks {
    POTLUCK_AVX512_BYTES static POTLUCK_INLINE void mean_values(const std::uint8_t* codes, float scale, float* out) {
        for (std::size_t i = 0; i < optimizer_block; i += Avx512Codes::width) {
            Avx512Codes::mean_values(codes + i, _mm512_set1_ps(scale), out + i);
        }
    }
    POTLUCK_AVX512_BYTES static POTLUCK_INLINE void variance_values(const std::uint8_t* codes, float scale,
                                                                    float* out) {
        for (std::size_t i = 0; i < optimizer_block; i += Avx512Codes::width) {
            Avx512Codes::variance_values(codes + i, _mm512_set1_ps(scale), out + i);
        }
    }
    POTLUCK_AVX512_BYTES static POTLUCK_INLINE void mean_codes(const float* values, float inverse, std::uint8_t* out) {
        for (std::size_t i = 0; i < optimizer_block; i += Avx512Codes::width) {
            Avx512Codes::mean_codes(values + i, _mm512_set1_ps(inverse), out + i);
        }
    }
    POTLUCK_AVX512_BYTES static POTLUCK_INLINE void variance_codes(const float* values, float inverse,
                                                                   std::uint8_t* out) {
        for (std::size_t i = 0; i < optimizer_block; i += Avx512Codes::width) {
            Avx512Codes::variance_codes(values + i, _mm512_set1_ps(inverse), out + i);
        }
    }
};

}  // namespace potluck::numerics

#endif
