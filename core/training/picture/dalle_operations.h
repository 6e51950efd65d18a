// What lies between the matrix products of DALL-E's layers, on tensors in fp32, forward and backward: passes of ours
// over rows on a processor (shifted_rows.h), and else a few of LibTorch's operations, which run on any device. A test
// holds the two together. Rows of records lie one behind the other, T of each: (N, ...) with N = B T.
//
// Threads: one at a time; rows are shared among LibTorch's threads. Owns: where rows are shifted from and to, and the
// angles of positions. Private to this room.
#pragma once

#include <ATen/ATen.h>

#include "core/model/model_spec.h"
#include "core/training/compute/model.h"
#include "core/training/compute/operations.h"

namespace potluck::training {

class DalleOperations {
public:
    DalleOperations(const model::ModelSpec& spec, at::Device device, Kernels kernels);
    /// Those that all families have.
    [[nodiscard]] const Operations& common() const { return m_common; }

    /// The norm, of which half of a caption's channels are those of the row before, and a quarter of a code's those of
    /// the code above and of the code to the left.
    [[nodiscard]] at::Tensor shifted_norm(const at::Tensor& x_NC, const NormWeights& w, std::int64_t time,
                                          NormCache& cache) const;
    void shifted_norm_backward(const at::Tensor& dy_NC, const NormCache& cache, const NormWeights& w, std::int64_t time,
                               const Operations::NormGradients& out) const;

    /// value * gelu(gate) of rows that hold F values, then F gates (U = 2 F).
    [[nodiscard]] at::Tensor gated(const at::Tensor& x_NU) const;
    /// Gradient of its argument, which may be overwritten; its column sums are added to `sums_U`.
    [[nodiscard]] at::Tensor gated_backward(const at::Tensor& x_NU, const at::Tensor& dy_NF,
                                            const at::Tensor& sums_U) const;

    /// The gradient of y in stream + scale y, where y has a bias; those of scale and bias are added to.
    struct Branch {
        at::Tensor y_NC, scale_C, dscale_C, dbias_C;
    };
    [[nodiscard]] at::Tensor branch_backward(const at::Tensor& d_NC, const Branch& branch) const;

    /// Turns queries, keys and values of every head in place.
    void turn(const at::Tensor& x_NQ, std::int64_t time, Operations::Turn way) const;

private:
    [[nodiscard]] at::Tensor shifted(const at::Tensor& x_NC, std::int64_t time, const at::Tensor& rows_T4) const;

    bool m_own;
    Operations m_common;
    at::Tensor m_sources_T4, m_targets_T4;  // int32; -1: none
    at::Tensor m_cosines_TD, m_sines_TD;    // of each entry, as shifted_rows.h has them
};

}  // namespace potluck::training
