// Passes over rows on an NVIDIA GPU by the plug-in potluck_cuda (core/training/cuda/), for those operations of
// operations.h of which LibTorch makes several passes over memory. Only for files that name tensors.
//
// Threads: one at a time per device. Owns: the opened library, which stays open until the program ends. Throws as
// LibTorch does.
#pragma once

#include <memory>

#include "core/training/compute/operations.h"

struct PotluckCudaColumns;

namespace potluck::training {

class CudaRows {
public:
    /// Null where the plug-in is missing, of another version, or finds no GPU.
    [[nodiscard]] static std::shared_ptr<const CudaRows> open();

    /// Whether a norm's backward pass has room for rows so wide.
    [[nodiscard]] static bool takes_norm(std::int64_t width);

    // As in operations.h, of contiguous tensors.
    [[nodiscard]] at::Tensor norm(const at::Tensor& x_NC, const NormWeights& w, at::ScalarType as,
                                  NormCache& cache) const;
    void norm_backward(const at::Tensor& dy_NC, const NormCache& cache, const NormWeights& w,
                       const Operations::NormGradients& out) const;
    /// d in `as`, a type of 16 bits.
    [[nodiscard]] at::Tensor narrow(const at::Tensor& d_NC, at::ScalarType as, const at::Tensor& sums_C) const;
    void activation_backward(model::Activation function, const at::Tensor& x_NF, const at::Tensor& dy_NF,
                             const at::Tensor& sums_F) const;
    void add_column_sums(const at::Tensor& x_NO, const at::Tensor& sums_O) const;
    [[nodiscard]] at::Tensor gated(const at::Tensor& x_NU) const;
    void gated_backward(const at::Tensor& x_NU, const at::Tensor& dy_NF) const;
    void rotate(const at::Tensor& x_NQ, const RotaryAngles& angles, std::int64_t heads, std::int64_t time,
                Operations::Turn turn) const;
    /// Losses of the rows, fp32; rows of logits may lie apart.
    [[nodiscard]] at::Tensor cross_entropy(const at::Tensor& logits_NV, const at::Tensor& targets_N,
                                           double scale) const;

private:
    struct Functions;
    explicit CudaRows(std::shared_ptr<const Functions> functions) : m_functions(std::move(functions)) {}
    void queue_columns(PotluckCudaColumns columns, const at::Tensor& rows, const at::Tensor& sums) const;

    std::shared_ptr<const Functions> m_functions;
};

}  // namespace potluck::training
