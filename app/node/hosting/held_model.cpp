#include "app/node/hosting/held_model.h"

#include <algorithm>
#include <system_error>

#include "net/blob_index.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

const Error no_state{ErrorCode::unavailable, "The model is still being fetched; try again in a moment."};

bool has_size(const fs::path& file, std::uint64_t size) {
    std::error_code missing;
    return fs::file_size(file, missing) == size && !missing;
}

/// Where a blob of the tokenizer lies: a host keeps its copy in the run's folder, everybody else fetched it. An empty
/// path if it is not here.
fs::path file_of(const run::BlobRef& blob, const StoredNode& node, const std::vector<HostedFile>& hosted) {
    const fs::path fetched = net::fetched_path(node.data_folder() / "network" / "blobs", blob);
    if (has_size(fetched, blob.size)) return fetched;
    for (const HostedFile& one : hosted) {
        const bool text =
            one.file.extension() == ".json" || one.file.extension() == ".txt" || one.file.extension() == ".model";
        if (text && has_size(one.file, blob.size)) return one.file;
    }
    return {};
}

}  // namespace

Result<HeldModel> held_model(const Node& node) {
    const RunSession* session = node.session();
    if (session == nullptr) {
        return Error{ErrorCode::not_found, "This node is in no run; join one with an invite first."};
    }
    const auto held = session->store().held();
    if (held.empty()) return no_state;
    const RoundId newest = held.back().round;
    HeldModel model{session->plan().manifest,
                    session->store().state_file(newest),
                    session->store().state_place(newest),
                    {},
                    {},
                    session->plan().trainer_program,
                    session->plan().trainer_errors};
    for (const run::BlobRef& ref : model.manifest.tokenizer.blobs()) {
        const peer::BlobPointer blob = session->swarm().blob(ref.root);
        if (!blob) {
            model.tokenizer_files.clear();
            break;
        }
        model.tokenizer_files.push_back(blob->path());
        model.blobs.push_back(blob);
    }
    return model;
}

Result<HeldModel> held_model(const StoredNode& node, const fs::path& trainer_program) {
    if (!node.run()) return Error{ErrorCode::not_found, "The node of this data folder is in no run."};
    const StoredNode::Run& run = *node.run();
    if (run.states.empty()) {
        return Error{ErrorCode::unavailable,
                     "This data folder holds no state of the model; start its node to fetch it."};
    }
    const model::StateLayout layout = model::state_layout(run.manifest.model);
    const fs::path file = state_file_in(run.folder, run.states.back().round);
    HeldModel model{
        run.manifest, file, {file, layout.header.size()}, {}, {}, trainer_program, node.data_folder() / "trainer.log"};
    const auto hosted = load_hosted(run.folder);
    if (!hosted) return hosted.error();
    for (const run::BlobRef& ref : model.manifest.tokenizer.blobs()) {
        const fs::path here = file_of(ref, node, *hosted);
        if (here.empty()) {
            model.tokenizer_files.clear();
            break;
        }
        model.tokenizer_files.push_back(here);
    }
    return model;
}

Result<data::Tokenizer> open_tokenizer(const HeldModel& model) {
    const run::TokenizerKind kind = model.manifest.tokenizer.kind;
    if (kind == run::TokenizerKind::bytes) return data::Tokenizer::bytes();
    if (kind == run::TokenizerKind::none) {
        return Error{ErrorCode::unavailable,
                     "This run's host gave tokens without a tokenizer; export the model and decode its tokens there."};
    }
    if (model.tokenizer_files.empty()) {
        return Error{ErrorCode::unavailable, "The run's tokenizer is still being fetched; try again in a moment."};
    }
    return data::Tokenizer::open({kind, model.tokenizer_files.front(), model.tokenizer_files.back()});
}

}  // namespace potluck::node
