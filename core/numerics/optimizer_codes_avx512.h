// A block's codes and values with AVX-512: both maps and their lines are small enough for tables in registers, and
// permutations look up 16 or 32 numbers at a time.
//
// Does not: exist for other processors. Threads: any.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/numerics/dynamic_map.h"
#include "core/numerics/optimizer.h"
#include "core/numerics/paths.h"

#if POTLUCK_X86_PATHS
#include <immintrin.h>

namespace potluck::numerics {

/// The halves of a map's values, for lookups of 16 bits.
template <std::size_t Count>
struct HalfMap {
    alignas(64) std::uint16_t lower[Count];
    alignas(64) std::uint16_t upper[Count];
};
template <std::size_t Count>
constexpr HalfMap<Count> halves_of(const float* values) {
    HalfMap<Count> out{};
    for (std::size_t i = 0; i < Count; ++i) {
        const auto bits = std::bit_cast<std::uint32_t>(values[i]);
        out.lower[i] = static_cast<std::uint16_t>(bits & 0xffffU);
        out.upper[i] = static_cast<std::uint16_t>(bits >> 16U);
    }
    return out;
}
inline constexpr HalfMap<128> mean_halves = halves_of<128>(mean_map + mean_zero_code);  // of magnitudes
inline constexpr HalfMap<256> variance_halves = halves_of<256>(variance_map);

/// The lines as tables: what the exponent of a magnitude tells, two powers of two at a time (its segment, in the low
/// four bits of where that ends), and each segment's line.
struct LineTables {
    alignas(64) std::uint32_t ends[16];  // by the four lowest bits of exponent / 2
    alignas(64) float slope[16];
    alignas(64) float offset[16];
    alignas(64) std::int32_t last[16];
};
inline constexpr std::uint32_t least_exponent = 102;  // 2^-25: smaller magnitudes are looked up as this one
constexpr LineTables tables_of(const float* above, const float* slope, const float* offset, const float* last) {
    LineTables out{};
    for (std::uint32_t exponent = least_exponent; exponent < 128; exponent += 2) {
        // From where on the entry counts; the lowest stands for everything below it too.
        const float from = exponent == least_exponent ? 0.0F : std::bit_cast<float>(exponent << 23U);
        std::uint32_t segment = 0;
        while (segment + 1 < map_segments && from > above[segment + 1]) ++segment;
        // Where it ends, or beyond every magnitude with the segment's number as the low bits.
        out.ends[exponent / 2 % 16] =
            segment + 1 < map_segments ? std::bit_cast<std::uint32_t>(above[segment + 1]) : 0x40000000U | segment;
    }
    for (std::size_t i = 0; i < map_segments; ++i) {
        out.slope[i] = slope[i];
        out.offset[i] = offset[i];
        out.last[i] = static_cast<std::int32_t>(last[i]);
    }
    return out;
}
inline constexpr LineTables mean_lines = tables_of(mean_above, mean_slope, mean_offset, mean_last);
inline constexpr LineTables variance_lines = tables_of(variance_above, variance_slope, variance_offset, variance_last);

/// 64 numbers at a time.
struct Avx512Codes {
    static constexpr std::size_t width = 64;

    POTLUCK_AVX512 static POTLUCK_INLINE void mean_values(const std::uint8_t* codes, __m512 scale, float* out) {
        const __m512i zero = _mm512_set1_epi16(mean_zero_code);
        for (std::size_t i = 0; i < width; i += 32) {
            const __m512i code = wide(codes + i);
            const __m512i from_zero = _mm512_sub_epi16(code, zero);
            const __m512i index = _mm512_abs_epi16(from_zero);  // 128 for code 255 alone
            const __mmask32 above64 = _mm512_test_epi16_mask(index, _mm512_set1_epi16(64));
            const __mmask32 within = _mm512_testn_epi16_mask(index, _mm512_set1_epi16(128));
            const __m512i sign = _mm512_and_si512(from_zero, _mm512_set1_epi16(-0x8000));
            const __m512i lower = _mm512_maskz_mov_epi16(within, half(mean_halves.lower, index, above64));
            const __m512i size =
                _mm512_mask_mov_epi16(_mm512_set1_epi16(0x3f80), within, half(mean_halves.upper, index, above64));
            put(lower, _mm512_or_si512(size, sign), scale, out + i);
        }
    }

    POTLUCK_AVX512 static POTLUCK_INLINE void variance_values(const std::uint8_t* codes, __m512 scale, float* out) {
        for (std::size_t i = 0; i < width; i += 32) {
            const __m512i code = wide(codes + i);
            const __mmask32 above64 = _mm512_test_epi16_mask(code, _mm512_set1_epi16(64));
            const __mmask32 above128 = _mm512_test_epi16_mask(code, _mm512_set1_epi16(128));
            const __m512i lower = _mm512_mask_blend_epi16(above128, half(variance_halves.lower, code, above64),
                                                          half(variance_halves.lower + 128, code, above64));
            const __m512i upper = _mm512_mask_blend_epi16(above128, half(variance_halves.upper, code, above64),
                                                          half(variance_halves.upper + 128, code, above64));
            put(lower, upper, scale, out + i);
        }
    }

    /// 64 magnitudes on their way to codes, sixteen by sixteen.
    struct Coded {
        __m512i codes[4];
        __mmask64 negative = 0;
    };
    POTLUCK_AVX512 static POTLUCK_INLINE void add_mean(const float* values, __m512 inverse, std::size_t sixteen,
                                                       Coded& to) {
        const __m512i y = _mm512_castps_si512(_mm512_mul_ps(_mm512_loadu_ps(values + 16 * sixteen), inverse));
        to.codes[sixteen] = line_codes(_mm512_and_si512(y, _mm512_set1_epi32(0x7fffffff)), mean_lines);
        to.negative |= static_cast<__mmask64>(_mm512_movepi32_mask(y)) << (16 * sixteen);
    }
    POTLUCK_AVX512 static POTLUCK_INLINE void add_variance(const float* values, __m512 inverse, std::size_t sixteen,
                                                           Coded& to) {
        const __m512 y = _mm512_mul_ps(_mm512_loadu_ps(values + 16 * sixteen), inverse);
        to.codes[sixteen] = line_codes(_mm512_castps_si512(y), variance_lines);
    }
    POTLUCK_AVX512 static POTLUCK_INLINE void put_means(const Coded& from, std::uint8_t* out) {
        const __m512i zero = _mm512_set1_epi8(mean_zero_code);
        const __m512i size = bytes_of(from.codes);
        const __m512i bounded = _mm512_min_epu8(size, zero);
        _mm512_storeu_si512(out, _mm512_mask_sub_epi8(_mm512_add_epi8(zero, size), from.negative, zero, bounded));
    }
    POTLUCK_AVX512 static POTLUCK_INLINE void put_variances(const Coded& from, std::uint8_t* out) {
        _mm512_storeu_si512(out, bytes_of(from.codes));
    }
    POTLUCK_AVX512 static POTLUCK_INLINE void mean_codes(const float* values, __m512 inverse, std::uint8_t* out) {
        Coded coded;
        for (std::size_t j = 0; j < 4; ++j) add_mean(values, inverse, j, coded);
        put_means(coded, out);
    }
    POTLUCK_AVX512 static POTLUCK_INLINE void variance_codes(const float* values, __m512 inverse, std::uint8_t* out) {
        Coded coded;
        for (std::size_t j = 0; j < 4; ++j) add_variance(values, inverse, j, coded);
        put_variances(coded, out);
    }

private:
    /// 32 codes as 16-bit numbers, in the order in which `put` finds the first 16 and the last 16 again.
    POTLUCK_AVX512 static POTLUCK_INLINE __m512i wide(const std::uint8_t* codes) {
        const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes));
        return _mm512_cvtepu8_epi16(_mm256_permutevar8x32_epi32(bytes, order));
    }
    POTLUCK_AVX512 static POTLUCK_INLINE void put(__m512i lower, __m512i upper, __m512 scale, float* out) {
        const __m512 first = _mm512_castsi512_ps(_mm512_unpacklo_epi16(lower, upper));
        const __m512 second = _mm512_castsi512_ps(_mm512_unpackhi_epi16(lower, upper));
        _mm512_storeu_ps(out, _mm512_mul_ps(first, scale));
        _mm512_storeu_ps(out + 16, _mm512_mul_ps(second, scale));
    }
    /// Halves from a table of 128, by the low seven bits of the index; bit 6 arrives as `above64`.
    POTLUCK_AVX512 static POTLUCK_INLINE __m512i half(const std::uint16_t* table, __m512i index, __mmask32 above64) {
        const __m512i low = _mm512_permutex2var_epi16(_mm512_load_si512(table), index, _mm512_load_si512(table + 32));
        const __m512i high =
            _mm512_permutex2var_epi16(_mm512_load_si512(table + 64), index, _mm512_load_si512(table + 96));
        return _mm512_mask_blend_epi16(above64, low, high);
    }

    /// The codes of 16 magnitudes in [0, 1].
    POTLUCK_AVX512 static POTLUCK_INLINE __m512i line_codes(__m512i bits, const LineTables& lines) {
        const __m512i least = _mm512_set1_epi32(static_cast<int>(least_exponent << 23U));
        const __m512i exponent = _mm512_srli_epi32(_mm512_max_epu32(bits, least), 24);
        const __m512i end = _mm512_permutexvar_epi32(exponent, _mm512_load_si512(lines.ends));
        const __m512 y = _mm512_castsi512_ps(bits);
        const __mmask16 beyond = _mm512_cmp_ps_mask(y, _mm512_castsi512_ps(end), _CMP_GT_OQ);
        const __m512i segment = _mm512_mask_add_epi32(end, beyond, end, _mm512_set1_epi32(1));  // in its low bits
        const __m512 rise = _mm512_mul_ps(y, _mm512_permutexvar_ps(segment, _mm512_load_ps(lines.slope)));
        const __m512 line = _mm512_add_ps(rise, _mm512_permutexvar_ps(segment, _mm512_load_ps(lines.offset)));
        return _mm512_min_epi32(_mm512_cvttps_epi32(line),
                                _mm512_permutexvar_epi32(segment, _mm512_load_si512(lines.last)));
    }

    /// 64 codes below 256, sixteen per vector, as bytes in their order.
    POTLUCK_AVX512 static POTLUCK_INLINE __m512i bytes_of(const __m512i (&codes)[4]) {
        const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        const __m512i packed = _mm512_packus_epi16(_mm512_packs_epi32(codes[0], codes[1]),
                                                   _mm512_packs_epi32(codes[2], codes[3]));
        return _mm512_permutexvar_epi32(order, packed);
    }
};

/// The same for whole blocks, as LineCodes.
struct Avx512Blocks {
    POTLUCK_AVX512 static POTLUCK_INLINE void mean_values(const std::uint8_t* codes, float scale, float* out) {
        for (std::size_t i = 0; i < optimizer_block; i += Avx512Codes::width) {
            Avx512Codes::mean_values(codes + i, _mm512_set1_ps(scale), out + i);
        }
    }
    POTLUCK_AVX512 static POTLUCK_INLINE void variance_values(const std::uint8_t* codes, float scale, float* out) {
        for (std::size_t i = 0; i < optimizer_block; i += Avx512Codes::width) {
            Avx512Codes::variance_values(codes + i, _mm512_set1_ps(scale), out + i);
        }
    }
    POTLUCK_AVX512 static POTLUCK_INLINE void mean_codes(const float* values, float inverse, std::uint8_t* out) {
        for (std::size_t i = 0; i < optimizer_block; i += Avx512Codes::width) {
            Avx512Codes::mean_codes(values + i, _mm512_set1_ps(inverse), out + i);
        }
    }
    POTLUCK_AVX512 static POTLUCK_INLINE void variance_codes(const float* values, float inverse, std::uint8_t* out) {
        for (std::size_t i = 0; i < optimizer_block; i += Avx512Codes::width) {
            Avx512Codes::variance_codes(values + i, _mm512_set1_ps(inverse), out + i);
        }
    }
};

}  // namespace potluck::numerics

#endif
