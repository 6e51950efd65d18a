// The named tensors of a model as views, block by block: the embedding, each layer, the final norm. Only for files that
// name tensors. All families have the same views: a weight is [in, out] whether the flat vector holds it so (gpt2) or
// transposed (opt, llama), q, k, v are one matrix, and so are gate and up. What a family lacks is undefined.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "core/model/model_spec.h"

namespace potluck::training {

/// V vocabulary, C width, E width of the embedding (C but for OPT-350M), P positions (context, for opt two more).
struct EmbeddingWeights {
    at::Tensor tokens_VE;
    at::Tensor head_VE;        // the same as tokens_VE where the two are tied
    at::Tensor positions_PC;   // undefined where positions are rotary
    at::Tensor in_EC, out_CE;  // undefined where E = C
};

/// A, Q, F and U as in model::LayerWidths: of gpt2 and opt C, 3 C, 4 C and 4 C. llama has no biases but qkv_bias_Q of
/// Qwen2.
struct LayerWeights {
    at::Tensor ln1_gain_C, ln1_bias_C;
    at::Tensor qkv_CQ, qkv_bias_Q;
    at::Tensor q_gain_D, k_gain_D;  // of Qwen3
    at::Tensor proj_AC, proj_bias_C;
    at::Tensor ln2_gain_C, ln2_bias_C;
    at::Tensor up_CU, up_bias_U;  // llama: gate and up side by side
    at::Tensor down_FC, down_bias_C;
};

struct FinalNormWeights {
    at::Tensor gain_C, bias_C;  // undefined where norms stand after
};

/// A part of the flat vector.
struct BlockRange {
    std::uint64_t begin = 0, end = 0;
    [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(end - begin); }
};

/// Where the blocks lie. They follow each other without gaps.
struct BlockRanges {
    BlockRange embedding, final_norm;  // the latter empty where there is none
    std::vector<BlockRange> layers;
};
[[nodiscard]] BlockRanges block_ranges(const model::ModelSpec& spec);

/// Views of `block`, which holds the block's numbers in order, of any type.
[[nodiscard]] EmbeddingWeights embedding_views(const model::ModelSpec& spec, const at::Tensor& block);
[[nodiscard]] LayerWeights layer_views(const model::ModelSpec& spec, const at::Tensor& block);
[[nodiscard]] FinalNormWeights final_norm_views(const model::ModelSpec& spec, const at::Tensor& block);

/// All of them over one flat vector of spec.parameters() numbers.
struct Weights {
    EmbeddingWeights embedding;
    std::vector<LayerWeights> layers;
    FinalNormWeights final_norm;
};
[[nodiscard]] Weights views_of(const model::ModelSpec& spec, const at::Tensor& flat);

/// The first row of the position table that is used.
[[nodiscard]] inline std::int64_t position_offset(const model::ModelSpec& spec) {
    return spec.family == model::Family::opt ? 2 : 0;
}

}  // namespace potluck::training
