// The loop's thread refuses what may be refused and writes what is small; the worker does the rest with files and a
// connection to the ledger of its own: first the proof and the card, then the weights under another name, which are
// renamed last. A folder with model.safetensors is therefore whole.
//
// A pruned model is not what the run agreed on, so it gets no proof; its card says so.
#include "app/node/models/export_model.h"

#include <algorithm>
#include <cstring>
#include <stop_token>
#include <system_error>
#include <thread>
#include <vector>

#include <boost/asio/post.hpp>
#include <nlohmann/json.hpp>

#include "app/node/models/export_proof.h"
#include "app/node/models/export_tokenizer.h"
#include "app/node/models/ledger_lists.h"
#include "app/node/models/model_card.h"
#include "app/node/paths.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/ledger/ledger.h"
#include "core/model/hf_config.h"
#include "core/model/state_layout.h"
#include "core/model/torchvision/torchvision_file.h"
#include "core/proof/credits.h"
#include "core/run/accept_list.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece_bytes = 64U << 20U;  // copied between two looks at whether to give up

constexpr std::size_t curve_points_max = 500;  // of which the last is told
constexpr const char* torchvision_name = "torchvision.safetensors";

/// What the lists before `round` add up to.
proof::Credits credits_before(const ledger::Ledger& ledger, const RunId& run, RoundId round) {
    proof::Credits credits;
    RoundId first;
    const RoundId held_from = ledger.kept_from(run);
    for (const ledger::KeptTable& kept : ledger.tables(run)) {
        const auto table = run::CreditTable::decode(kept.content);
        // While all lists are held they say it themselves.
        if (!table || held_from.value == 0 || kept.round <= held_from || kept.round > round) continue;
        credits.begin_with(*table);
        first = kept.round;
    }
    static_cast<void>(each_list(ledger, run, first, round, [&](const run::CommittedList& committed) {
        const auto list = run::AcceptList::decode(committed.list);
        if (list) credits.add(*list);
        return list.ok();
    }));
    return credits;
}

Status make_folder(const fs::path& folder) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (!failed) return {};
    return Error{ErrorCode::permission,
                 "The folder " + folder.string() + " cannot be made (" + failed.message() + ")."};
}

}  // namespace

/// What the worker needs. It is the worker's alone once it was submitted.
struct ModelExporter::Job {
    MappedFile state;
    HeldModel model;
    fs::path file;
    Sparsity sparsity = Sparsity::dense;
    unsigned threads = 1;
    ExportedModel exported;

    Result<ExportedModel> work(const std::stop_token& stop);
    /// What a trainer measures for it, and where it writes that.
    [[nodiscard]] fs::path norms_file() const { return file.parent_path() / "norms.partial"; }

private:
    Status write_torchvision();
    Status write_words(const std::stop_token& stop);
    [[nodiscard]] Result<CardFacts> card_facts() const;
    Status write(const fs::path& partial, const std::stop_token& stop);
    void prune(std::span<std::byte> file_bytes);
};

Result<ExportedModel> ModelExporter::Job::work(const std::stop_token& stop) {
    const fs::path partial = file.string() + ".partial";
    std::error_code failed;
    Status outcome = write(partial, stop);
    if (outcome) {
        fs::rename(partial, file, failed);
        if (failed) outcome = Error{ErrorCode::io, file.string() + " cannot be written (" + failed.message() + ")."};
    }
    if (outcome) return exported;
    fs::remove(partial, failed);
    return outcome.error();
}

/// The proof and the card, which is written after the weights were pruned.
Status ModelExporter::Job::write_words(const std::stop_token& stop) {
    const fs::path folder = file.parent_path();
    exported.agreed = model.standing == HeldModel::Standing::certified && sparsity == Sparsity::dense;
    if (exported.agreed) {
        const fs::path proof = folder / proof_file_name;
        if (Status written = export_proof(model, state.bytes(), proof, threads, stop); !written) return written;
        exported.files.push_back(proof.string());
    }
    const auto facts = card_facts();
    if (!facts) return facts.error();
    exported.files.push_back((folder / "README.md").string());
    return write_file_atomically(exported.files.back(), as_bytes(model_card(*facts)));
}

/// What went into this state: the lists before its round. Later ones are the next state's.
Result<CardFacts> ModelExporter::Job::card_facts() const {
    CardFacts facts;
    facts.run = model.run;
    facts.manifest = model.manifest;
    facts.round = model.round;
    facts.agreed = exported.agreed;
    facts.pruned = exported.pruned;
    if (!exported.pruned) facts.figures = model.figures;
    const auto ledger = ledger::Ledger::open(model.data_folder / "ledger.db");
    if (!ledger) return ledger.error();
    const proof::Credits credits = credits_before(*ledger, model.run, model.round);
    const std::vector<proof::Contributor> contributors = credits.contributors();
    for (std::size_t i = 0; i < std::min(contributors.size(), card_leaders_max); ++i) {
        const PeerId& peer = contributors[i].peer;
        const bool own = peer == model.self;
        facts.leaders.push_back({contributors[i], own ? model.own_name : ledger->credit_of(model.run, peer).name});
    }
    facts.tokens = credits.tokens();
    facts.contributions = credits.contributions();
    facts.contributors = contributors.size();
    for (const ledger::RoundRecord& record : ledger->curve(model.run, curve_points_max)) {
        if (record.round < model.round && record.loss > 0) facts.training = {record.round, record.loss};
    }
    for (const run::LossPoint& point : ledger->losses(model.run).points) {
        if (point.round <= model.round) facts.validation = {point.round, run::nats_of(point.loss)};
    }
    return facts;
}

/// Takes what a trainer has measured, if one has.
Status ModelExporter::Job::write_torchvision() {
    const model::ModelSpec& spec = model.manifest.model;
    std::error_code missing;
    if (!fs::exists(norms_file(), missing)) return {};
    const auto measured = read_file(norms_file(), model::norm_values(spec) * sizeof(float));
    fs::remove(norms_file(), missing);
    if (!measured) return measured.error();
    std::vector<float> norms(measured->size() / sizeof(float));
    std::memcpy(norms.data(), measured->data(), norms.size() * sizeof(float));
    const auto parameters = model::parameters_of(model::state_layout(spec), state.bytes());
    if (!parameters) return parameters.error();
    const auto content = model::torchvision_file(spec, *parameters, norms);
    if (!content) return content.error();
    exported.files.push_back((file.parent_path() / torchvision_name).string());
    return write_file_atomically(exported.files.back(), *content);
}

Status ModelExporter::Job::write(const fs::path& partial, const std::stop_token& stop) {
    const ByteSpan bytes = state.bytes();
    auto map = MappedFile::create(partial, bytes.size());
    if (!map) return map.error();
    const std::span<std::byte> out = map->writable();
    for (std::size_t begin = 0; begin < bytes.size(); begin += piece_bytes) {
        if (stop.stop_requested()) {
            return Error{ErrorCode::cancelled, "The export was given up because the node ended."};
        }
        const ByteSpan piece = bytes.subspan(begin, std::min(piece_bytes, bytes.size() - begin));
        std::copy(piece.begin(), piece.end(), out.begin() + static_cast<std::ptrdiff_t>(begin));
    }
    if (sparsity == Sparsity::two_of_four) prune(out);
    if (const Status written = write_words(stop); !written) return written;
    if (const Status written = write_torchvision(); !written) return written;
    return map->sync();
}

void ModelExporter::Job::prune(std::span<std::byte> file_bytes) {
    const auto parameters = static_cast<std::size_t>(model.manifest.model.parameters());
    auto* first = reinterpret_cast<float*>(file_bytes.data() + (file_bytes.size() - 4 * parameters));
    exported.pruned = model::prune_2_of_4(model.manifest.model, std::span(first, parameters));
}

ModelExporter::~ModelExporter() = default;

/// Everything but the weights: what may be refused, and the small files.
Result<std::shared_ptr<ModelExporter::Job>> ModelExporter::prepare(const HeldModel& model, const fs::path& folder,
                                                                   Sparsity sparsity) const {
    if (m_job) return Error{ErrorCode::unavailable, "Another export is being written; try again when it is done."};
    if (const Status made = make_folder(folder); !made) return made.error();
    const auto job = std::make_shared<Job>();
    job->file = folder / "model.safetensors";
    job->sparsity = sparsity;
    job->model = model;
    job->threads = std::max(1U, std::thread::hardware_concurrency() / 2);
    job->exported.round = model.round.value;
    if (fs::exists(job->file)) {
        return Error{ErrorCode::invalid_argument, folder.string() + " already holds a model; give another folder."};
    }
    auto state = MappedFile::open_read(model.state_file);
    if (!state) return state.error();
    job->state = std::move(*state);
    std::vector<std::string>& files = job->exported.files;
    files = {job->file.string(), (folder / "config.json").string()};
    const std::string config = model::hugging_face_config(model.manifest.model).dump(2) + "\n";
    if (Status written = write_file_atomically(files.back(), as_bytes(config)); !written) return written.error();
    if (Status written = export_tokenizer(model, folder, files); !written) return written.error();
    return job;
}

void ModelExporter::export_model(const Result<HeldModel>& model, const fs::path& folder, Sparsity sparsity,
                                 std::function<void(const Result<ExportedModel>&)> done) {
    m_owner.check();
    if (!model) return done(model.error());
    const auto prepared = prepare(*model, folder, sparsity);
    if (!prepared) return done(prepared.error());
    m_job = *prepared;
    if (!model::is_embedder(model->manifest.model) || model->validation.empty()) return begin(m_job, std::move(done));
    TrainerQuestion question = question_about(*model);
    const control::NormsRequest request{question.load->state, model->validation.string(),
                                        model->manifest.validation.records, fs::absolute(m_job->norms_file()).string()};
    // Without an answer the model is exported all the same; the note beside it says what is missing then.
    ask_trainer(m_loop, std::move(question), request,
                [this, still = std::weak_ptr(m_job), done = std::move(done)](const Result<control::Done>& answer) {
                    const auto job = still.lock();
                    if (!job) return;
                    if (!answer) log::of("node").warn("no {}: {}", torchvision_name, answer.error().message);
                    begin(job, done);
                });
}

void ModelExporter::begin(const std::shared_ptr<Job>& job, std::function<void(const Result<ExportedModel>&)> done) {
    if (!m_worker) {
        m_worker = std::make_unique<Worker>(
            [&loop = m_loop](std::function<void()> call) { boost::asio::post(loop, std::move(call)); });
    }
    m_worker->run([job, stop = m_worker->stopping()] { return job->work(stop); },
                  [this, done = std::move(done)](const Result<ExportedModel>& exported) {
                      m_job.reset();
                      done(exported);
                  });
}

}  // namespace potluck::node
