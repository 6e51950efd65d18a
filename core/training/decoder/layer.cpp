// Every family runs through the same lines; what differs are the widths, which biases and gains there are, and three
// places: the norms (before or after the sum), place() between the qkv product and attention, and the activation. An
// undefined bias means that there is none, and a norm without one is an RMS norm.
//
// The backward pass mirrors the forward pass step by step and frees each part of the cache behind its last use.
// restore() runs exactly those lines of forward() again whose results trim() freed, so that gradients are the same bits
// whatever is kept. Queries and keys are kept as attention reads them, normed and turned; their gradients are turned
// back.
//
// Sources: Radford et al. 2019; Zhang et al. 2022; Touvron et al. 2023; Su et al. 2021 for rotary positions.
#include "core/training/decoder/layer.h"

#include "core/base/rng.h"
#include "core/training/compute/products.h"

namespace potluck::training {

using at::Tensor;

Drop drop_of(const PassShape& pass, std::size_t layer, DropUse use) {
    const std::uint64_t number = layer * 4 + static_cast<std::uint64_t>(use) + 1;
    return {pass.dropout, mix64(pass.seed ^ mix64(number))};
}

LayerShape layer_shape(const model::ModelSpec& spec, const Operations& operations) {
    const model::LayerWidths widths = model::layer_widths(spec);
    LayerShape shape{.heads = static_cast<std::int64_t>(widths.heads),
                     .kv_heads = static_cast<std::int64_t>(widths.kv_heads),
                     .depth = static_cast<std::int64_t>(widths.head_width),
                     .norm = spec.norm,
                     .activation = spec.activation,
                     .drops_probabilities = spec.family == model::Family::gpt2,
                     .angles = {}};
    if (spec.family == model::Family::llama) {
        shape.norm_epsilon = spec.llama.norm_epsilon;
        shape.angles = operations.rotary_angles(spec.context, shape.depth, spec.llama.rope_theta);
    }
    return shape;
}

AttentionShape DecoderLayer::attention_shape() const {
    Drop drop = drop_of(m_pass, m_index, DropUse::attention);
    if (!m_shape.drops_probabilities) drop.rate = 0;
    return {m_pass.batch, m_pass.time, m_shape.heads, m_shape.kv_heads, m_shape.depth, drop};
}

/// An RMS norm over each head of a part of the projection, in place.
void DecoderLayer::norm_heads(const Tensor& part_NH, const Tensor& gain_D, NormCache& cache) const {
    const Tensor wide_NH = part_NH.to(at::kFloat, /*non_blocking=*/false, /*copy=*/true).contiguous();
    const NormWeights w{gain_D, {}, m_shape.norm_epsilon};
    const Tensor y_RD = m_operations.norm(wide_NH.view({-1, m_shape.depth}), w, m_operations.type(), cache);
    Tensor(part_NH).copy_(y_RD.view(wide_NH.sizes()));
}

void DecoderLayer::norm_heads_backward(const Tensor& dpart_NH, const Tensor& gain_D, const NormCache& cache,
                                       const Tensor& dgain_D) const {
    const Tensor dy_RD = dpart_NH.contiguous().view({-1, m_shape.depth});
    const Tensor dx_RD = at::zeros_like(cache.x_NC);
    m_operations.norm_backward(dy_RD, cache, {gain_D, {}, m_shape.norm_epsilon}, {dx_RD, dgain_D, {}});
    Tensor(dpart_NH).copy_(dx_RD.view(dpart_NH.sizes()));
}

/// Makes queries and keys of the projection what attention reads.
void DecoderLayer::place(const LayerWeights& w, LayerCache& cache) const {
    const std::int64_t queries = m_shape.heads * m_shape.depth, keys = m_shape.kv_heads * m_shape.depth;
    if (w.q_gain_D.defined()) {
        norm_heads(cache.qkv_NQ.narrow(1, 0, queries), w.q_gain_D, cache.q_norm);
        norm_heads(cache.qkv_NQ.narrow(1, queries, keys), w.k_gain_D, cache.k_norm);
    }
    if (!m_shape.angles.cosines_TR.defined()) return;
    const std::int64_t turned = m_shape.heads + m_shape.kv_heads;
    m_operations.rotate(cache.qkv_NQ, m_shape.angles, turned, m_pass.time, Operations::Turn::forward);
}

void DecoderLayer::place_backward(const LayerWeights& w, const LayerWeights& gradients, const Tensor& dqkv_NQ,
                                  const LayerCache& cache) const {
    const std::int64_t queries = m_shape.heads * m_shape.depth, keys = m_shape.kv_heads * m_shape.depth;
    if (m_shape.angles.cosines_TR.defined()) {
        const std::int64_t turned = m_shape.heads + m_shape.kv_heads;
        m_operations.rotate(dqkv_NQ, m_shape.angles, turned, m_pass.time, Operations::Turn::back);
    }
    if (!w.q_gain_D.defined()) return;
    norm_heads_backward(dqkv_NQ.narrow(1, 0, queries), w.q_gain_D, cache.q_norm, gradients.q_gain_D);
    norm_heads_backward(dqkv_NQ.narrow(1, queries, keys), w.k_gain_D, cache.k_norm, gradients.k_gain_D);
}

Tensor DecoderLayer::activated(const Tensor& up_NU) const {
    return is_gated() ? m_operations.gated(up_NU) : m_operations.activation(m_shape.activation, up_NU);
}

/// x + proj_out, normed where norms stand after; leaves the operand of `up` in the cache.
Tensor DecoderLayer::stream_after_attention(const LayerWeights& w, LayerCache& cache) const {
    const Tensor sum_NC = m_operations.add(cache.x_NC, cache.proj_out_NC, drop_of(m_pass, m_index, DropUse::proj));
    if (norms_before()) {
        cache.ln2_out_NC = m_operations.norm(sum_NC, norm2(w), m_operations.type(), cache.norm2);
        return sum_NC;
    }
    const Tensor middle_NC = m_operations.norm(sum_NC, norm1(w), at::kFloat, cache.norm1);
    cache.ln2_out_NC = middle_NC.to(m_operations.type());
    return middle_NC;
}

Tensor DecoderLayer::stream_after_mlp(const LayerWeights& w, const Tensor& middle_NC, LayerCache& cache) const {
    const Tensor sum_NC = m_operations.add(middle_NC, cache.down_NC, drop_of(m_pass, m_index, DropUse::down));
    if (norms_before()) return sum_NC;
    return m_operations.norm(sum_NC, norm2(w), at::kFloat, cache.norm2);
}

Tensor DecoderLayer::forward(const LayerWeights& w, const Tensor& x_NC, LayerCache& cache) const {
    cache.x_NC = x_NC;
    cache.ln1_out_NC = norms_before() ? m_operations.norm(x_NC, norm1(w), m_operations.type(), cache.norm1)
                                      : x_NC.to(m_operations.type());
    cache.qkv_NQ = product(cache.ln1_out_NC, w.qkv_CQ, w.qkv_bias_Q);
    place(w, cache);
    cache.attn_out_NA = attend(cache.qkv_NQ, attention_shape(), way(), cache.attention);
    cache.proj_out_NC = product(cache.attn_out_NA, w.proj_AC, w.proj_bias_C);
    const Tensor middle_NC = stream_after_attention(w, cache);
    cache.up_NU = product(cache.ln2_out_NC, w.up_CU, w.up_bias_U);
    cache.activated_NF = activated(cache.up_NU);
    cache.down_NC = product(cache.activated_NF, w.down_FC, w.down_bias_C);
    return stream_after_mlp(w, middle_NC, cache);
}

void DecoderLayer::trim(LayerCache& cache, Checkpointing kind) {
    if (kind == Checkpointing::full) {
        LayerCache kept;
        kept.x_NC = cache.x_NC;
        cache = kept;
    } else if (kind == Checkpointing::selective) {
        const bool norms_before = cache.norm1.x_NC.is_same(cache.x_NC);
        if (norms_before) cache.down_NC = Tensor();  // only a norm behind the sum reads it again
        cache.norm1 = cache.norm2 = NormCache();
        cache.ln1_out_NC = cache.ln2_out_NC = cache.activated_NF = Tensor();
    } else {
        cache.proj_out_NC = cache.down_NC = Tensor();
        if (cache.norm1.x_NC.defined()) cache.x_NC = Tensor();
    }
}

void DecoderLayer::restore(const LayerWeights& w, LayerCache& cache, Checkpointing kind) const {
    if (kind == Checkpointing::none) return;
    if (kind == Checkpointing::full) {
        const Tensor x_NC = cache.x_NC;
        (void)forward(w, x_NC, cache);
    } else {
        const Tensor middle_NC = stream_after_attention(w, cache);
        cache.ln1_out_NC = norms_before() ? m_operations.norm(cache.x_NC, norm1(w), m_operations.type(), cache.norm1)
                                          : cache.x_NC.to(m_operations.type());
        cache.activated_NF = activated(cache.up_NU);
        if (!norms_before()) (void)stream_after_mlp(w, middle_NC, cache);
    }
    trim(cache, Checkpointing::none);
}

/// Gradient of the operand of `up`, from that of what the MLP adds to the stream.
Tensor DecoderLayer::mlp_backward(const LayerWeights& w, const LayerWeights& gradients, const Tensor& d_NC,
                                  LayerCache& cache) const {
    const Tensor ddown_NC = m_operations.narrow(d_NC, gradients.down_bias_C, drop_of(m_pass, m_index, DropUse::down));
    m_operations.add_product(gradients.down_FC, cache.activated_NF, ddown_NC);
    cache.activated_NF = Tensor();
    const Tensor dactivated_NF = product(ddown_NC, w.down_FC.t());
    const Tensor dup_NU = is_gated() ? m_operations.gated_backward(cache.up_NU, dactivated_NF)
                                     : m_operations.activation_backward(m_shape.activation, cache.up_NU, dactivated_NF,
                                                                        gradients.up_bias_U);
    cache.up_NU = Tensor();
    m_operations.add_product(gradients.up_CU, cache.ln2_out_NC, dup_NU);
    cache.ln2_out_NC = Tensor();
    return product(dup_NU, w.up_CU.t());
}

/// Gradient of the operand of `qkv`, from that of what attention adds to the stream.
Tensor DecoderLayer::attention_backward(const LayerWeights& w, const LayerWeights& gradients, const Tensor& d_NC,
                                        LayerCache& cache) const {
    const Tensor dproj_out_NC =
        m_operations.narrow(d_NC, gradients.proj_bias_C, drop_of(m_pass, m_index, DropUse::proj));
    m_operations.add_product(gradients.proj_AC, cache.attn_out_NA, dproj_out_NC);
    cache.attn_out_NA = Tensor();
    const Tensor dqkv_NQ =
        attend_backward(product(dproj_out_NC, w.proj_AC.t()), cache.qkv_NQ, attention_shape(), way(), cache.attention);
    cache.attention = {};
    cache.qkv_NQ = Tensor();
    place_backward(w, gradients, dqkv_NQ, cache);
    cache.q_norm = cache.k_norm = {};
    if (gradients.qkv_bias_Q.defined()) m_operations.add_column_sums(dqkv_NQ, gradients.qkv_bias_Q);
    m_operations.add_product(gradients.qkv_CQ, cache.ln1_out_NC, dqkv_NQ);
    cache.ln1_out_NC = Tensor();
    return product(dqkv_NQ, w.qkv_CQ.t());
}

Tensor DecoderLayer::backward(const LayerWeights& w, const LayerWeights& gradients, const Tensor& d_NC,
                              LayerCache& cache) const {
    if (norms_before()) {
        const Tensor doperand2_NC = mlp_backward(w, gradients, d_NC, cache);
        m_operations.norm_backward(doperand2_NC, cache.norm2, norm2(w),
                                   {d_NC, gradients.ln2_gain_C, gradients.ln2_bias_C});
        cache.norm2 = {};
        const Tensor doperand1_NC = attention_backward(w, gradients, d_NC, cache);
        m_operations.norm_backward(doperand1_NC, cache.norm1, norm1(w),
                                   {d_NC, gradients.ln1_gain_C, gradients.ln1_bias_C});
        return d_NC;
    }
    const Tensor dsum2_NC = at::zeros_like(d_NC);
    m_operations.norm_backward(d_NC, cache.norm2, norm2(w), {dsum2_NC, gradients.ln2_gain_C, gradients.ln2_bias_C});
    cache.norm2 = {};
    const Tensor dmiddle_NC = m_operations.add(dsum2_NC, mlp_backward(w, gradients, dsum2_NC, cache), {});
    const Tensor dsum1_NC = at::zeros_like(d_NC);
    m_operations.norm_backward(dmiddle_NC, cache.norm1, norm1(w),
                               {dsum1_NC, gradients.ln1_gain_C, gradients.ln1_bias_C});
    return m_operations.add(dsum1_NC, attention_backward(w, gradients, dsum1_NC, cache), {});
}

}  // namespace potluck::training
