// Causal multi-head attention between the qkv projection and the output projection, forward and backward. Four kernels
// that agree: ours (attention_blocked.h), LibTorch's fused one for processors, whatever LibTorch has for the device at
// hand, and the plain one. Only the plain one holds the T x T scores. Only for files that name tensors.
#pragma once

#include <ATen/ATen.h>

#include "core/training/compute/operations.h"

namespace potluck::training {

struct AttentionShape {
    std::int64_t batch = 0, time = 0, heads = 0;
    std::int64_t kv_heads = 0;  // K divides H; head h of the queries reads head h / (H / K) of keys and values
    std::int64_t depth = 0;     // D, entries of a head
    Drop drop = {};             // of probabilities; rate 0 in evaluation
    [[nodiscard]] std::int64_t width() const { return heads * depth; }                          // A = H D
    [[nodiscard]] std::int64_t joined_width() const { return (heads + 2 * kv_heads) * depth; }  // Q = (H + 2 K) D
};

enum class AttentionWay { blocked, fused, device, plain };

/// The best way for `wanted`: `blocked` needs a processor and its head sizes, `fused` a processor and no dropout.
[[nodiscard]] AttentionWay attention_way(AttentionKernel wanted, const Operations& operations,
                                         const AttentionShape& shape);

/// What the backward pass needs again beside the projection.
struct AttentionCache {
    at::Tensor out_NA;              // blocked
    at::Tensor out_BHTD;            // fused, device
    at::Tensor logsumexp_BHT;       // blocked, fused, device; undefined where the device keeps nothing
    at::Tensor seed, offset;        // device: of its generator, which nothing is drawn from
    at::Tensor probabilities_BHTT;  // plain
};

/// qkv_NQ (the products' type, N = B*T rows) to the heads' outputs side by side: (N, A).
[[nodiscard]] at::Tensor attend(const at::Tensor& qkv_NQ, const AttentionShape& shape, AttentionWay way,
                                AttentionCache& cache);
/// Gradient of the projection, (N, Q), from that of `attend`'s result; both in the products' type.
[[nodiscard]] at::Tensor attend_backward(const at::Tensor& dout_NA, const at::Tensor& qkv_NQ,
                                         const AttentionShape& shape, AttentionWay way, const AttentionCache& cache);

}  // namespace potluck::training
