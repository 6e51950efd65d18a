#include "app/node/hosting/held_model.h"

#include <algorithm>
#include <system_error>

#include "core/ledger/ledger.h"
#include "core/run/accept_list.h"
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

/// Whether the state is the base of a committed list, or the one that the run began with.
bool is_certified(const peer::StateStore::Held& held, const ledger::Ledger& ledger, const RunId& run,
                  const run::Manifest& manifest) {
    if (held.round.value == 0) return held.digest == manifest.initial_state.root;
    const auto committed = ledger.list(run, held.round);
    if (!committed) return false;
    const Result<run::AcceptList> list = run::AcceptList::decode(committed->list);
    return list.ok() && list->base == held.digest;
}

struct Choice {
    peer::StateStore::Held held;
    HeldModel::Standing standing = HeldModel::Standing::open;
};

/// `held` is not empty, oldest first.
Choice choose(const std::vector<peer::StateStore::Held>& held, WhichState which, const ledger::Ledger* ledger,
              const RunId& run, const run::Manifest& manifest) {
    const auto certified = [&](const auto& one) {
        return ledger != nullptr && is_certified(one, *ledger, run, manifest);
    };
    const auto found = std::find_if(held.rbegin(), held.rend(), certified);
    if (which == WhichState::certified && found != held.rend()) return {*found, HeldModel::Standing::certified};
    return {held.back(), certified(held.back()) ? HeldModel::Standing::certified : HeldModel::Standing::open};
}

}  // namespace

Result<HeldModel> held_model(const Node& node, WhichState which) {
    const RunSession* session = node.session();
    if (session == nullptr) return not_in_a_run();
    const auto held = session->store().held();
    if (held.empty()) return no_state;
    const run::Manifest& manifest = session->plan().manifest;
    const Choice choice = choose(held, which, &node.ledger(), session->run(), manifest);
    HeldModel model{session->run(),
                    manifest,
                    choice.held.round,
                    choice.standing,
                    node.options().data_folder,
                    node.identity().id(),
                    session->plan().name,
                    session->store().state_file(choice.held.round),
                    session->store().state_place(choice.held.round),
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

Result<HeldModel> held_model(const StoredNode& node, const fs::path& trainer_program, WhichState which) {
    if (!node.run()) return not_in_a_run();
    const StoredNode::Run& run = *node.run();
    if (run.states.empty()) {
        return Error{ErrorCode::unavailable,
                     "This data folder holds no state of the model; start its node to fetch it."};
    }
    const model::StateLayout layout = model::state_layout(run.manifest.model);
    const Choice choice = choose(run.states, which, node.ledger(), run.id, run.manifest);
    const fs::path file = state_file_in(run.folder, choice.held.round);
    HeldModel model{run.id,
                    run.manifest,
                    choice.held.round,
                    choice.standing,
                    node.data_folder(),
                    node.self().value_or(PeerId{}),
                    node.name(),
                    file,
                    {file, layout.header.size()},
                    {},
                    {},
                    trainer_program,
                    node.data_folder() / "trainer.log"};
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
