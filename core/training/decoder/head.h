// The end of a decoder: logits = h head^T, the cross-entropy and its gradient, a few rows at a time, so that at most
// `logits_bytes_max` of logits exist at any vocabulary, on a GPU `gpu_logits_bytes_max`. Only for files that name
// tensors.
//
// Threads: one at a time. Owns nothing.
#pragma once

#include "core/training/compute/operations.h"

namespace potluck::training {

inline constexpr std::int64_t logits_bytes_max = 25'000'000;       // stay in a processor's cache
inline constexpr std::int64_t gpu_logits_bytes_max = 250'000'000;  // fill a GPU

class Head {
public:
    /// `head_VE` in the products' type; `head_magnitude`: of its entries.
    Head(const Operations& operations, const at::Tensor& head_VE, double head_magnitude)
        : m_operations(operations), m_head_VE(head_VE), m_head_magnitude(head_magnitude) {}

    /// Sum of -ln p(target) over the rows of h (products' type).
    [[nodiscard]] double loss(const at::Tensor& h_NE, const at::Tensor& targets_N) const;

    struct Gradient {
        at::Tensor loss;   // one number, fp64, which a GPU may still be computing
        at::Tensor dh_NE;  // the products' type; undefined, and nothing was added, if the loss is not finite
    };
    /// Adds scale * d(loss)/d(head) to `dhead_VE` (fp32).
    [[nodiscard]] Gradient gradient(const at::Tensor& h_NE, const at::Tensor& targets_N, const at::Tensor& dhead_VE,
                                    double scale) const;

private:
    [[nodiscard]] std::int64_t rows_at_once() const;
    [[nodiscard]] std::int64_t even_vocabulary() const;
    [[nodiscard]] at::Tensor logits(const at::Tensor& h_nE) const;
    void backward(const at::Tensor& d_nV, const at::Tensor& h_nE, const at::Tensor& dhead_VE, at::Tensor dh_nE) const;
    [[nodiscard]] bool is_surely_finite(const at::Tensor& h_NE) const;

    const Operations& m_operations;
    at::Tensor m_head_VE;
    double m_head_magnitude;
};

}  // namespace potluck::training
