// gelu_tanh(x) = x * s(x), where s = 1 / (1 + exp(-2u)) and u = sqrt(2/pi) (x + 0.044715 x^3), because
// (1 + tanh u) / 2 is the logistic function of 2u. The derivative follows: s + x s (1 - s) 2u'.
#include "core/training/elementwise.h"

#include <cstddef>
#include <cstdint>

#include "core/base/check.h"
#include "core/training/exponential.h"
#include "core/training/target_clones.h"

namespace potluck::training {

namespace {

constexpr float twice_root = 1.5957691216057308F;  // 2 sqrt(2/pi)
constexpr float cubic = 0.044715F;

inline float gate(float x) {
    float power = -twice_root * (x + cubic * x * x * x);
    exponentiate<float, std::uint32_t>(power);
    return 1.0F / (1.0F + power);
}

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
