#include "app/node/export_model.h"

#include <algorithm>
#include <system_error>

#include <nlohmann/json.hpp>

#include "app/node/export_tokenizer.h"
#include "app/node/sampler.h"
#include "core/base/files.h"
#include "core/run/hf_config.h"
#include "core/run/state_layout.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

Status make_folder(const fs::path& folder) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (!failed) return {};
    return Error{ErrorCode::permission,
                 "The folder " + folder.string() + " cannot be made (" + failed.message() + ")."};
}

/// Prunes a copy of the state in a file of its own, which gets its name when it is whole.
Result<run::PrunedModel> write_pruned(const run::ModelSpec& model, ByteSpan state, const fs::path& file) {
    const fs::path partial = file.string() + ".partial";
    std::error_code failed;
    run::PrunedModel pruned;
    {
        auto map = MappedFile::create(partial, state.size());
        if (!map) return map.error();
        std::copy(state.begin(), state.end(), map->writable().begin());
        const std::size_t header = state.size() - 4 * static_cast<std::size_t>(model.parameters());
        auto* first = reinterpret_cast<float*>(map->writable().data() + header);
        pruned = run::prune_2_of_4(model, std::span(first, static_cast<std::size_t>(model.parameters())));
        if (const Status synced = map->sync(); !synced) return synced.error();
    }
    fs::rename(partial, file, failed);
    if (failed) return Error{ErrorCode::io, file.string() + " cannot be written (" + failed.message() + ")."};
    return pruned;
}

}  // namespace

Result<ExportedModel> export_model(const Node& node, const fs::path& folder, Sparsity sparsity) {
    const RunSession* session = node.session();
    if (session == nullptr)
        return Error{ErrorCode::not_found, "This node is in no run; join one with an invite first."};
    const auto round = newest_state(*session);
    if (!round) return round.error();
    if (const Status made = make_folder(folder); !made) return made.error();
    const fs::path file = folder / "model.safetensors";
    if (fs::exists(file)) {
        return Error{ErrorCode::invalid_argument, folder.string() + " already holds a model; give another folder."};
    }
    const run::ModelSpec& model = session->plan().manifest.model;
    const ByteSpan state = session->store().state_bytes(*round);
    ExportedModel exported{{file.string(), (folder / "config.json").string()}, {}};
    if (sparsity == Sparsity::two_of_four) {
        const auto pruned = write_pruned(model, state, file);
        if (!pruned) return pruned.error();
        exported.pruned = *pruned;
    } else if (Status written = write_file_atomically(file, state); !written) {
        return written.error();
    }
    const std::string config = run::hugging_face_config(model).dump(2) + "\n";
    if (Status written = write_file_atomically(exported.files.back(), as_bytes(config)); !written)
        return written.error();
    if (Status written = export_tokenizer(*session, folder, exported.files); !written) return written.error();
    return exported;
}

}  // namespace potluck::node
