#include "core/training/compute/orthogonal.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "core/base/check.h"
#include "core/training/compute/tensor_guard.h"
#include "core/training/compute/tensor_types.h"

namespace potluck::training {

namespace {

constexpr double coefficient_a = 3.4445, coefficient_b = -4.7750, coefficient_c = 2.0315;
constexpr double norm_min = 1e-30;  // of a momentum: below it is noise of rounding, or nothing at all

/// Newton-Schulz steps on [parts, r, c] with r <= c and norms of at most one.
at::Tensor iterate(at::Tensor x_PRC) {
    for (int step = 0; step < newton_schulz_steps; ++step) {
        const at::Tensor a_PRR = x_PRC.bmm(x_PRC.transpose(1, 2));
        const at::Tensor b_PRR = at::baddbmm(a_PRR, a_PRR, a_PRR, coefficient_b, coefficient_c);
        x_PRC = at::baddbmm(x_PRC, b_PRR, x_PRC, coefficient_a, 1);
    }
    return x_PRC;
}

}  // namespace

Status orthogonalise(std::span<float> matrix, const MatrixShape& shape, double scale, const MatrixWork& work) {
    POTLUCK_CHECK(matrix.size() == shape.rows * shape.columns && shape.columns % shape.parts == 0);
    return guarded([&]() -> Status {
        const c10::InferenceMode inference;
        const auto rows = static_cast<std::int64_t>(shape.rows), parts = static_cast<std::int64_t>(shape.parts);
        const std::int64_t columns = static_cast<std::int64_t>(shape.columns) / parts;
        const at::Tensor m_PRC = at::from_blob(matrix.data(), {rows, parts, columns}, at::kFloat).transpose(0, 1);
        at::Tensor x_PRC = m_PRC.to(device_of(work.device)).contiguous();
        const at::Tensor norm_P11 = at::linalg_vector_norm(x_PRC, 2, at::IntArrayRef{1, 2}, true);
        const at::Tensor usable_P11 = at::isfinite(norm_P11).logical_and(norm_P11 > norm_min);
        x_PRC = at::where(usable_P11, x_PRC / norm_P11, at::zeros({}, x_PRC.options())).to(type_of(work.products));
        const bool tall = rows > columns;
        if (tall) x_PRC = x_PRC.transpose(1, 2).contiguous();
        x_PRC = iterate(x_PRC);
        if (tall) x_PRC = x_PRC.transpose(1, 2);
        m_PRC.copy_(x_PRC.to(at::kFloat).mul_(scale));
        return {};
    });
}

}  // namespace potluck::training
