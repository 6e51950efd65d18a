// The config.json of an exported model of a family that transformers does not have: the fields are ModelSpec's, below a
// model_type of our own; and of diffusers' VQModel, a picture coder with a code book, as diffusers writes it. Private
// to hf_config.cpp. Pure. Threads: any.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/base/result.h"
#include "core/model/model_spec.h"

namespace potluck::model {

inline constexpr const char* coder_model_type = "potluck_coder";
inline constexpr const char* dalle_model_type = "potluck_dalle";
inline constexpr const char* swav_model_type = "potluck_swav";

[[nodiscard]] Result<ModelSpec> parse_coder_config(const nlohmann::json& config);
[[nodiscard]] nlohmann::json coder_config(const ModelSpec& model);

inline constexpr const char* book_class_name = "VQModel";
/// `sample_size` is taken for the side of a picture.
[[nodiscard]] Result<ModelSpec> parse_book_config(const nlohmann::json& config);

[[nodiscard]] Result<ModelSpec> parse_dalle_config(const nlohmann::json& config);
[[nodiscard]] nlohmann::json dalle_config(const ModelSpec& model);

[[nodiscard]] Result<ModelSpec> parse_swav_config(const nlohmann::json& config);
[[nodiscard]] nlohmann::json swav_config(const ModelSpec& model);

}  // namespace potluck::model
