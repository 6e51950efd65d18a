// A folder as Hugging Face transformers writes it, opened to start a run from: config.json and the weights, either
// model.safetensors or the files that model.safetensors.index.json names. What is in them is judged by
// core/model/hf_config.h and core/model/hf_checkpoint.h; this class only finds and maps the files.
//
// Threads: one at a time. Owns: the maps, for as long as it lives.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/base/result.h"
#include "core/model/model_spec.h"

namespace potluck::node {

class CheckpointFolder {
public:
    [[nodiscard]] static Result<CheckpointFolder> open(const std::filesystem::path& folder);

    /// The model that config.json describes, without dropout.
    [[nodiscard]] const model::ModelSpec& model() const { return m_model; }
    /// Fills `out` with the parameters of `model`, which is model() but for dropout and a context that may be smaller.
    [[nodiscard]] Status read(const model::ModelSpec& model, std::span<float> out) const;

private:
    struct File {
        std::string name;
        MappedFile map;
    };
    CheckpointFolder(const model::ModelSpec& model, std::vector<File> files)
        : m_model(model), m_files(std::move(files)) {}

    model::ModelSpec m_model;
    std::vector<File> m_files;
};

}  // namespace potluck::node
