// What models do between and around their matrix products, on tensors: each operation is one of elementwise.h's where
// the tensors lie on a processor in fp32 or bf16, and else a few of LibTorch's, which run on any device. A test holds
// the two together. Only for files that name tensors.
//
// Threads: one at a time; rows are shared among LibTorch's threads. Owns nothing.
#pragma once

#include <cstdint>
#include <memory>

#include <ATen/ATen.h>

#include "core/model/model_spec.h"
#include "core/training/memory/layout.h"

namespace potluck::training {

/// Which entries a dropout drops: a function of the seed alone.
struct Drop {
    double rate = 0;
    std::uint64_t seed = 0;
};

/// A norm's parameters. Without a bias it is an RMS norm, which subtracts no mean (Zhang, Sennrich 2019).
struct NormWeights {
    at::Tensor gain_C, bias_C;
    double epsilon = 1e-5;
    [[nodiscard]] bool is_rms() const { return !bias_C.defined(); }
};

/// What the backward pass of a norm needs: its input in fp32 and the statistics of its rows.
struct NormCache {
    at::Tensor x_NC, mean_N1, rstd_N1;  // no mean for an RMS norm
};

/// The angles of rotary positions, fp32 on the compute device: row t those of position t.
struct RotaryAngles {
    at::Tensor cosines_TR, sines_TR;  // R = D / 2; undefined where positions are learned
};

class CudaRows;

class Operations {
public:
    /// `type`: of the products' operands.
    Operations(at::ScalarType type, at::Device device, Kernels kernels);
    [[nodiscard]] at::ScalarType type() const { return m_type; }
    [[nodiscard]] at::Device device() const { return m_device; }
    [[nodiscard]] bool is_own() const { return m_own; }
    [[nodiscard]] at::TensorOptions fp32() const { return at::TensorOptions(at::kFloat).device(m_device); }

    /// The norm of fp32 rows, in `as`: the products' type or fp32.
    [[nodiscard]] at::Tensor norm(const at::Tensor& x_NC, const NormWeights& w, at::ScalarType as,
                                  NormCache& cache) const;
    struct NormGradients {
        at::Tensor dx_NC, dgain_C, dbias_C;  // all added to; no dbias for an RMS norm
    };
    void norm_backward(const at::Tensor& dy_NC, const NormCache& cache, const NormWeights& w,
                       const NormGradients& out) const;

    /// x + dropout(y), in fp32.
    [[nodiscard]] at::Tensor add(const at::Tensor& x_NC, const at::Tensor& y_NC, const Drop& drop) const;
    /// dropout'(d) in the products' type; its column sums are added to `sums_C` if that is defined.
    [[nodiscard]] at::Tensor narrow(const at::Tensor& d_NC, const at::Tensor& sums_C, const Drop& drop) const;
    /// dropout(x) or, which is the same, its derivative; fp32.
    [[nodiscard]] at::Tensor dropped(const at::Tensor& x_NC, const Drop& drop) const;

    [[nodiscard]] at::Tensor activation(model::Activation function, const at::Tensor& x_NF) const;
    /// May overwrite dy; column sums of the result are added to `sums_F`.
    [[nodiscard]] at::Tensor activation_backward(model::Activation function, const at::Tensor& x_NF,
                                                 const at::Tensor& dy_NF, const at::Tensor& sums_F) const;
    /// silu(gate) * up of rows that hold F gates and then F values of up (U = 2 F).
    [[nodiscard]] at::Tensor gated(const at::Tensor& x_NU) const;
    /// Gradient of its argument, which may be overwritten.
    [[nodiscard]] at::Tensor gated_backward(const at::Tensor& x_NU, const at::Tensor& dy_NF) const;

    /// The angles of `time` positions for heads of `depth` entries.
    [[nodiscard]] RotaryAngles rotary_angles(std::int64_t time, std::int64_t depth, double theta) const;
    enum class Turn { forward, back };
    /// Turns the first `heads` heads of every row of `x_NQ` in place; row n stands at position n % time.
    void rotate(const at::Tensor& x_NQ, const RotaryAngles& angles, std::int64_t heads, std::int64_t time,
                Turn turn) const;

    void add_column_sums(const at::Tensor& x_NO, const at::Tensor& sums_O) const;

    /// dw_IO += x_NI^T dy_NO. `dw_IO` is fp32 and may be a transposed view; `x_NI` and `dy_NO` are in the products'
    /// type.
    void add_product(const at::Tensor& dw_IO, const at::Tensor& x_NI, const at::Tensor& dy_NO) const;
    /// sum += x of the same shape, rounded once; on sum's device.
    void accumulate(const at::Tensor& sum, const at::Tensor& x) const;

    /// Sum of -ln softmax(logits)[target]; with a scale other than zero, `logits_NV` become scale * d loss / d logits.
    /// On a GPU rows may lie apart.
    [[nodiscard]] double cross_entropy(at::Tensor& logits_NV, const at::Tensor& targets_N, double scale) const;
    /// The same, left where the logits are, so that nobody waits for a GPU: one number, fp64.
    [[nodiscard]] at::Tensor cross_entropy_sum(at::Tensor& logits_NV, const at::Tensor& targets_N, double scale) const;
    /// Bytes that `cross_entropy` and its argument hold per row of logits.
    [[nodiscard]] std::int64_t cross_entropy_row_bytes(std::int64_t vocabulary) const;

private:
    void library_norm_backward(const at::Tensor& dy_NC, const NormCache& cache, const NormWeights& w,
                               const NormGradients& out) const;

    at::ScalarType m_type;
    at::Device m_device;
    bool m_own;
    std::shared_ptr<const CudaRows> m_rows;  // on an NVIDIA GPU
};

/// A row seed's worth of dropout factors, 1 / (1 - rate) or 0, by LibTorch's generator of the device.
[[nodiscard]] at::Tensor dropout_mask(const at::Tensor& like, const Drop& drop);

}  // namespace potluck::training
