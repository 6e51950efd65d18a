// Causal attention on a processor for heads of 16, 32 or 64 entries, computed in fp32 whatever the precision of what it
// reads and writes. LibTorch's fused kernel spends its time on calls of a matrix library that are larger than the
// matrices; this one keeps four query rows in registers and never looks beyond the diagonal, holds no T x T scores, and
// can drop probabilities out. Other heads go to LibTorch's.
// Threads: any, on separate (sequence, kv head) groups; each call owns its scratch.
#pragma once

#include <cstdint>

#include "core/training/kernels/lanes.h"

namespace potluck::training {

/// Which rows of a sequence each row sees. Without tables: those up to itself. With them a sequence is a caption of
/// `text` places and a picture behind it, whose rows may stand in another order (columns one behind the other): a place
/// sees the caption, and of the picture the places from its `begin` up to itself; with a `line`, of these only those
/// whose column is at most `reach` away. Nothing of the scores in between is computed.
struct SeenRows {
    const std::int32_t* order = nullptr;  // (time): which row stands at a place
    const std::int32_t* begin = nullptr;  // (time): nondecreasing; of places behind the caption
    std::int64_t text = 0;
    std::int64_t line = 0, reach = 0;
};

/// N = batch * time rows. A row of qkv holds all heads' queries, then keys, then values. H heads of queries share K
/// heads of keys and values, H / K of them each (Ainslie et al. 2023).
struct BlockedShape {
    std::int64_t batch = 0, time = 0, heads = 0, kv_heads = 0, depth = 0;
    Dropout dropout = {};  // of probabilities
    SeenRows seen = {};
    [[nodiscard]] std::int64_t groups() const { return batch * kv_heads; }
};

/// The groups (sequence, kv head) of one call; group = sequence * kv_heads + key head.
struct GroupRange {
    std::int64_t begin = 0, end = 0;
};

[[nodiscard]] bool blocked_attention_takes(std::int64_t depth);

/// qkv (N, H + 2 K, D) to out (N, H, D) and the logarithm of each row's softmax sum (B, H, T). `Dtype`: float or Bf16.
template <class Dtype>
struct BlockedForward {
    const Dtype* qkv;
    Dtype* out;
    float* logsumexp;
};
template <class Dtype>
void blocked_attention(const BlockedShape& shape, const BlockedForward<Dtype>& forward, GroupRange groups);

template <class Dtype>
struct BlockedGradient {
    const Dtype* qkv;  // as in the forward pass
    const Dtype* out;
    const float* logsumexp;
    const Dtype* dout;  // (N, H, D)
    Dtype* dqkv;        // as qkv, overwritten
};
template <class Dtype>
void blocked_attention_backward(const BlockedShape& shape, const BlockedGradient<Dtype>& gradient, GroupRange groups);

}  // namespace potluck::training
