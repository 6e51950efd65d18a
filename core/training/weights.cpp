#include "core/training/weights.h"

#include "core/base/check.h"

namespace potluck::training {

Weights views_of(const run::ModelSpec& spec, const at::Tensor& flat) {
    const std::vector<run::TensorSpec> tensors = run::tensors_of(spec);
    std::size_t next = 0;
    const auto take = [&](std::string_view suffix) {
        POTLUCK_CHECK(next < tensors.size() && tensors[next].name.ends_with(suffix));
        const run::TensorSpec& tensor = tensors[next++];
        std::vector<std::int64_t> shape;
        for (const std::uint64_t size : tensor.shape) shape.push_back(static_cast<std::int64_t>(size));
        return flat.narrow(0, static_cast<std::int64_t>(tensor.offset), static_cast<std::int64_t>(tensor.elements()))
            .view(shape);
    };
    Weights weights;
    weights.tokens_VC = take("wte.weight");
    weights.positions_TC = take("wpe.weight");
    for (std::uint32_t i = 0; i < spec.layers; ++i) {
        LayerWeights& layer = weights.layers.emplace_back();
        layer.ln1_gain_C = take("ln_1.weight");
        layer.ln1_bias_C = take("ln_1.bias");
        layer.qkv_C3C = take("attn.c_attn.weight");
        layer.qkv_bias_3C = take("attn.c_attn.bias");
        layer.merge_CC = take("attn.c_proj.weight");
        layer.merge_bias_C = take("attn.c_proj.bias");
        layer.ln2_gain_C = take("ln_2.weight");
        layer.ln2_bias_C = take("ln_2.bias");
        layer.up_CF = take("mlp.c_fc.weight");
        layer.up_bias_F = take("mlp.c_fc.bias");
        layer.down_FC = take("mlp.c_proj.weight");
        layer.down_bias_C = take("mlp.c_proj.bias");
    }
    weights.lnf_gain_C = take("ln_f.weight");
    weights.lnf_bias_C = take("ln_f.bias");
    POTLUCK_CHECK(next == tensors.size());
    return weights;
}

}  // namespace potluck::training
