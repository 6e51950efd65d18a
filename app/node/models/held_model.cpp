// Both kinds of node answer with the same values: which state, which files. Without a node the tokenizer's blobs are
// looked for where they were fetched to, or, on the host, among the files that its run's folder seeds; the size of such
// a file is checked, since a download may be half there. A checkpoint of no run has its weights copied into one vector,
// since its file may hold them in other types and another order than the trainer reads.
//
// Whether a state is certified is asked of the ledger: the base of a committed list is.
#include "app/node/models/held_model.h"

#include <algorithm>
#include <random>
#include <system_error>
#include <utility>

#include "app/node/models/checkpoint_folder.h"
#include "core/base/files.h"
#include "core/data/pictures/picture_folder.h"
#include "core/data/text_packer.h"
#include "core/ledger/ledger.h"
#include "core/model/token.h"
#include "core/model/traits.h"
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

bool is_of_tokenizer(const fs::path& file) {
    return file.extension() == ".json" || file.extension() == ".txt" || file.extension() == ".model" ||
           file.filename() == coder_file_name;
}
bool is_validation(const fs::path& file) { return file.filename() == data::validation_file_name; }

/// Where a blob lies: a host keeps its copy in the run's folder, everybody else fetched it. An empty path if it is not
/// here.
fs::path file_of(const run::BlobRef& blob, const StoredNode& node, const std::vector<HostedFile>& hosted,
                 bool (*is_of_kind)(const fs::path&)) {
    const fs::path fetched = net::fetched_path(node.data_folder() / "network" / "blobs", blob);
    if (has_size(fetched, blob.size)) return fetched;
    for (const HostedFile& one : hosted)
        if (is_of_kind(one.file) && has_size(one.file, blob.size)) return one.file;
    return {};
}

/// The coder of a model that draws: the last of the tokenizer's files.
void take_coder(HeldModel& model) {
    const auto& named = model.manifest.tokenizer.pictures;
    if (!named || model.tokenizer_files.empty()) return;
    model.coder = {named->model, model.tokenizer_files.back(), model.trainer_program, model.trainer_errors};
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

constexpr std::uint32_t byte_vocabulary = 256;

/// The tokens that text is made of: all but an encoder's marks and a drawer's codes.
std::uint32_t text_vocabulary_of(const model::ModelSpec& model) {
    if (model::is_drawer(model)) return model::caption_shape(model).vocabulary;
    if (const auto marks = model::text_marks(model); marks && marks->pad == byte_vocabulary) return byte_vocabulary;
    return model.vocabulary;
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
                    node.keys().person.id(),
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
    take_coder(model);
    if (const peer::BlobPointer blob = session->swarm().blob(manifest.validation.blob.root)) {
        model.validation = blob->path();
        model.blobs.push_back(blob);
    }
    if (session->evaluated() && session->evaluated()->round == model.round)
        model.figures = session->evaluated()->reply.figures;
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
        const fs::path here = file_of(ref, node, *hosted, is_of_tokenizer);
        if (here.empty()) {
            model.tokenizer_files.clear();
            break;
        }
        model.tokenizer_files.push_back(here);
    }
    take_coder(model);
    model.validation = file_of(run.manifest.validation.blob, node, *hosted, is_validation);
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
    const std::size_t last = kind == run::TokenizerKind::bpe ? 1 : 0;
    return data::Tokenizer::open({kind, model.tokenizer_files.front(), model.tokenizer_files.at(last)});
}

TrainerQuestion question_about(const HeldModel& model) {
    TrainerQuestion question;
    question.program = model.trainer_program;
    question.error_file = model.trainer_errors;
    question.load = {model.manifest.model, model.manifest.recipe, {model.state.file.string(), model.state.offset}, 0};
    return question;
}

Result<StoredCoder> open_coder(const HeldModel& model) {
    if (model.coder) return *model.coder;
    return Error{ErrorCode::unavailable, "The run's picture coder is still being fetched; try again in a moment."};
}

OpenedCheckpoint::OpenedCheckpoint(OpenedCheckpoint&& other) noexcept
    : m_scratch(std::exchange(other.m_scratch, {})), m_model(std::move(other.m_model)) {}

OpenedCheckpoint::~OpenedCheckpoint() {
    std::error_code ignored;
    if (!m_scratch.empty()) fs::remove_all(m_scratch, ignored);
}

Result<OpenedCheckpoint> OpenedCheckpoint::open(const fs::path& folder, const fs::path& trainer_program) {
    std::error_code failed;
    std::random_device random;
    const fs::path scratch =
        fs::temp_directory_path(failed) / ("potluck-sample-" + std::to_string(random()) + std::to_string(random()));
    if (!failed) fs::create_directories(scratch, failed);
    if (failed) return Error{ErrorCode::io, scratch.string() + " cannot be made (" + failed.message() + ")."};
    OpenedCheckpoint opened(scratch);
    if (const Status taken = opened.take(folder, trainer_program); !taken) return taken.error();
    return opened;
}

Status OpenedCheckpoint::hold_out(const fs::path& pictures) {
    const model::ModelSpec& spec = m_model.manifest.model;
    if (!model::is_embedder(spec)) {
        return Error{ErrorCode::invalid_argument, "--pictures is for a model that compares pictures (" +
                                                      model::titles_of(model::is_embedder) + "); leave it out."};
    }
    const auto found = data::PictureFolder::open(pictures);
    if (!found) return found.error();
    const std::uint64_t some = std::min(found->size(), model::pictures_compared_max(spec.context));
    std::vector<model::Token> records;
    for (std::uint64_t i = 0; i < some; ++i) {
        const auto record = found->record(i * found->size() / some, model::picture_side(spec));
        if (record) records.insert(records.end(), record->begin(), record->end());
    }
    m_model.manifest.validation.records = records.size() / (std::size_t{spec.context} + 1);
    if (m_model.manifest.validation.records < 2) {
        return Error{ErrorCode::invalid_argument,
                     pictures.string() + " holds fewer than two pictures that can be read; name another folder."};
    }
    m_model.validation = m_scratch / data::validation_file_name;
    return write_file_atomically(m_model.validation,
                                 model::stored_tokens(records, model::token_width(spec.vocabulary)));
}

Status OpenedCheckpoint::take(const fs::path& folder, const fs::path& trainer_program) {
    const auto checkpoint = CheckpointFolder::open(folder);
    if (!checkpoint) return checkpoint.error();
    const model::ModelSpec& spec = checkpoint->model();
    m_model.manifest.model = spec;
    // A trainer computes pictures that belong together in whole groups, whatever it is asked.
    if (model::is_embedder(spec)) m_model.manifest.recipe.batch = model::records_together(spec);
    m_model.trainer_program = trainer_program;
    m_model.trainer_errors = m_scratch / "trainer.log";
    m_model.state = {m_scratch / "weights.f32", 0};
    auto weights = MappedFile::create(m_model.state.file, 4 * spec.parameters());
    if (!weights) return weights.error();
    auto* first = reinterpret_cast<float*>(weights->writable().data());
    const Status read = checkpoint->read(spec, std::span(first, static_cast<std::size_t>(spec.parameters())));
    if (!read) return read;

    const auto files = data::find_tokenizer(folder);
    const bool found = files.ok() && files->kind != run::TokenizerKind::bytes;
    if (!found && text_vocabulary_of(spec) != byte_vocabulary) {
        return Error{ErrorCode::not_found, "The folder " + folder.string() +
                                               " holds no tokenizer; put the one that the model was trained with "
                                               "beside its weights."};
    }
    if (found) {
        m_model.manifest.tokenizer.kind = files->kind;
        m_model.tokenizer_files = {files->model, files->merges};
    }
    if (!model::is_drawer(spec)) return {};
    auto coder = store_coder(folder / coder_folder_name, m_scratch / coder_file_name, trainer_program);
    if (!coder) return coder.error();
    coder->trainer_errors = m_model.trainer_errors;
    if (!model::fits_drawer(coder->model, spec)) {
        return Error{ErrorCode::invalid_argument,
                     "The picture coder in " + (folder / coder_folder_name).string() + " is another model's."};
    }
    m_model.coder = *std::move(coder);
    return {};
}

}  // namespace potluck::node
