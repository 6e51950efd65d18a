// Causal attention on a processor for heads of 16, 32 or 64 entries, computed in fp32 whatever the precision of what it
// reads and writes. LibTorch's fused kernel spends its time on calls of a matrix library that are larger than the
// matrices; this one keeps four query rows in registers and never looks beyond the diagonal, holds no T x T scores, and
// can drop probabilities out. Other heads go to LibTorch's.
// Threads: any, on separate (sequence, head) pairs; each call owns its scratch.
#pragma once

#include <cstdint>

#include "core/training/kernels/lanes.h"

namespace potluck::training {

/// N = batch * time rows. A row of qkv holds all heads' queries, then keys, then values.
struct BlockedShape {
    std::int64_t batch = 0, time = 0, heads = 0, depth = 0;
    Dropout dropout = {};  // of probabilities
    [[nodiscard]] std::int64_t pairs() const { return batch * heads; }
};

/// The pairs (sequence, head) of one call; pair = sequence * heads + head.
struct PairRange {
    std::int64_t begin = 0, end = 0;
};

[[nodiscard]] bool blocked_attention_takes(std::int64_t depth);

/// qkv (N, 3, H, D) to out (N, H, D) and the logarithm of each row's softmax sum (B, H, T). `Dtype`: float or Bf16.
template <class Dtype>
struct BlockedForward {
    const Dtype* qkv;
    Dtype* out;
    float* logsumexp;
};
template <class Dtype>
void blocked_attention(const BlockedShape& shape, const BlockedForward<Dtype>& forward, PairRange pairs);

template <class Dtype>
struct BlockedGradient {
    const Dtype* qkv;  // as in the forward pass
    const Dtype* out;
    const float* logsumexp;
    const Dtype* dout;  // (N, H, D)
    Dtype* dqkv;        // (N, 3, H, D), overwritten
};
template <class Dtype>
void blocked_attention_backward(const BlockedShape& shape, const BlockedGradient<Dtype>& gradient, PairRange pairs);

}  // namespace potluck::training
