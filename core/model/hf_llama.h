// config.json of LlamaForCausalLM, Qwen2ForCausalLM and Qwen3ForCausalLM, to and from a ModelSpec. Private to
// hf_config.cpp, which asks here for these families.
// Pure. Threads: any.
#pragma once

#include <optional>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "core/base/result.h"
#include "core/model/model_spec.h"

namespace potluck::model {

enum class LlamaKind { llama, qwen2, qwen3 };
/// By model_type.
[[nodiscard]] std::optional<LlamaKind> llama_kind_named(std::string_view model_type);

/// A checkpoint that was made for more positions than a model of ours may have is one of as many as it may have: rotary
/// positions have no weights.
[[nodiscard]] Result<ModelSpec> parse_llama_config(const nlohmann::json& config, LlamaKind kind);
[[nodiscard]] nlohmann::json llama_config(const ModelSpec& model);

}  // namespace potluck::model
