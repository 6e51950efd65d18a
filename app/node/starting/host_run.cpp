// The run is made in runs/new and renamed to its id as the last step, since the id is the hash of what is made; a crash
// or an error leaves no half run behind, and the next attempt clears the folder. The order of the passes puts what is
// quick to refuse (tokenizer, model, initial state) before the text, which may be gigabytes.
//
// The tokenizer is opened from the copies that will be seeded, so what packs the text is what volunteers get. The
// finished manifest is read back by the parser every member uses: what it refuses is not hosted. theta[0] exists twice,
// as the node's first state, which will be replaced, and as a file that is seeded for as long as the run is hosted.
//
// Threads: the caller's.
#include "app/node/starting/host_run.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <thread>

#include "app/node/member/run_session.h"
#include "app/node/member/state_files.h"
#include "app/node/models/checkpoint_folder.h"
#include "app/node/models/picture_coding.h"
#include "app/node/paths.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/data/pictures/caption_records.h"
#include "core/data/pictures/picture_records.h"
#include "core/model/initial_state.h"
#include "core/model/traits.h"
#include "net/blob_torrent.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

const Error given_up{ErrorCode::cancelled, "The run was given up before it was made."};

control::MakingStage stage_of(data::PackStage stage) {
    switch (stage) {
        case data::PackStage::reading: return control::MakingStage::reading;
        case data::PackStage::tokenizing: return control::MakingStage::tokenizing;
        case data::PackStage::shuffling: break;
    }
    return control::MakingStage::shuffling;
}

/// Makes the run in `m_folder`, a folder of its own that becomes the run's once its id is known.
class Host {
public:
    Host(const HostPlan& plan, const identity::Identity& host, const run::Device& computer, fs::path folder,
         const MakingProgress& progress)
        : m_plan(plan), m_host(host), m_computer(computer), m_folder(std::move(folder)), m_progress(progress) {}

    Status tokenizer();
    Status model();
    Status initial_state();
    Status text();
    Status shards();
    Result<Bytes> signed_manifest();

    [[nodiscard]] const run::Manifest& manifest() const { return m_manifest; }
    [[nodiscard]] data::PackedText& packed() { return m_text; }

private:
    Status open_checkpoint();
    [[nodiscard]] Status check_data() const;
    Status adopt_coder();
    Result<data::PackedText> packed_captions(const data::PackPlan& plan, const data::PackProgress& progress) const;
    Result<model::ModelSpec> checkpoint_model() const;
    Result<data::TokenizerFiles> find_tokenizer() const;
    Status check_vocabulary() const;
    void take_marks(model::ModelSpec& model) const;
    [[nodiscard]] const model::ModelSpec& wanted() const { return m_checkpoint ? m_checkpoint->model() : m_plan.model; }
    /// Tokens that may occur; 0 if nobody said.
    [[nodiscard]] std::uint32_t vocabulary() const {
        return std::max(m_plan.vocabulary, m_tokenizer ? m_tokenizer->vocabulary() : 0);
    }
    Status fill(std::span<float> parameters) const;
    Result<run::BlobRef> adopt(const fs::path& file, const char* name);
    Result<run::BlobRef> reference(const fs::path& file, const std::string& name, run::BlobKind kind);
    [[nodiscard]] std::string file_title(const std::string& what) const { return m_plan.name + " " + what; }

    const HostPlan& m_plan;
    const identity::Identity& m_host;
    const run::Device m_computer;
    fs::path m_folder;
    const MakingProgress& m_progress;
    std::optional<CheckpointFolder> m_checkpoint;
    std::optional<data::Tokenizer> m_tokenizer;
    StoredCoder m_coder;  // of a model that draws
    run::Manifest m_manifest;
    data::PackedText m_text;
    std::vector<HostedFile> m_hosted;
};

Status Host::open_checkpoint() {
    if (m_plan.from.empty()) return {};
    auto checkpoint = CheckpointFolder::open(m_plan.from);
    if (!checkpoint) return checkpoint.error();
    m_checkpoint = std::move(*checkpoint);
    return {};
}

/// The tokenizer that was asked for, else the checkpoint's.
Result<data::TokenizerFiles> Host::find_tokenizer() const {
    const bool draws = model::is_drawer(wanted());
    const bool may_lack = !draws && !m_plan.tokens.empty() && (m_checkpoint || m_plan.vocabulary > 0);
    if (m_plan.tokenizer.empty() && !m_checkpoint && may_lack)
        return data::TokenizerFiles{run::TokenizerKind::none, {}, {}};
    if (m_plan.tokenizer.empty() && !m_checkpoint && !m_plan.tokens.empty() && !draws) {
        return Error{ErrorCode::invalid_argument,
                     "Say what the tokens stand for with --tokenizer, or how many there are with --vocabulary."};
    }
    if (!m_plan.tokenizer.empty() || !m_checkpoint) return data::find_tokenizer(m_plan.tokenizer);
    auto own = data::find_tokenizer(m_plan.from);
    if (own) return own;
    if (may_lack) return data::TokenizerFiles{run::TokenizerKind::none, {}, {}};
    constexpr std::uint32_t byte_values = 256;  // a model of bytes needs no file
    const model::ModelSpec& model = m_checkpoint->model();
    const auto marks = model::text_marks(model);
    const bool marks_behind = marks && marks->pad == byte_values;
    if (draws && model::caption_shape(model).vocabulary == byte_values) return data::TokenizerFiles{};
    if (model.vocabulary == byte_values + (marks_behind ? model::text_marks_count : 0)) return data::TokenizerFiles{};
    return Error{
        ErrorCode::not_found,
        "The checkpoint's folder holds neither vocab.json with merges.txt nor tokenizer.json nor tokenizer.model; "
        "give its tokenizer with --tokenizer."};
}

/// Copies a file of the tokenizer into the run's folder and returns what the manifest calls it.
Result<run::BlobRef> Host::adopt(const fs::path& file, const char* name) {
    const fs::path copy = m_folder / name;
    std::error_code failed;
    fs::create_directories(m_folder, failed);
    fs::copy_file(file, copy, fs::copy_options::overwrite_existing, failed);
    if (failed) return Error{ErrorCode::io, copy.string() + " cannot be written (" + failed.message() + ")."};
    return reference(copy, "blob", run::BlobKind::plain);
}

/// What the run's folder calls a tokenizer's first file.
const char* own_name(run::TokenizerKind kind) {
    if (kind == run::TokenizerKind::bpe) return "vocab.json";
    return kind == run::TokenizerKind::tokenizer_json ? "tokenizer.json" : "tokenizer.model";
}

/// Whether the data is of the kind that the model is trained on.
Status Host::check_data() const {
    const bool alone = model::reads_pictures(wanted()), pictures = !m_plan.pictures.empty();
    if (model::has_code_book(wanted())) {
        return Error{
            ErrorCode::invalid_argument,
            "A picture coder with a code book is not trained here; give it to a model that draws, with --model " +
                model::presets_of(model::is_drawer) + " --coder."};
    }
    if (model::is_drawer(wanted())) {
        if (pictures || !m_plan.tokens.empty()) return {};
        return Error{ErrorCode::invalid_argument,
                     std::string(model::family_title(wanted())) +
                         " is trained on pictures with captions; give a folder of them with --pictures, or what pack "
                         "made of one with --tokens."};
    }
    if (!m_plan.coder.empty()) {
        return Error{ErrorCode::invalid_argument,
                     "--coder is for a model that draws; choose --model " + model::presets_of(model::is_drawer) + "."};
    }
    if (alone == pictures) return {};
    return Error{ErrorCode::invalid_argument,
                 alone ? "A model of the kind " + std::string(model::family_title(wanted())) +
                             " is trained on pictures; give a folder of PNG or PPM with --pictures."
                       : "Pictures train a " + model::titles_of(model::reads_pictures) + ", or " +
                             model::titles_of(model::is_drawer) + " with captions; choose --model " +
                             model::presets_of(model::takes_pictures) + "."};
}

/// The coder of a model that draws, and its part of the manifest.
Status Host::adopt_coder() {
    std::error_code unknown;
    fs::path checkpoint = m_plan.coder;
    if (checkpoint.empty() && m_checkpoint && fs::is_directory(m_plan.from / coder_folder_name, unknown))
        checkpoint = m_plan.from / coder_folder_name;
    if (checkpoint.empty()) {
        return Error{ErrorCode::invalid_argument, std::string(model::family_title(wanted())) +
                                                      " draws with a picture coder; train one (host --model " +
                                                      model::presets_of(model::is_coder) +
                                                      "), export it, and give its folder with --coder."};
    }
    auto stored = store_coder(checkpoint, m_folder / coder_file_name, m_plan.trainer_program);
    if (!stored) return stored.error();
    m_coder = *std::move(stored);
    auto blob = reference(m_coder.file, "blob", run::BlobKind::plain);
    if (!blob) return blob.error();
    m_manifest.tokenizer.pictures = {m_coder.model, *blob};
    return {};
}

/// The tokenizer, opened from the copies that are seeded, and its part of the manifest.
Status Host::tokenizer() {
    if (const Status opened = open_checkpoint(); !opened) return opened;
    if (const Status fine = check_data(); !fine) return fine;
    if (model::reads_pictures(wanted())) {
        m_manifest.tokenizer.kind = run::TokenizerKind::none;
        return {};
    }
    if (model::is_drawer(wanted())) {
        if (const Status adopted = adopt_coder(); !adopted) return adopted;
    }
    auto files = find_tokenizer();
    if (!files) return files.error();
    m_manifest.tokenizer.kind = files->kind;
    const auto take = [this](fs::path& file, const char* name, run::BlobRef& blob) -> Status {
        auto adopted = adopt(file, name);
        if (!adopted) return adopted.error();
        blob = *adopted;
        file = m_folder / name;
        return {};
    };
    const bool bpe = files->kind == run::TokenizerKind::bpe;
    Status taken;
    if (!files->model.empty()) taken = take(files->model, own_name(files->kind), m_manifest.tokenizer.model);
    if (taken && bpe) taken = take(files->merges, "merges.txt", m_manifest.tokenizer.merges);
    if (!taken) return taken.error();
    if (files->kind == run::TokenizerKind::none) return check_vocabulary();
    auto tokenizer = data::Tokenizer::open(*files);
    if (!tokenizer) return tokenizer.error();
    m_tokenizer = std::move(*tokenizer);
    return check_vocabulary();
}

Status Host::check_vocabulary() const {
    if (m_plan.vocabulary == 0) return {};
    const bool bytes = m_manifest.tokenizer.kind == run::TokenizerKind::bytes;
    if (m_plan.vocabulary > data::vocabulary_max || (bytes && m_plan.vocabulary != m_tokenizer->vocabulary()) ||
        (m_tokenizer && m_plan.vocabulary < m_tokenizer->vocabulary())) {
        return Error{ErrorCode::invalid_argument,
                     "The vocabulary is as large as the tokenizer's (256 without one) or larger, up to " +
                         std::to_string(data::vocabulary_max) + "."};
    }
    return {};
}

/// The checkpoint's model with the plan's dropout and context, if the tokenizer's tokens all have a place in it.
Result<model::ModelSpec> Host::checkpoint_model() const {
    model::ModelSpec model = m_checkpoint->model();
    const std::uint32_t tokens = vocabulary();
    if (model.vocabulary > data::vocabulary_max) {
        return Error{ErrorCode::invalid_argument, "The checkpoint has " + std::to_string(model.vocabulary) +
                                                      " tokens; this version trains at most " +
                                                      std::to_string(data::vocabulary_max) +
                                                      ", so take a model with fewer."};
    }
    if (model::is_drawer(model)) {
        if (m_plan.model.context != 0 && m_plan.model.context != model.context) {
            return Error{ErrorCode::invalid_argument,
                         std::string(model::family_title(model)) +
                             "'s context is a caption and a picture; leave --context out."};
        }
        if (model::drawer_with(model, m_coder.model, tokens) == model) return model;
        return Error{ErrorCode::invalid_argument,
                     "The checkpoint was trained with another picture coder or tokenizer; give those with --coder and "
                     "--tokenizer."};
    }
    const bool bytes = m_manifest.tokenizer.kind == run::TokenizerKind::bytes;
    if (bytes && !model::is_encoder(model) ? tokens != model.vocabulary : tokens > model.vocabulary) {
        return Error{ErrorCode::invalid_argument, "The tokenizer has " + std::to_string(tokens) +
                                                      " tokens and the checkpoint " + std::to_string(model.vocabulary) +
                                                      "; give the tokenizer that the checkpoint was trained with."};
    }
    if (m_plan.model.context > model.context) {
        return Error{ErrorCode::invalid_argument, "The checkpoint has positions for " + std::to_string(model.context) +
                                                      " tokens; give a context of at most that many."};
    }
    if (model::reads_pictures(model) && m_plan.model.context != 0 && m_plan.model.context != model.context) {
        return Error{ErrorCode::invalid_argument,
                     "The checkpoint says how large its pictures are; leave --context and --side out."};
    }
    if (m_plan.model.context != 0) model.context = m_plan.model.context;
    model.dropout = m_plan.model.dropout;
    return model;
}

/// The marks of a fresh encoder: the tokenizer's own, or four behind it.
void Host::take_marks(model::ModelSpec& model) const {
    if (!m_tokenizer) return;
    const data::PairMarks marks = m_tokenizer->marks();
    model::set_text_marks(model, {marks.pad, marks.cls, marks.sep, marks.mask});
    model.vocabulary = std::max(model.vocabulary, std::max({marks.pad, marks.cls, marks.sep, marks.mask}) + 1);
}

Status Host::model() {
    m_manifest.model = m_plan.model;
    if (!model::reads_pictures(m_plan.model)) m_manifest.model.vocabulary = vocabulary();
    if (!m_checkpoint && model::is_drawer(m_plan.model))
        m_manifest.model = model::drawer_with(m_plan.model, m_coder.model, vocabulary());
    if (!m_checkpoint && model::is_encoder(m_manifest.model)) take_marks(m_manifest.model);
    if (m_checkpoint) {
        const auto model = checkpoint_model();
        if (!model) return model.error();
        m_manifest.model = *model;
    }
    if (const auto checked = model::ModelSpec::from_json(m_manifest.model.to_json()); !checked) return checked.error();
    if (model::is_encoder(m_manifest.model) && (!m_plan.tokens.empty() || !m_tokenizer)) {
        return Error{ErrorCode::invalid_argument,
                     "An encoder is trained on pairs of sentences, which files of tokens do not show; give --text."};
    }
    m_manifest.recipe = m_plan.recipe;
    m_manifest.recipe.batch = run::fitting_batch(m_manifest.model, m_plan.recipe.batch);
    if (m_plan.window == HostPlan::Window::by_size)
        m_manifest.recipe.window = run::usual_window(m_manifest.model.parameters());
    if (m_plan.patience == HostPlan::Patience::by_window)
        m_manifest.recipe.collect = run::usual_collect(m_manifest.recipe.window);
    run::Recipe& recipe = m_manifest.recipe;
    if (recipe.measuring.every == 0) recipe.measuring.every = run::usual_measuring(recipe.total_rounds);
    if (recipe.probation_rounds == 0) recipe.probation_time = Duration{0};
    if (recipe.probation_time.count() > 0)
        recipe.probation_tokens = run::usual_probation_tokens(m_manifest.model, recipe);
    if (const auto checked = run::Recipe::from_json(recipe.to_json()); !checked) return checked.error();
    return {};
}

Result<data::PackedText> Host::packed_captions(const data::PackPlan& plan, const data::PackProgress& progress) const {
    if (!m_plan.tokens.empty()) return data::pack_caption_tokens(plan, m_manifest.model, progress);
    return data::pack_captions(plan, {m_manifest.model, m_coder.model, *m_tokenizer, coding_by(m_coder)}, progress);
}

Status Host::text() {
    const bool tokens = !m_plan.tokens.empty();
    const data::PackPlan plan{.source = !m_plan.pictures.empty() ? m_plan.pictures
                                        : tokens                 ? m_plan.tokens
                                                                 : m_plan.text,
                              .folder = m_folder / "data",
                              .context = m_manifest.model.context,
                              .key = m_plan.recipe.seed,
                              .model_vocabulary = m_manifest.model.vocabulary,
                              .records_compared = run::records_measured(m_manifest.model, ~0ULL)};
    const std::uint32_t below = vocabulary() > 0 ? vocabulary() : m_manifest.model.vocabulary;
    const data::PackProgress progress = [this](data::PackStage stage, double fraction) {
        return m_progress(stage_of(stage), fraction);
    };
    if (const auto found = model::text_marks(m_manifest.model)) {
        const data::PairMarks marks{found->pad, found->cls, found->sep, found->mask};
        auto pairs = data::pack_pairs(plan, *m_tokenizer, marks, progress);
        if (!pairs) return pairs.error();
        m_text = std::move(*pairs);
        return {};
    }
    const model::ModelSpec& model = m_manifest.model;
    auto text = model::is_drawer(model)  ? packed_captions(plan, progress)
                : model::is_coder(model) ? data::pack_pictures(plan, model::picture_side(model), progress)
                : model::is_embedder(model)
                    ? data::pack_classed_pictures(plan, model::picture_side(model), model::clusters_of(model), progress)
                : tokens ? data::pack_tokens(plan, below, progress)
                         : data::pack_text(plan, *m_tokenizer, progress);
    if (!text) return text.error();
    m_text = std::move(*text);
    return {};
}

/// What a blob of this file is called by others; the file is seeded under that name at every start.
Result<run::BlobRef> Host::reference(const fs::path& file, const std::string& name, run::BlobKind kind) {
    auto map = MappedFile::open_read(file);
    if (!map) return map.error();
    const auto hashes = net::hash_content(map->bytes(), kind, std::stop_token());
    if (!hashes) return hashes.error();
    run::BlobRef blob{hashes->root, map->bytes().size(), kind, {}};
    if (kind == run::BlobKind::open)
        blob.info_hash = net::open_info(name, blob.root, blob.size, hashes->pieces).info_hash;
    m_hosted.push_back({fs::relative(file, m_folder), name, kind});
    return blob;
}

Status Host::shards() {
    for (const data::PackedShard& shard : m_text.shards) {
        const auto done = static_cast<double>(m_manifest.shards.size());
        if (!m_progress(control::MakingStage::hashing, done / static_cast<double>(m_text.shards.size())))
            return given_up;
        auto blob = reference(shard.file, file_title(shard.file.filename().string()), run::BlobKind::open);
        if (!blob) return blob.error();
        m_manifest.shards.push_back({*blob, shard.records});
    }
    auto blob =
        reference(m_text.validation.file, file_title(m_text.validation.file.filename().string()), run::BlobKind::open);
    if (!blob) return blob.error();
    m_manifest.validation = {*blob, m_text.validation.records};
    m_manifest.bigram_loss = m_text.bigram_loss;
    return {};
}

Status Host::fill(std::span<float> parameters) const {
    if (m_checkpoint) return m_checkpoint->read(m_manifest.model, parameters);
    model::fill_initial_state(m_manifest.model, m_plan.recipe.seed, parameters);
    return {};
}

/// theta[0] as this node's first state, and a copy of it that is seeded for ever.
Status Host::initial_state() {
    if (!m_progress(control::MakingStage::model, 0)) return given_up;
    auto store = StateFiles::open(m_folder, m_manifest.model, std::max(1U, std::thread::hardware_concurrency()));
    if (!store) return store.error();
    auto parameters = (*store)->begin_state(RoundId{0});
    if (!parameters) return parameters.error();
    if (const Status filled = fill(parameters->values); !filled) return filled;
    const auto digest = (*store)->commit_state(RoundId{0});
    if (!digest) return digest.error();
    if (!m_progress(control::MakingStage::model, 0.5)) return given_up;
    const fs::path copy = m_folder / "data" / "initial.safetensors";
    std::error_code failed;
    fs::create_directories(copy.parent_path(), failed);
    if (Status written = write_file_atomically(copy, (*store)->state(RoundId{0}).file); !written) return written;
    auto blob = reference(copy, "blob", run::BlobKind::plain);
    if (!blob) return blob.error();
    m_manifest.initial_state = *blob;
    return {};
}

Result<Bytes> Host::signed_manifest() {
    m_manifest.name = m_plan.name;
    m_manifest.purpose = m_plan.purpose;
    m_manifest.licence = m_plan.licence;
    m_manifest.host = m_host.id();
    if (!m_computer.certificate.is_own()) m_manifest.host_device = m_computer;
    m_manifest.backbones = m_plan.backbones;
    m_manifest.allowed = m_plan.allowed;
    m_manifest.created = unix_seconds();
    const std::string json = m_manifest.to_json_text();
    Bytes file = run::manifest_file(as_bytes(json), m_host.sign(run::manifest_domain, as_bytes(json)));
    // Read back by the parser that everybody else uses: what it refuses must not be hosted.
    if (const auto parsed = run::parse_manifest_file(file); !parsed) return parsed.error();
    if (Status saved = save_hosted(m_folder, m_hosted); !saved) return saved.error();
    if (Status saved = write_file_atomically(m_folder / "manifest", file); !saved) return saved.error();
    return file;
}

}  // namespace

double usual_jury_for(const model::ModelSpec& model) { return model::is_embedder(model) ? 0 : run::usual_jury; }

Result<HostedRun> host_run(const HostPlan& plan, const identity::Identity& host, const run::Device& computer,
                           const fs::path& data_folder, const MakingProgress& progress) {
    const fs::path folder = data_folder / "runs" / "new";
    std::error_code failed;
    fs::remove_all(folder, failed);
    Host making(plan, host, computer, folder, progress);
    // What is quick to refuse comes before the text, which may be gigabytes.
    const auto passes = {&Host::tokenizer, &Host::model, &Host::initial_state, &Host::text, &Host::shards};
    Status done;
    for (const auto pass : passes) {
        if (done) done = (making.*pass)();
    }
    auto file = done ? making.signed_manifest() : Result<Bytes>(done.error());
    if (!file) {
        fs::remove_all(folder, failed);
        return file.error();
    }
    const RunId run = net::run_of_manifest(*file);
    const fs::path home = run_folder(data_folder, run);
    fs::remove_all(home, failed);
    fs::rename(folder, home, failed);
    if (failed)
        return Error{ErrorCode::io,
                     "The run's folder " + home.string() + " cannot be made (" + failed.message() + ")."};
    data::PackedText& text = making.packed();
    for (data::PackedShard& shard : text.shards) shard.file = home / "data" / shard.file.filename();
    text.validation.file = home / "data" / text.validation.file.filename();
    HostedRun hosted;
    hosted.invite.run = run;
    hosted.invite.name = plan.name;
    hosted.manifest = making.manifest();
    hosted.text = std::move(text);
    return hosted;
}

}  // namespace potluck::node
