// Causal attention on one thread for heads of 16, 32 or 64 entries, in fp32. For models as small as a demo's,
// LibTorch's fused kernel spends its time on calls of a matrix library that are larger than the matrices; this one
// keeps four query rows in registers and never looks beyond the diagonal. With more threads or other heads, LibTorch's
// is taken.
// Threads: any; each call owns its scratch.
#pragma once

#include <cstdint>

namespace potluck::training {

/// N = batch * time rows. A row of qkv holds all heads' queries, then keys, then values.
struct BlockedShape {
    std::int64_t batch = 0, time = 0, heads = 0, depth = 0;
};

[[nodiscard]] bool blocked_attention_takes(std::int64_t depth);

/// qkv (N, 3, H, D) to out (N, H, D) and the logarithm of each row's softmax sum (B, H, T).
void blocked_attention(const BlockedShape& shape, const float* qkv, float* out, float* logsumexp);

struct BlockedGradient {
    const float* qkv;         // as in the forward pass
    const float* out;
    const float* logsumexp;
    const float* dout;        // (N, H, D)
    float* dqkv;              // (N, 3, H, D), overwritten
};
void blocked_attention_backward(const BlockedShape& shape, const BlockedGradient& gradient);

}  // namespace potluck::training
