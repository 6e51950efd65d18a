// The named tensors of a flat vector, as views of it. Only for files that name tensors.
#pragma once

#include <vector>

#include <ATen/ATen.h>

#include "core/run/model_spec.h"

namespace potluck::training {

/// Shapes: V vocabulary, T context, C width, F = 4 C. Conv1D weights are [in, out].
struct LayerWeights {
    at::Tensor ln1_gain_C, ln1_bias_C;
    at::Tensor qkv_C3C, qkv_bias_3C;
    at::Tensor merge_CC, merge_bias_C;
    at::Tensor ln2_gain_C, ln2_bias_C;
    at::Tensor up_CF, up_bias_F;
    at::Tensor down_FC, down_bias_C;
};

struct Weights {
    at::Tensor tokens_VC;      // tied: embedding and head
    at::Tensor positions_TC;
    std::vector<LayerWeights> layers;
    at::Tensor lnf_gain_C, lnf_bias_C;
};

/// `flat` has spec.parameters() elements of any type.
[[nodiscard]] Weights views_of(const run::ModelSpec& spec, const at::Tensor& flat);

}  // namespace potluck::training
