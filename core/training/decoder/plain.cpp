#include "core/training/decoder/plain.h"

#include <cmath>
#include <limits>

#include "core/base/check.h"
#include "core/training/compute/tensor_guard.h"
#include "core/training/decoder/weights.h"

namespace potluck::training {

namespace {

using at::Tensor;

Tensor norm(const Tensor& x_BTC, const Tensor& gain_C, const Tensor& bias_C) {
    const Tensor centred_BTC = x_BTC - x_BTC.mean(-1, true);
    const Tensor variance_BT1 = (centred_BTC * centred_BTC).mean(-1, true);
    return centred_BTC / (variance_BT1 + 1e-5).sqrt() * gain_C + bias_C;
}

Tensor attention(const Tensor& x_BTC, const LayerWeights& w, std::int64_t heads) {
    const std::int64_t batch = x_BTC.size(0), time = x_BTC.size(1), width = x_BTC.size(2);
    const std::vector<Tensor> qkv_BTC = (at::matmul(x_BTC, w.qkv_C3C) + w.qkv_bias_3C).split(width, 2);
    const auto heads_of = [&](const Tensor& part_BTC) {
        return part_BTC.reshape({batch, time, heads, width / heads}).transpose(1, 2);
    };
    const double scale = 1.0 / std::sqrt(static_cast<double>(width / heads));
    const Tensor scores_BHTT = at::matmul(heads_of(qkv_BTC[0]), heads_of(qkv_BTC[1]).transpose(2, 3)) * scale;
    const Tensor future_TT = at::ones({time, time}, at::kBool).triu(1);
    const Tensor p_BHTT = scores_BHTT.masked_fill(future_TT, -std::numeric_limits<float>::infinity()).softmax(-1);
    const Tensor out_BTC = at::matmul(p_BHTT, heads_of(qkv_BTC[2])).transpose(1, 2).reshape({batch, time, width});
    return at::matmul(out_BTC, w.proj_CC) + w.proj_bias_C;
}

Tensor mlp(const Tensor& x_BTC, const LayerWeights& w, model::Activation activation) {
    const Tensor up_BTF = at::matmul(x_BTC, w.up_CF) + w.up_bias_F;
    const Tensor active_BTF = activation == model::Activation::relu ? at::relu(up_BTF) : at::gelu(up_BTF, "tanh");
    return at::matmul(active_BTF, w.down_FC) + w.down_bias_C;
}

/// Both places of the norms: they see the stream before attention and MLP read it, or after they added to it.
Tensor layer(const model::ModelSpec& spec, const Tensor& x_BTC, const LayerWeights& w) {
    const auto norm1 = [&](const Tensor& x) { return norm(x, w.ln1_gain_C, w.ln1_bias_C); };
    const auto norm2 = [&](const Tensor& x) { return norm(x, w.ln2_gain_C, w.ln2_bias_C); };
    if (spec.norm == model::NormPlace::after) {
        const Tensor middle_BTC = norm1(x_BTC + attention(x_BTC, w, spec.heads));
        return norm2(middle_BTC + mlp(middle_BTC, w, spec.activation));
    }
    const Tensor middle_BTC = x_BTC + attention(norm1(x_BTC), w, spec.heads);
    return middle_BTC + mlp(norm2(middle_BTC), w, spec.activation);
}

Tensor loss_sum(const model::ModelSpec& spec, const Weights& w, const Tensor& ids_BT, const Tensor& targets_BT) {
    const EmbeddingWeights& e = w.embedding;
    Tensor x_BTC = e.tokens_VE.index_select(0, ids_BT.reshape(-1)).view({ids_BT.size(0), ids_BT.size(1), -1});
    if (e.in_EC.defined()) x_BTC = at::matmul(x_BTC, e.in_EC);
    x_BTC = x_BTC + e.positions_PC.narrow(0, position_offset(spec), ids_BT.size(1));
    for (const LayerWeights& weights : w.layers) x_BTC = layer(spec, x_BTC, weights);
    if (w.final_norm.gain_C.defined()) x_BTC = norm(x_BTC, w.final_norm.gain_C, w.final_norm.bias_C);
    if (e.out_CE.defined()) x_BTC = at::matmul(x_BTC, e.out_CE);
    const Tensor logits_BTV = at::matmul(x_BTC, e.tokens_VE.t());
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
