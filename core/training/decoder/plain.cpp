#include "core/training/decoder/plain.h"

#include <cmath>
#include <limits>

#include "core/base/check.h"
#include "core/training/compute/tensor_guard.h"
#include "core/training/decoder/weights.h"

namespace potluck::training {

namespace {

using at::Tensor;

/// A layer norm, or an RMS norm where there is no bias.
Tensor norm(const Tensor& x_BTC, const Tensor& gain_C, const Tensor& bias_C, double epsilon) {
    if (!bias_C.defined()) return x_BTC / ((x_BTC * x_BTC).mean(-1, true) + epsilon).sqrt() * gain_C;
    const Tensor centred_BTC = x_BTC - x_BTC.mean(-1, true);
    const Tensor variance_BT1 = (centred_BTC * centred_BTC).mean(-1, true);
    return centred_BTC / (variance_BT1 + epsilon).sqrt() * gain_C + bias_C;
}

Tensor linear_map(const Tensor& x_BTI, const Tensor& w_IO, const Tensor& bias_O) {
    const Tensor y_BTO = at::matmul(x_BTI, w_IO);
    return bias_O.defined() ? y_BTO + bias_O : y_BTO;
}

/// The two halves of each head as the real and imaginary parts of numbers that position t turns by t * theta^(-2k/D).
Tensor turned(const Tensor& x_BHTD, double theta) {
    const std::int64_t time = x_BHTD.size(2), depth = x_BHTD.size(3);
    const Tensor k_R = at::arange(0, depth, 2, at::kDouble) / static_cast<double>(depth);
    const Tensor angles_TR = at::arange(time, at::kDouble).unsqueeze(1) * at::pow(theta, -k_R);
    const Tensor cosines_TR = angles_TR.cos().to(at::kFloat), sines_TR = angles_TR.sin().to(at::kFloat);
    const std::vector<Tensor> halves = x_BHTD.chunk(2, 3);
    return at::cat({halves[0] * cosines_TR - halves[1] * sines_TR, halves[1] * cosines_TR + halves[0] * sines_TR}, 3);
}

Tensor attention(const model::ModelSpec& spec, const Tensor& x_BTC, const LayerWeights& w) {
    const std::int64_t batch = x_BTC.size(0), time = x_BTC.size(1);
    const model::LayerWidths widths = model::layer_widths(spec);
    const auto heads = static_cast<std::int64_t>(widths.heads), kv_heads = static_cast<std::int64_t>(widths.kv_heads);
    const auto depth = static_cast<std::int64_t>(widths.head_width);
    const std::vector<Tensor> qkv = linear_map(x_BTC, w.qkv_CQ, w.qkv_bias_Q)
                                        .view({batch, time, heads + 2 * kv_heads, depth})
                                        .transpose(1, 2)
                                        .split_with_sizes({heads, kv_heads, kv_heads}, 1);
    const auto placed = [&](const Tensor& part_BHTD, const Tensor& gain_D) {
        const bool norms = gain_D.defined(), turns = spec.family == model::Family::llama;
        const Tensor y_BHTD = norms ? norm(part_BHTD, gain_D, {}, spec.llama.norm_epsilon) : part_BHTD;
        return turns ? turned(y_BHTD, spec.llama.rope_theta) : y_BHTD;
    };
    const auto repeated = [&](const Tensor& part_BKTD) { return part_BKTD.repeat_interleave(heads / kv_heads, 1); };
    const Tensor q_BHTD = placed(qkv[0], w.q_gain_D), k_BHTD = repeated(placed(qkv[1], w.k_gain_D));
    const double scale = 1.0 / std::sqrt(static_cast<double>(depth));
    const Tensor scores_BHTT = at::matmul(q_BHTD, k_BHTD.transpose(2, 3)) * scale;
    const Tensor future_TT = at::ones({time, time}, at::kBool).triu(1);
    const Tensor p_BHTT = scores_BHTT.masked_fill(future_TT, -std::numeric_limits<float>::infinity()).softmax(-1);
    const Tensor out_BTA = at::matmul(p_BHTT, repeated(qkv[2])).transpose(1, 2).reshape({batch, time, heads * depth});
    return linear_map(out_BTA, w.proj_AC, w.proj_bias_C);
}

Tensor mlp(const Tensor& x_BTC, const LayerWeights& w, model::Activation activation) {
    const Tensor up_BTU = linear_map(x_BTC, w.up_CU, w.up_bias_U);
    if (activation == model::Activation::silu_gated) {
        const std::vector<Tensor> parts = up_BTU.chunk(2, 2);
        return at::matmul(parts[0] / (1 + (-parts[0]).exp()) * parts[1], w.down_FC);
    }
    const Tensor active_BTF = activation == model::Activation::relu ? at::relu(up_BTU) : at::gelu(up_BTU, "tanh");
    return linear_map(active_BTF, w.down_FC, w.down_bias_C);
}

double epsilon_of(const model::ModelSpec& spec) {
    return spec.family == model::Family::llama ? spec.llama.norm_epsilon : 1e-5;
}

/// Both places of the norms: they see the stream before attention and MLP read it, or after they added to it.
Tensor layer(const model::ModelSpec& spec, const Tensor& x_BTC, const LayerWeights& w) {
    const auto norm1 = [&](const Tensor& x) { return norm(x, w.ln1_gain_C, w.ln1_bias_C, epsilon_of(spec)); };
    const auto norm2 = [&](const Tensor& x) { return norm(x, w.ln2_gain_C, w.ln2_bias_C, epsilon_of(spec)); };
    if (spec.norm == model::NormPlace::after) {
        const Tensor middle_BTC = norm1(x_BTC + attention(spec, x_BTC, w));
        return norm2(middle_BTC + mlp(middle_BTC, w, spec.activation));
    }
    const Tensor middle_BTC = x_BTC + attention(spec, norm1(x_BTC), w);
    return middle_BTC + mlp(norm2(middle_BTC), w, spec.activation);
}

Tensor loss_sum(const model::ModelSpec& spec, const Weights& w, const Tensor& ids_BT, const Tensor& targets_BT) {
    const EmbeddingWeights& e = w.embedding;
    Tensor x_BTC = e.tokens_VE.index_select(0, ids_BT.reshape(-1)).view({ids_BT.size(0), ids_BT.size(1), -1});
    if (e.in_EC.defined()) x_BTC = at::matmul(x_BTC, e.in_EC);
    if (e.positions_PC.defined()) x_BTC = x_BTC + e.positions_PC.narrow(0, position_offset(spec), ids_BT.size(1));
    for (const LayerWeights& weights : w.layers) x_BTC = layer(spec, x_BTC, weights);
    if (w.final_norm.gain_C.defined()) {
        x_BTC = norm(x_BTC, w.final_norm.gain_C, w.final_norm.bias_C, epsilon_of(spec));
    }
    if (e.out_CE.defined()) x_BTC = at::matmul(x_BTC, e.out_CE);
    const Tensor logits_BTV = at::matmul(x_BTC, e.head_VE.t());
    return -logits_BTV.log_softmax(-1).gather(2, targets_BT.unsqueeze(2)).sum();
}

}  // namespace

Result<double> plain_add_gradient(const model::ModelSpec& spec, std::span<float> parameters,
                                  std::span<const model::Token> records, std::span<float> gradient, double scale) {
    return guarded([&]() -> Result<double> {
        const std::int64_t time = spec.context;
        const std::int64_t batch = static_cast<std::int64_t>(records.size()) / (time + 1);
        POTLUCK_CHECK(batch * (time + 1) == static_cast<std::int64_t>(records.size()));
        const Tensor all_BS = at::empty({batch, time + 1}, at::kLong);
        for (std::size_t i = 0; i < records.size(); ++i) all_BS.data_ptr<std::int64_t>()[i] = records[i];

        const std::int64_t size = static_cast<std::int64_t>(parameters.size());
        Tensor flat = at::from_blob(parameters.data(), {size}, at::kFloat).clone();
        flat.set_requires_grad(true);
        const Tensor loss = loss_sum(spec, views_of(spec, flat), all_BS.narrow(1, 0, time), all_BS.narrow(1, 1, time));
        (loss * scale).backward();
        at::from_blob(gradient.data(), {size}, at::kFloat).add_(flat.grad());
        return loss.item<double>();
    });
}

}  // namespace potluck::training
