#include "core/training/decoder_plain.h"

#include <cmath>
#include <limits>

#include "core/base/check.h"
#include "core/training/tensor_guard.h"
#include "core/training/weights.h"

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
    return at::matmul(out_BTC, w.merge_CC) + w.merge_bias_C;
}

Tensor mlp(const Tensor& x_BTC, const LayerWeights& w, run::Activation activation) {
    const Tensor up_BTF = at::matmul(x_BTC, w.up_CF) + w.up_bias_F;
    const Tensor active_BTF = activation == run::Activation::relu ? at::relu(up_BTF) : at::gelu(up_BTF, "tanh");
    return at::matmul(active_BTF, w.down_FC) + w.down_bias_C;
}

Tensor loss_sum(const run::ModelSpec& spec, const Weights& w, const Tensor& ids_BT, const Tensor& targets_BT) {
    Tensor x_BTC = w.tokens_VC.index_select(0, ids_BT.reshape(-1)).view({ids_BT.size(0), ids_BT.size(1), spec.width});
    x_BTC = x_BTC + w.positions_TC;
    for (const LayerWeights& layer : w.layers) {
        x_BTC = x_BTC + attention(norm(x_BTC, layer.ln1_gain_C, layer.ln1_bias_C), layer, spec.heads);
        x_BTC = x_BTC + mlp(norm(x_BTC, layer.ln2_gain_C, layer.ln2_bias_C), layer, spec.activation);
    }
    const Tensor logits_BTV = at::matmul(norm(x_BTC, w.lnf_gain_C, w.lnf_bias_C), w.tokens_VC.t());
    return -logits_BTV.log_softmax(-1).gather(2, targets_BT.unsqueeze(2)).sum();
}

}  // namespace

Result<double> plain_add_gradient(const run::ModelSpec& spec, std::span<float> parameters,
                                  std::span<const Token> records, std::span<float> gradient, double scale) {
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
