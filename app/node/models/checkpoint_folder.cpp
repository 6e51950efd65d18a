#include "app/node/models/checkpoint_folder.h"

#include <system_error>

#include "core/model/hf_checkpoint.h"
#include "core/model/hf_config.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
    std::error_code failed;
    return fs::is_regular_file(path, failed);
}

Result<std::vector<std::string>> weight_files(const fs::path& folder) {
    for (const char* whole : {"model.safetensors", "diffusion_pytorch_model.safetensors"})
        if (is_file(folder / whole)) return std::vector<std::string>{whole};
    const fs::path index = folder / "model.safetensors.index.json";
    if (!is_file(index)) {
        return Error{ErrorCode::not_found, "The folder " + folder.string() +
                                               " holds no model.safetensors; give a folder that transformers or "
                                               "diffusers saved with safetensors."};
    }
    const auto text = read_file(index, model::checkpoint_index_bytes_max);
    if (!text) return text.error();
    return model::checkpoint_files(*text);
}

}  // namespace

Result<CheckpointFolder> CheckpointFolder::open(const fs::path& folder) {
    const fs::path config = folder / "config.json";
    if (!is_file(config)) {
        return Error{ErrorCode::not_found, "The folder " + folder.string() +
                                               " holds no config.json; give a folder with a GPT-2, OPT, Llama, Qwen2 "
                                               "or Qwen3 checkpoint of Hugging Face transformers."};
    }
    const auto text = read_file(config, model::hf_config_bytes_max);
    if (!text) return text.error();
    const auto model = model::parse_hugging_face_config(*text);
    if (!model) return model.error();
    const auto names = weight_files(folder);
    if (!names) return names.error();
    std::vector<File> files;
    for (const std::string& name : *names) {
        auto map = MappedFile::open_read(folder / name);
        if (!map) return map.error();
        files.push_back({name, std::move(*map)});
    }
    return CheckpointFolder(*model, std::move(files));
}

Status CheckpointFolder::read(const model::ModelSpec& model, std::span<float> out) const {
    std::vector<model::CheckpointFile> views;
    views.reserve(m_files.size());
    for (const File& file : m_files) views.push_back({file.name, file.map.bytes()});
    return model::read_checkpoint(model, m_model.context, views, out);
}

}  // namespace potluck::node
