// 2:4 sparsity of a whole model: the rule of core/numerics/sparse24.h on every matrix of attention and MLP. Embeddings,
// positions, norms and biases stay dense, as in NVIDIA's ASP.
#pragma once

#include <cstdint>
#include <span>

#include "core/model/model_spec.h"

namespace potluck::model {

struct PrunedModel {
    std::uint64_t weights = 0;  // in the pruned matrices
    std::uint64_t zeros = 0;    // of them
};

/// Prunes `parameters` (model.parameters() floats) in place.
PrunedModel prune_2_of_4(const ModelSpec& model, std::span<float> parameters);

}  // namespace potluck::model
