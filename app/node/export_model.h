// Writes the newest state as a folder that Hugging Face transformers opens: model.safetensors, config.json, and the
// tokenizer or a note on it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/node/node.h"
#include "core/run/model_spec.h"

namespace potluck::node {

/// config.json of a GPT2LMHeadModel with these shapes.
[[nodiscard]] nlohmann::json hugging_face_config(const run::ModelSpec& model);

/// Paths of the files written. The folder is made if missing; a model that is there already is not replaced.
[[nodiscard]] Result<std::vector<std::string>> export_model(const Node& node, const std::filesystem::path& folder);

}  // namespace potluck::node
