// One block of 8-bit moments with AVX-512, a block behind: while one block is stepped, the codes of the block before
// are made, which need that block's largest magnitudes first. The two take turns every sixteen numbers, so that a
// processor finds work of both kinds within its sight.
//
// x86 only. Threads: one per PendingBlock. Owns: the moments that wait for their codes.
#pragma once

#include <array>
#include <cstdint>

#include "core/numerics/optimizer/optimizer_arithmetic.h"
#include "core/numerics/optimizer/optimizer_codes_avx512.h"

namespace potluck::numerics {

/// Moments that are stepped and not yet coded.
struct PendingBlock {
    alignas(64) std::array<std::array<float, optimizer_block>, 2> mean;
    alignas(64) std::array<std::array<float, optimizer_block>, 2> variance;
    alignas(64) std::array<std::uint8_t, optimizer_block> nowhere;  // where codes go if none wait
    std::size_t waiting = 0;                                        // which of the two
    std::uint8_t* mean_codes = nullptr;                             // null if none wait
    std::uint8_t* variance_codes = nullptr;
    float mean_inverse = 0, variance_inverse = 0;
};

#if POTLUCK_X86_ISAS

/// A block's largest magnitudes so far, and which lanes took part at all.
struct Avx512Most {
    __m512i mean, variance;
    __mmask16 any;
};

/// Asks for what the next blocks but one will read; a hint, also beyond the end.
POTLUCK_AVX512_BYTES POTLUCK_INLINE void prefetch(const float* at) {
    constexpr std::uintptr_t ahead = 2 * optimizer_block * sizeof(float);
    _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(at) + ahead), _MM_HINT_T0);
}

/// Sixteen numbers of a step on their way.
struct Avx512Sixteen {
    __m512 parameters, mean, root;
    __mmask16 part;
};

/// Steps the moments at `mean` and `variance` and begins with what the parameters move by.
POTLUCK_AVX512_BYTES POTLUCK_INLINE Avx512Sixteen step_moments(const arithmetic::StepConstants& c,
                                                               const float* parameters, const float* gradient,
                                                               float* mean, float* variance, Avx512Most& most) {
    const __m512 p = _mm512_loadu_ps(parameters);
    const __m512 g = _mm512_mul_ps(_mm512_loadu_ps(gradient), _mm512_set1_ps(c.scale));
    const __m512 square = _mm512_mul_ps(g, g);
    // A parameter that is not finite turns this into NaN; a finite one adds a zero.
    const __m512 checked = _mm512_fmadd_ps(p, _mm512_setzero_ps(), square);
    const __mmask16 part = _mm512_cmp_ps_mask(checked, _mm512_set1_ps(arithmetic::square_max), _CMP_LE_OQ);
    const __m512 m0 = _mm512_load_ps(mean), v0 = _mm512_load_ps(variance);
    const __m512 m = _mm512_mask_add_ps(m0, part, _mm512_mul_ps(_mm512_set1_ps(c.beta1), m0),
                                        _mm512_mul_ps(_mm512_set1_ps(c.one_minus_beta1), g));
    const __m512 v = _mm512_mask_add_ps(v0, part, _mm512_mul_ps(_mm512_set1_ps(c.beta2), v0),
                                        _mm512_mul_ps(_mm512_set1_ps(c.one_minus_beta2), square));
    _mm512_store_ps(mean, m);
    _mm512_store_ps(variance, v);
    // As integers, which order floats above zero alike and leave the multipliers alone.
    most.mean = _mm512_max_epu32(most.mean, _mm512_and_si512(_mm512_castps_si512(m), _mm512_set1_epi32(0x7fffffff)));
    most.variance = _mm512_max_epu32(most.variance, _mm512_castps_si512(v));
    most.any = _kor_mask16(most.any, part);
    return {p, m, _mm512_sqrt_ps(v), part};
}

POTLUCK_AVX512_BYTES POTLUCK_INLINE __m512 direction(const arithmetic::StepConstants& c, const Avx512Sixteen& of) {
    return _mm512_div_ps(_mm512_mul_ps(_mm512_set1_ps(c.step_size), of.mean),
                         _mm512_add_ps(of.root, _mm512_set1_ps(c.epsilon)));
}

template <bool Lamb>
POTLUCK_AVX512_BYTES POTLUCK_INLINE void step_parameters(const arithmetic::StepConstants& c, float factor,
                                                         const Avx512Sixteen& of, __m512 direction, float* parameters) {
    const __m512 p = of.parameters;
    __m512 after;
    if constexpr (Lamb) {
        const __m512 update = _mm512_add_ps(direction, _mm512_mul_ps(_mm512_set1_ps(c.decay), p));
        after = _mm512_mask_sub_ps(p, of.part, p, _mm512_mul_ps(_mm512_set1_ps(factor), update));
    } else {
        after = _mm512_mask_sub_ps(p, of.part, _mm512_mul_ps(p, _mm512_set1_ps(c.decay_factor)), direction);
    }
    _mm512_storeu_ps(parameters, after);
}

/// Codes what waits.
POTLUCK_AVX512_BYTES inline void flush_avx512(PendingBlock& pending) {
    if (pending.mean_codes == nullptr) return;
    for (std::size_t i = 0; i < optimizer_block; i += Avx512Codes::width) {
        Avx512Codes::mean_codes(pending.mean[pending.waiting].data() + i, _mm512_set1_ps(pending.mean_inverse),
                                pending.mean_codes + i);
        Avx512Codes::variance_codes(pending.variance[pending.waiting].data() + i,
                                    _mm512_set1_ps(pending.variance_inverse), pending.variance_codes + i);
    }
    pending.mean_codes = pending.variance_codes = nullptr;
}

/// Steps a block and codes the one before. `Block` is optimizer_step.cpp's.
template <bool Lamb, class Block>
POTLUCK_AVX512_BYTES void step_block_avx512(const Block& block, const arithmetic::StepConstants& constants,
                                            float factor, PendingBlock& pending) {
    const arithmetic::StepConstants c = constants;
    float* const mean = pending.mean[pending.waiting ^ 1U].data();
    float* const variance = pending.variance[pending.waiting ^ 1U].data();
    const float* const mean_before = pending.mean[pending.waiting].data();
    const float* const variance_before = pending.variance[pending.waiting].data();
    const bool waits = pending.mean_codes != nullptr;
    std::uint8_t* const mean_out = waits ? pending.mean_codes : pending.nowhere.data();
    std::uint8_t* const variance_out = waits ? pending.variance_codes : pending.nowhere.data();
    const __m512 mean_inverse = _mm512_set1_ps(pending.mean_inverse);
    const __m512 variance_inverse = _mm512_set1_ps(pending.variance_inverse);
    const __m512 mean_scale = _mm512_set1_ps(*block.mean_scale), variance_scale = _mm512_set1_ps(*block.variance_scale);
#ifndef NODECODE
    // Loops of their own, so that each map stays in registers.
    for (std::size_t i = 0; i < optimizer_block; i += Avx512Codes::width) {
        Avx512Codes::mean_values(block.mean_codes + i, mean_scale, mean + i);
    }
    for (std::size_t i = 0; i < optimizer_block; i += Avx512Codes::width) {
        Avx512Codes::variance_values(block.variance_codes + i, variance_scale, variance + i);
    }
#endif
    Avx512Most most{_mm512_setzero_si512(), _mm512_setzero_si512(), 0};
    float* const parameters = block.parameters;
    const float* const gradient = block.gradient;
    for (std::size_t i = 0; i < optimizer_block; i += Avx512Codes::width) {
        Avx512Codes::TwoCodes means[2], variances[2];
#pragma GCC unroll 2
        for (std::size_t j = 0; j < 2; ++j) {
            const std::size_t at = i + 32 * j, next = at + 16;
            prefetch(parameters + at);
            prefetch(gradient + at);
            const Avx512Sixteen first = step_moments(c, parameters + at, gradient + at, mean + at, variance + at, most);
            prefetch(parameters + next);
            prefetch(gradient + next);
            const Avx512Sixteen second =
                step_moments(c, parameters + next, gradient + next, mean + next, variance + next, most);
            means[j] = Avx512Codes::two_means(mean_before + at, mean_inverse);
            const __m512 first_way = direction(c, first), second_way = direction(c, second);
            variances[j] = Avx512Codes::two_variances(variance_before + at, variance_inverse);
            step_parameters<Lamb>(c, factor, first, first_way, parameters + at);
            step_parameters<Lamb>(c, factor, second, second_way, parameters + next);
        }
        Avx512Codes::put_means(means[0], means[1], mean_out + i);
        Avx512Codes::put_variances(variances[0], variances[1], variance_out + i);
    }
    pending.mean_codes = pending.variance_codes = nullptr;
    if (most.any == 0) return;
    *block.mean_scale = arithmetic::scale_of(arithmetic::float_of(_mm512_reduce_max_epu32(most.mean)));
    *block.variance_scale = arithmetic::scale_of(arithmetic::float_of(_mm512_reduce_max_epu32(most.variance)));
    pending.waiting ^= 1U;
    pending.mean_codes = block.mean_codes;
    pending.variance_codes = block.variance_codes;
    pending.mean_inverse = arithmetic::inverse_of(*block.mean_scale);
    pending.variance_inverse = arithmetic::inverse_of(*block.variance_scale);
}

#endif

}  // namespace potluck::numerics
