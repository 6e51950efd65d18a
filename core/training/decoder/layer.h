// One layer of a decoder, forward and backward, for both families and both places of the norms. Tensor names end in
// their shape: N = B*T rows, C width, F = 4C. Only for files that name tensors.
//
//   before:  m = x + proj(attention(qkv(norm1(x))))      after:  m = norm1(x + proj(attention(qkv(x))))
//            y = m + down(activation(up(norm2(m))))               y = norm2(m + down(activation(up(m))))
//
// Threads: one at a time. Owns nothing; a cache belongs to the pass.
#pragma once

#include <cstddef>

#include "core/training/decoder/attention.h"
#include "core/training/decoder/operations.h"
#include "core/training/decoder/weights.h"

namespace potluck::training {

/// Shape and dropout of one pass over B sequences.
struct PassShape {
    std::int64_t batch = 0, time = 0;
    double dropout = 0;      // 0 in evaluation
    std::uint64_t seed = 0;  // of the pass's dropout
    [[nodiscard]] std::int64_t rows() const { return batch * time; }
};

/// What one dropout of a pass is for: each has masks of its own, which a pass that is run again draws again.
enum class DropUse { embedding, attention, proj, down };
[[nodiscard]] Drop drop_of(const PassShape& pass, std::size_t layer, DropUse use);

/// What the backward pass finds of the forward pass.
struct LayerCache {
    at::Tensor x_NC;  // the input, fp32
    NormCache norm1, norm2;
    at::Tensor ln1_out_NC, ln2_out_NC;  // of the products qkv and up
    at::Tensor qkv_N3C, attn_out_NC, proj_out_NC;
    AttentionCache attention;
    at::Tensor up_NF, activated_NF, down_NC;
};

class DecoderLayer {
public:
    DecoderLayer(const model::ModelSpec& spec, const Operations& operations, AttentionKernel attention,
                 const PassShape& pass, std::size_t index)
        : m_spec(spec), m_operations(operations), m_attention(attention), m_pass(pass), m_index(index) {}

    /// The stream behind the layer, fp32. Fills `cache`.
    [[nodiscard]] at::Tensor forward(const LayerWeights& w, const at::Tensor& x_NC, LayerCache& cache) const;
    /// Frees what `kind` does not keep between the passes.
    static void trim(LayerCache& cache, Checkpointing kind);
    /// Computes again what was freed.
    void restore(const LayerWeights& w, LayerCache& cache, Checkpointing kind) const;
    /// From the gradient of the stream behind the layer (fp32, taken over) that before it; adds to `gradients`. Frees
    /// the cache as it goes.
    [[nodiscard]] at::Tensor backward(const LayerWeights& w, const LayerWeights& gradients, const at::Tensor& d_NC,
                                      LayerCache& cache) const;

private:
    [[nodiscard]] bool norms_before() const { return m_spec.norm == model::NormPlace::before; }
    [[nodiscard]] AttentionShape attention_shape() const;
    [[nodiscard]] AttentionWay way() const { return attention_way(m_attention, m_operations, attention_shape()); }
    [[nodiscard]] at::Tensor stream_after_attention(const LayerWeights& w, LayerCache& cache) const;
    [[nodiscard]] at::Tensor stream_after_mlp(const LayerWeights& w, const at::Tensor& middle_NC,
                                              LayerCache& cache) const;
    [[nodiscard]] at::Tensor mlp_backward(const LayerWeights& w, const LayerWeights& gradients, const at::Tensor& d_NC,
                                          LayerCache& cache) const;
    [[nodiscard]] at::Tensor attention_backward(const LayerWeights& w, const LayerWeights& gradients,
                                                const at::Tensor& d_NC, LayerCache& cache) const;

    const model::ModelSpec& m_spec;
    const Operations& m_operations;
    AttentionKernel m_attention;
    PassShape m_pass;
    std::size_t m_index;
};

}  // namespace potluck::training
