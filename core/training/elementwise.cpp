// gelu_tanh(x) = x * s(x), where s = 1 / (1 + exp(-2u)) and u = sqrt(2/pi) (x + 0.044715 x^3), because
// (1 + tanh u) / 2 is the logistic function of 2u. The derivative follows: s + x s (1 - s) 2u'.
#include "core/training/elementwise.h"

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/base/check.h"
#include "core/training/target_clones.h"

namespace potluck::training {

namespace {

constexpr float twice_root = 1.5957691216057308F;  // 2 sqrt(2/pi)
constexpr float cubic = 0.044715F;

/// e^x for |x| <= 87: 2^n by the exponent's bits, 2^f by a polynomial on |f| <= 1/2. No branch and no call.
inline float exponential(float x) {
    constexpr float round_magic = 12582912.0F;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
    x = x < -87.0F ? -87.0F : x;
    x = x > 87.0F ? 87.0F : x;
    const float shifted = x * 1.44269504088896341F + round_magic;
    const float whole = shifted - round_magic;
    const float rest = (x - whole * 0.693359375F) + whole * 2.12194440e-4F;  // ln 2 in two parts (Cody, Waite)
    float series = 1.9875691500e-4F;
    series = series * rest + 1.3981999507e-3F;
    series = series * rest + 8.3334519073e-3F;
    series = series * rest + 4.1665795894e-2F;
    series = series * rest + 1.6666665459e-1F;
    series = series * rest + 5.0000001201e-1F;
    series = series * rest * rest + rest + 1.0F;
    const std::uint32_t power = (std::bit_cast<std::uint32_t>(shifted) + 127U) << 23U;
    return series * std::bit_cast<float>(power);
}

inline float gate(float x) { return 1.0F / (1.0F + exponential(-twice_root * (x + cubic * x * x * x))); }

POTLUCK_VECTOR_CLONES void forward_span(const float* x, float* y, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) y[i] = x[i] * gate(x[i]);
}

POTLUCK_VECTOR_CLONES void backward_span(const float* x, float* dy, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        const float s = gate(x[i]);
        const float slope = twice_root * (1.0F + 3.0F * cubic * x[i] * x[i]);
        dy[i] *= s + x[i] * s * (1.0F - s) * slope;
    }
}

}  // namespace

void gelu_tanh(std::span<const float> x, std::span<float> y) {
    POTLUCK_CHECK(x.size() == y.size());
    forward_span(x.data(), y.data(), x.size());
}

void gelu_tanh_backward(std::span<const float> x, std::span<float> dy) {
    POTLUCK_CHECK(x.size() == dy.size());
    backward_span(x.data(), dy.data(), x.size());
}

}  // namespace potluck::training
