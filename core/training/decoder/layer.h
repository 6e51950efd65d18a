// One layer of a decoder, forward and backward, for all families and both places of the norms. Tensor names end in
// their shape: N = B*T rows, C width, and A, Q, F, U as in model::LayerWidths. Only for files that name tensors.
//
//   before:  m = x + proj(attention(place(qkv(norm1(x)))))   after:  m = norm1(x + proj(attention(qkv(x))))
//            y = m + down(activation(up(norm2(m))))                  y = norm2(m + down(activation(up(m))))
//
// place() norms queries and keys where the family has gains for them (Qwen3), and turns them by their rotary angles.
// Threads: one at a time. Owns nothing; a cache belongs to the pass.
#pragma once

#include <cstddef>

#include "core/training/compute/operations.h"
#include "core/training/decoder/attention.h"
#include "core/training/decoder/weights.h"

namespace potluck::training {

/// What a layer is, apart from its weights.
struct LayerShape {
    std::int64_t heads = 0, kv_heads = 0, depth = 0;
    model::NormPlace norm = model::NormPlace::before;
    model::Activation activation = model::Activation::gelu_tanh;
    double norm_epsilon = 1e-5;
    bool drops_probabilities = true;  // of attention, beside what is added to the stream
    RotaryAngles angles;
};
/// `angles` for spec.context positions, on the operations' device.
[[nodiscard]] LayerShape layer_shape(const model::ModelSpec& spec, const Operations& operations);

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
    NormCache q_norm, k_norm;
    at::Tensor qkv_NQ, attn_out_NA, proj_out_NC;
    AttentionCache attention;
    at::Tensor up_NU, activated_NF, down_NC;
};

class DecoderLayer {
public:
    DecoderLayer(const LayerShape& shape, const Operations& operations, AttentionKernel attention,
                 const PassShape& pass, std::size_t index)
        : m_shape(shape), m_operations(operations), m_attention(attention), m_pass(pass), m_index(index) {}

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
    [[nodiscard]] bool norms_before() const { return m_shape.norm == model::NormPlace::before; }
    [[nodiscard]] bool is_gated() const { return m_shape.activation == model::Activation::silu_gated; }
    [[nodiscard]] NormWeights norm1(const LayerWeights& w) const {
        return {w.ln1_gain_C, w.ln1_bias_C, m_shape.norm_epsilon};
    }
    [[nodiscard]] NormWeights norm2(const LayerWeights& w) const {
        return {w.ln2_gain_C, w.ln2_bias_C, m_shape.norm_epsilon};
    }
    [[nodiscard]] AttentionShape attention_shape() const;
    [[nodiscard]] AttentionWay way() const { return attention_way(m_attention, m_operations, attention_shape()); }
    [[nodiscard]] at::Tensor stream_after_attention(const LayerWeights& w, LayerCache& cache) const;
    [[nodiscard]] at::Tensor stream_after_mlp(const LayerWeights& w, const at::Tensor& middle_NC,
                                              LayerCache& cache) const;
    [[nodiscard]] at::Tensor activated(const at::Tensor& up_NU) const;
    void norm_heads(const at::Tensor& part_NH, const at::Tensor& gain_D, NormCache& cache) const;
    void norm_heads_backward(const at::Tensor& dpart_NH, const at::Tensor& gain_D, const NormCache& cache,
                             const at::Tensor& dgain_D) const;
    void place(const LayerWeights& w, LayerCache& cache) const;
    void place_backward(const LayerWeights& w, const LayerWeights& gradients, const at::Tensor& dqkv_NQ,
                        const LayerCache& cache) const;
    [[nodiscard]] at::Tensor mlp_backward(const LayerWeights& w, const LayerWeights& gradients, const at::Tensor& d_NC,
                                          LayerCache& cache) const;
    [[nodiscard]] at::Tensor attention_backward(const LayerWeights& w, const LayerWeights& gradients,
                                                const at::Tensor& d_NC, LayerCache& cache) const;

    const LayerShape& m_shape;
    const Operations& m_operations;
    AttentionKernel m_attention;
    PassShape m_pass;
    std::size_t m_index;
};

}  // namespace potluck::training
