// A model as data: a closed set of range-checked fields, from which the list of tensors, their names (Hugging Face's)
// and shapes, and hence the flat parameter vector follow. A stranger's manifest can ask for nothing that is not here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/base/result.h"

namespace potluck::model {

/// gpt2: Radford et al. 2019. opt: Zhang et al. 2022 (learned positions with an offset of 2, ReLU, separate q, k, v).
enum class Family { gpt2, opt };
enum class Activation { gelu_tanh, relu };
/// Where a layer norm stands: before attention and MLP, or after the residual sum (OPT-350M only).
enum class NormPlace { before, after };

inline constexpr std::uint64_t parameters_max = 20'000'000'000ULL;

struct ModelSpec {
    Family family = Family::gpt2;
    std::uint32_t vocabulary = 256;  // V, 2..1,048,576
    std::uint32_t context = 128;     // T, 8..16,384 tokens
    std::uint32_t layers = 4;        // 1..256
    std::uint32_t heads = 4;         // divides width
    std::uint32_t width = 128;       // C, 8..16,384
    Activation activation = Activation::gelu_tanh;
    float dropout = 0.0F;                // 0..0.9
    NormPlace norm = NormPlace::before;  // gpt2: before; with `after` there is no final norm
    std::uint32_t embedding = 0;  // opt: width of the token embedding where it differs from C (350M: 512), else 0
    bool operator==(const ModelSpec&) const = default;

    [[nodiscard]] std::uint64_t parameters() const;
    /// `norm` and `embedding` are there for opt only.
    [[nodiscard]] nlohmann::json to_json() const;
    /// `malformed` with a sentence that names the field; also if parameters() exceeds parameters_max.
    [[nodiscard]] static Result<ModelSpec> from_json(const nlohmann::json& object);
};

/// What a tensor is for. Initial values, decay, Muon, pruning and blocks go by it, not by names.
enum class Role {
    embedding,   // of tokens
    positions,   // learned, one row each
    projection,  // a matrix outside the layers
    matrix,      // of a layer
    output,      // a matrix of a layer whose product is added to the residual stream
    gain,
    bias,
};

/// One tensor of the flat vector, at `offset` floats, row-major.
struct TensorSpec {
    std::string name;                  // as in HF checkpoints, for example "h.0.attn.c_attn.weight"
    std::vector<std::uint64_t> shape;  // gpt2: Conv1D weights are [in, out]; opt: Linear weights are [out, in]
    std::uint64_t offset = 0;          // in floats
    Role role = Role::matrix;
    std::optional<std::uint32_t> layer = {};  // none: the tensor is shared by all, or stands behind the last one
    [[nodiscard]] std::uint64_t elements() const;
    /// In a layer, between its activations: what Muon steps and 2:4 pruning prunes.
    [[nodiscard]] bool is_hidden_matrix() const { return role == Role::matrix || role == Role::output; }
    [[nodiscard]] bool decays() const { return role != Role::gain && role != Role::bias; }
};

/// All tensors in the order of the flat vector. The head is tied to the token embedding and stored once.
/// gpt2: wte, wpe, then each layer's ln_1, attn, ln_2, mlp, then ln_f.
/// opt: embed_tokens, embed_positions [T + 2, C], project_in and project_out where the embedding has its own width,
/// then each layer's self_attn_layer_norm, the weights of q, k, v side by side, their biases side by side, out_proj,
/// final_layer_norm, fc1, fc2, then the decoder's final_layer_norm where norms stand before.
[[nodiscard]] std::vector<TensorSpec> tensors_of(const ModelSpec& spec);

/// Which way a matrix of a layer lies: inputs first as in GPT-2's Conv1D, or outputs first as in torch.nn.Linear.
enum class MatrixOrder { in_out, out_in };
[[nodiscard]] MatrixOrder matrix_order(Family family);

}  // namespace potluck::model
