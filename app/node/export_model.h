// Writes the newest state as a folder that Hugging Face transformers opens: model.safetensors, config.json, and the
// tokenizer or a note on it.
// Threads: the loop's; takes as long as the disk needs for the model.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/node/node.h"
#include "core/run/sparse_model.h"

namespace potluck::node {

/// two_of_four: the matrices of attention and MLP by the rule of core/numerics/sparse24.h.
enum class Sparsity { dense, two_of_four };

struct ExportedModel {
    std::vector<std::string> files;
    std::optional<run::PrunedModel> pruned;
};

/// The folder is made if missing; a model that is there already is not replaced.
[[nodiscard]] Result<ExportedModel> export_model(const Node& node, const std::filesystem::path& folder,
                                                 Sparsity sparsity);

}  // namespace potluck::node
