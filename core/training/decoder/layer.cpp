#include "core/training/decoder/layer.h"

#include "core/base/rng.h"

namespace potluck::training {

using at::Tensor;

Drop drop_of(const PassShape& pass, std::size_t layer, DropUse use) {
    const std::uint64_t number = layer * 4 + static_cast<std::uint64_t>(use) + 1;
    return {pass.dropout, mix64(pass.seed ^ mix64(number))};
}

AttentionShape DecoderLayer::attention_shape() const {
    Drop drop = drop_of(m_pass, m_index, DropUse::attention);
    if (m_spec.family == model::Family::opt) drop.rate = 0;  // drops only what is added to the stream
    return {m_pass.batch, m_pass.time, m_spec.heads, m_spec.heads, m_spec.width / m_spec.heads, drop};
}

/// x + proj_out, normed where norms stand after; leaves the operand of `up` in the cache.
Tensor DecoderLayer::stream_after_attention(const LayerWeights& w, LayerCache& cache) const {
    const Tensor sum_NC = m_operations.add(cache.x_NC, cache.proj_out_NC, drop_of(m_pass, m_index, DropUse::proj));
    if (norms_before()) {
        cache.ln2_out_NC = m_operations.norm(sum_NC, w.ln2_gain_C, w.ln2_bias_C, m_operations.type(), cache.norm2);
        return sum_NC;
    }
    const Tensor middle_NC = m_operations.norm(sum_NC, w.ln1_gain_C, w.ln1_bias_C, at::kFloat, cache.norm1);
    cache.ln2_out_NC = middle_NC.to(m_operations.type());
    return middle_NC;
}

Tensor DecoderLayer::stream_after_mlp(const LayerWeights& w, const Tensor& middle_NC, LayerCache& cache) const {
    const Tensor sum_NC = m_operations.add(middle_NC, cache.down_NC, drop_of(m_pass, m_index, DropUse::down));
    if (norms_before()) return sum_NC;
    return m_operations.norm(sum_NC, w.ln2_gain_C, w.ln2_bias_C, at::kFloat, cache.norm2);
}

Tensor DecoderLayer::forward(const LayerWeights& w, const Tensor& x_NC, LayerCache& cache) const {
    cache.x_NC = x_NC;
    cache.ln1_out_NC = norms_before()
                           ? m_operations.norm(x_NC, w.ln1_gain_C, w.ln1_bias_C, m_operations.type(), cache.norm1)
                           : x_NC.to(m_operations.type());
    cache.qkv_N3C = at::addmm(w.qkv_bias_3C, cache.ln1_out_NC, w.qkv_C3C);
    cache.attn_out_NC = attend(cache.qkv_N3C, attention_shape(), way(), cache.attention);
    cache.proj_out_NC = at::addmm(w.proj_bias_C, cache.attn_out_NC, w.proj_CC);
    const Tensor middle_NC = stream_after_attention(w, cache);
    cache.up_NF = at::addmm(w.up_bias_F, cache.ln2_out_NC, w.up_CF);
    cache.activated_NF = m_operations.activation(m_spec.activation, cache.up_NF);
    cache.down_NC = at::addmm(w.down_bias_C, cache.activated_NF, w.down_FC);
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
        cache.ln1_out_NC =
            norms_before() ? m_operations.norm(cache.x_NC, w.ln1_gain_C, w.ln1_bias_C, m_operations.type(), cache.norm1)
                           : cache.x_NC.to(m_operations.type());
        cache.activated_NF = m_operations.activation(m_spec.activation, cache.up_NF);
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
    const Tensor dup_NF = m_operations.activation_backward(m_spec.activation, cache.up_NF,
                                                           at::mm(ddown_NC, w.down_FC.t()), gradients.up_bias_F);
    cache.up_NF = Tensor();
    m_operations.add_product(gradients.up_CF, cache.ln2_out_NC, dup_NF);
    cache.ln2_out_NC = Tensor();
    return at::mm(dup_NF, w.up_CF.t());
}

/// Gradient of the operand of `qkv`, from that of what attention adds to the stream.
Tensor DecoderLayer::attention_backward(const LayerWeights& w, const LayerWeights& gradients, const Tensor& d_NC,
                                        LayerCache& cache) const {
    const Tensor dproj_out_NC =
        m_operations.narrow(d_NC, gradients.proj_bias_C, drop_of(m_pass, m_index, DropUse::proj));
    m_operations.add_product(gradients.proj_CC, cache.attn_out_NC, dproj_out_NC);
    cache.attn_out_NC = Tensor();
    const Tensor dqkv_N3C =
        attend_backward(at::mm(dproj_out_NC, w.proj_CC.t()), cache.qkv_N3C, attention_shape(), way(), cache.attention);
    cache.attention = {};
    cache.qkv_N3C = Tensor();
    m_operations.add_column_sums(dqkv_N3C, gradients.qkv_bias_3C);
    m_operations.add_product(gradients.qkv_C3C, cache.ln1_out_NC, dqkv_N3C);
    cache.ln1_out_NC = Tensor();
    return at::mm(dqkv_N3C, w.qkv_C3C.t());
}

Tensor DecoderLayer::backward(const LayerWeights& w, const LayerWeights& gradients, const Tensor& d_NC,
                              LayerCache& cache) const {
    if (norms_before()) {
        const Tensor doperand2_NC = mlp_backward(w, gradients, d_NC, cache);
        m_operations.norm_backward(doperand2_NC, cache.norm2, w.ln2_gain_C,
                                   {d_NC, gradients.ln2_gain_C, gradients.ln2_bias_C});
        cache.norm2 = {};
        const Tensor doperand1_NC = attention_backward(w, gradients, d_NC, cache);
        m_operations.norm_backward(doperand1_NC, cache.norm1, w.ln1_gain_C,
                                   {d_NC, gradients.ln1_gain_C, gradients.ln1_bias_C});
        return d_NC;
    }
    const Tensor dsum2_NC = at::zeros_like(d_NC);
    m_operations.norm_backward(d_NC, cache.norm2, w.ln2_gain_C, {dsum2_NC, gradients.ln2_gain_C, gradients.ln2_bias_C});
    cache.norm2 = {};
    const Tensor dmiddle_NC = m_operations.add(dsum2_NC, mlp_backward(w, gradients, dsum2_NC, cache), {});
    const Tensor dsum1_NC = at::zeros_like(d_NC);
    m_operations.norm_backward(dmiddle_NC, cache.norm1, w.ln1_gain_C,
                               {dsum1_NC, gradients.ln1_gain_C, gradients.ln1_bias_C});
    return m_operations.add(dsum1_NC, attention_backward(w, gradients, dsum1_NC, cache), {});
}

}  // namespace potluck::training
