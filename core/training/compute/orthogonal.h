// The nearest matrix with singular values near one: what Muon (Jordan 2024; arXiv 2505.23725) takes instead of a
// momentum M. Newton-Schulz steps on X = M / |M|, transposed if it is tall:
//
//   A = X X^T;   X = a X + (b A + c A A) X        five times, (a, b, c) = (3.4445, -4.7750, 2.0315)
//
// The coefficients leave singular values between about 0.7 and 1.2 and need no more than bf16. This is one computer's
// own arithmetic: its last bits depend on the device.
//
// Does not: know optimizers, rates or models.
// Threads: the one that owns the tensors.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/result.h"
#include "core/training/memory/layout.h"

namespace potluck::training {

/// `parts` matrices of [rows, columns / parts] side by side in one of [rows, columns], row-major.
struct MatrixShape {
    std::uint64_t rows = 0, columns = 0;
    std::uint32_t parts = 1;
};

/// Where the products run, and in which numbers.
struct MatrixWork {
    DeviceId device;
    Dtype products = Dtype::fp32;
};

inline constexpr int newton_schulz_steps = 5;

/// Replaces each part by its orthogonalisation times `scale`; one that is zero or not finite by zeros.
[[nodiscard]] Status orthogonalise(std::span<float> matrix, const MatrixShape& shape, double scale,
                                   const MatrixWork& work);

}  // namespace potluck::training
