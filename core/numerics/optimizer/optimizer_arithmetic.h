// The arithmetic of one number of an optimizer step (optimizer.h), shared by the plain version, the vectorised one and
// the CUDA kernels: whatever compiles this, with products and sums rounded one by one, gets the same bits.
//
// Does not: decide which numbers form a block. Threads: any.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/base/mix.h"
#include "core/numerics/cpu_dispatch.h"

#if defined(__CUDACC__)
#define POTLUCK_BOTH __host__ __device__ __forceinline__
#else
#define POTLUCK_BOTH POTLUCK_INLINE
#endif

namespace potluck::numerics::arithmetic {

/// Above this square a gradient counts as not finite: its moments could overflow.
inline constexpr float square_max = 0x1p120F;
/// A block whose largest magnitude is below this is stored as zeros: no quotient overflows, and moments that fade away
/// never linger as denormals, which are slow.
inline constexpr float scale_min = 0x1p-100F;
/// LAMB's norms are sums of sums: 16 lanes of a block, lanes as a tree, blocks of a piece, pieces of a slice.
inline constexpr std::uint64_t lanes = 16;
inline constexpr std::uint64_t piece_blocks = 256;

/// What a step multiplies and adds, rounded once from double.
struct StepConstants {
    float scale = 1;
    float beta1 = 0, one_minus_beta1 = 0;
    float beta2 = 0, one_minus_beta2 = 0;
    // With r = sqrt(1 - beta2^t), by which numerator and denominator of the direction are multiplied; LAMB's moments
    // may go without, r = 1 and no division:
    float epsilon = 0;       // epsilon r
    float step_size = 0;     // AdamW: learning rate r / (1 - beta1^t); LAMB: r / (1 - beta1^t)
    float decay_factor = 1;  // AdamW: 1 - learning rate * decay
    float decay = 0;         // LAMB: decay
};

/// The numbers of `StepHyperparams` that matter here, as a GPU's host side gets them too.
struct StepScalars {
    bool lamb = false;
    bool debiased_moments = true;
    double learning_rate = 0, beta1 = 0, beta2 = 0, epsilon = 0, gradient_scale = 1;
    std::uint64_t step = 1;
    float weight_decay = 0;
};

/// By multiplications alone, which round alike everywhere.
inline double power(double base, std::uint64_t exponent) {
    double result = 1;
    for (double square = base; exponent != 0; exponent >>= 1U, square *= square) {
        if ((exponent & 1U) != 0) result *= square;
    }
    return result;
}

/// What a learning rate is multiplied by where it makes up for moments that begin at zero.
inline double rate_correction(double beta1, double beta2, std::uint64_t step) {
    return std::sqrt(1 - power(beta2, step)) / (1 - power(beta1, step));
}

inline StepConstants constants_of(const StepScalars& numbers) {
    const bool debiased = numbers.debiased_moments;
    const double bias_correction1 = debiased ? 1 - power(numbers.beta1, numbers.step) : 1;
    const double root = debiased ? std::sqrt(1 - power(numbers.beta2, numbers.step)) : 1;
    const double decay = numbers.weight_decay;
    StepConstants out;
    out.scale = static_cast<float>(numbers.gradient_scale);
    out.beta1 = static_cast<float>(numbers.beta1);
    out.one_minus_beta1 = static_cast<float>(1 - numbers.beta1);
    out.beta2 = static_cast<float>(numbers.beta2);
    out.one_minus_beta2 = static_cast<float>(1 - numbers.beta2);
    out.epsilon = static_cast<float>(numbers.epsilon * root);
    out.step_size = static_cast<float>((numbers.lamb ? 1 : numbers.learning_rate) * root / bias_correction1);
    out.decay_factor = static_cast<float>(1 - numbers.learning_rate * decay);
    out.decay = static_cast<float>(decay);
    return out;
}

POTLUCK_BOTH std::uint32_t bits_of(float x) {
    std::uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
POTLUCK_BOTH float float_of(std::uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
POTLUCK_BOTH std::uint32_t magnitude_bits(float x) { return bits_of(x) & 0x7fffffffU; }
POTLUCK_BOTH float magnitude(float x) { return float_of(magnitude_bits(x)); }

/// Whether the number takes part: a gradient (scaled already) whose square is in bounds, a finite parameter.
POTLUCK_BOTH bool takes_part(float gradient, float parameter) {
    const bool bounded = magnitude_bits(gradient * gradient) <= 0x7b800000U;  // square_max
    return bounded & (magnitude_bits(parameter) < 0x7f800000U);
}
POTLUCK_BOTH float next_mean(const StepConstants& c, float mean, float gradient) {
    return c.beta1 * mean + c.one_minus_beta1 * gradient;
}
POTLUCK_BOTH float next_variance(const StepConstants& c, float variance, float gradient) {
    return c.beta2 * variance + c.one_minus_beta2 * (gradient * gradient);
}
POTLUCK_BOTH float direction(const StepConstants& c, float mean, float variance) {
    return (c.step_size * mean) / (sqrtf(variance) + c.epsilon);
}
POTLUCK_BOTH float adamw_stepped(const StepConstants& c, float parameter, float mean, float variance) {
    return parameter * c.decay_factor - direction(c, mean, variance);
}
POTLUCK_BOTH float lamb_update(const StepConstants& c, float parameter, float mean, float variance) {
    return direction(c, mean, variance) + c.decay * parameter;
}

/// LAMB's step length from the sums of squares of the parameters and of the update.
POTLUCK_BOTH float lamb_factor(double learning_rate, double trust_max, double parameter_squares,
                               double update_squares) {
    double length = sqrt(parameter_squares);
    if (length > trust_max) length = trust_max;
    const double update = sqrt(update_squares);
    const double ratio = length > 0 && update > 0 ? length / update : 1.0;
    return static_cast<float>(learning_rate * ratio);
}

/// What a block's moments are multiplied with before they are coded; 0 if they count as zero.
POTLUCK_BOTH float scale_of(float largest) { return largest < scale_min ? 0.0F : largest; }
POTLUCK_BOTH float inverse_of(float scale) { return scale > 0.0F ? 1.0F / scale : 0.0F; }

/// The code of a magnitude in [0, 1] by the straight lines of dynamic_map.h.
POTLUCK_BOTH std::uint32_t line_code(float y, const float* above, const float* slope, const float* offset,
                                     const float* last) {
    float a = slope[0], b = offset[0], most = last[0];
    for (int i = 1; i < 9; ++i) {
        const bool reached = y > above[i];
        a = reached ? slope[i] : a;
        b = reached ? offset[i] : b;
        most = reached ? last[i] : most;
    }
    const float line = y * a + b;
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(line < most ? line : most));
}
POTLUCK_BOTH std::uint32_t signed_code(float y, std::uint32_t size) {
    const std::uint32_t small = size < 127U ? size : 127U;
    return (bits_of(y) >> 31U) != 0 ? 127U - small : 127U + size;
}

/// One key per block, from the seed and the flat index of the block's first number (two rounds of SplitMix64).
POTLUCK_BOTH std::uint32_t block_key(std::uint64_t seed, std::uint64_t first_index) {
    return static_cast<std::uint32_t>(mix64(mix64(seed) ^ first_index) >> 32U);
}
/// 16 random bits of the block's number `place`.
POTLUCK_BOTH std::uint32_t noise(std::uint32_t key, std::uint32_t place) {
    std::uint32_t x = key + place * 0x9e3779b9U;
    x = (x ^ (x >> 16U)) * 0x21f0aaadU;
    x = (x ^ (x >> 15U)) * 0x735a2d97U;
    return (x ^ (x >> 15U)) >> 16U;
}
/// Stochastic rounding to the upper half: the noise carries into it as often as the lower half is large. What a
/// bfloat16 holds exactly stays; nothing finite is rounded to infinity.
POTLUCK_BOTH std::uint32_t upper_half(float x, std::uint32_t noise_bits) {
    const std::uint32_t size = magnitude_bits(x);
    const std::uint32_t most = size < 0x7f800000U ? 0x7f7fffffU : 0x7fffffffU;
    const std::uint32_t rounded = size + (size < 0x7f800000U ? noise_bits : 0U);
    return ((rounded < most ? rounded : most) | (bits_of(x) & 0x80000000U)) >> 16U;
}

}  // namespace potluck::numerics::arithmetic
