// config.json of Hugging Face transformers, to and from a ModelSpec, for GPT-2, OPT, Llama, Qwen2 and Qwen3.
//
// The file is open (it holds much that is no business of the weights); what decides how the weights are used is read
// strictly, with transformers' defaults where it is missing. Dropout is not read: it belongs to how one trains.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/model/model_spec.h"

namespace potluck::model {

inline constexpr std::size_t hf_config_bytes_max = 1U << 20U;

/// `malformed` with a sentence that names what we cannot train: another family, activation, scaling of attention or of
/// angles, sliding windows, biases too many or too few, quantised weights; of GPT-2 and OPT another inner width and an
/// untied head.
[[nodiscard]] Result<ModelSpec> parse_hugging_face_config(ByteSpan text);

/// The model_types that are known: "gpt2, opt, llama ...".
[[nodiscard]] std::string hugging_face_types();

/// config.json of a GPT2LMHeadModel, OPTForCausalLM, LlamaForCausalLM, Qwen2ForCausalLM or Qwen3ForCausalLM. Parsing it
/// returns `model` without its dropout.
[[nodiscard]] nlohmann::json hugging_face_config(const ModelSpec& model);

}  // namespace potluck::model
