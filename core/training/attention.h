// Causal multi-head attention between the qkv projection and the merge projection, forward and backward. Three
// kernels that agree: ours (attention_blocked.h), LibTorch's fused one, which never holds the T x T scores either, and
// the plain one, which can drop probabilities out. Only for files that name tensors.
#pragma once

#include <ATen/ATen.h>

#include "core/training/decoder.h"

namespace potluck::training {

struct AttentionShape {
    std::int64_t batch = 0, time = 0, heads = 0, width = 0;   // D = width / heads
    double dropout = 0;                                      // 0 in evaluation
};

/// What the backward pass needs again.
struct AttentionCache {
    at::Tensor q_BHTD, k_BHTD, v_BHTD;   // views of the projection
    at::Tensor qkv_N3C, out_NC;          // blocked
    at::Tensor out_BHTD;                 // fused
    at::Tensor logsumexp_BHT;            // blocked, fused
    at::Tensor probabilities_BHTT;       // plain
    at::Tensor mask_BHTT;                // plain with dropout: 0 or 1 / (1 - dropout)
};

/// qkv_N3C (fp32, N = B*T rows) to the heads' outputs side by side: (N, C).
[[nodiscard]] at::Tensor attend(const at::Tensor& qkv_N3C, const AttentionShape& shape, AttentionKernel kernel,
                                AttentionCache& cache);
/// Gradient of the projection, (N, 3C), from that of `attend`'s result.
[[nodiscard]] at::Tensor attend_backward(const at::Tensor& dout_NC, const AttentionShape& shape, AttentionKernel kernel,
                                         const AttentionCache& cache);

}  // namespace potluck::training
