// Wiring of one run. Parts are built in the order in which they need each other and destroyed the other way round by
// hand: the worker first finishes what it is at, because its job may use store and blobs, then peer, worker, swarm,
// trainer and store go. Events of the swarm may come while the peer does not exist yet and are dropped then; the peer
// asks for everything it lacks when it starts.
//
// The scratch vectors are created at the start, so that a disk which is too small is an error of joining and not of a
// round. Validation losses are measured between rounds' work at a pace that costs training little (validation.h); a
// measurement that fails or is cancelled is only put off. Hosted files are named relative to the run's folder, so that
// a data folder can be moved.
//
// Threads: the node's.
#include "app/node/member/run_session.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "app/node/member/view.h"
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/base/log.h"

namespace potluck::node {

namespace {

constexpr std::size_t hosted_bytes_max = 4 << 20;
constexpr Duration tokenizer_patience{60'000};  // nothing waits for it but samples and exports
constexpr std::size_t hosted_files_max = run::shards_max + 8;
constexpr Duration leave_limit{3'000};  // for a last snapshot, and for a seat to change hands
constexpr Duration look_every{500};  // for log and validation: a view copies every member's status, so not at each tick

}  // namespace

Status save_hosted(const std::filesystem::path& folder, const std::vector<HostedFile>& files) {
    nlohmann::json rows = nlohmann::json::array();
    for (const HostedFile& hosted : files) {
        rows.push_back(
            {{"file", hosted.file.string()}, {"name", hosted.name}, {"open", hosted.kind == run::BlobKind::open}});
    }
    const std::string text = nlohmann::json{{"files", rows}}.dump();
    return write_file_atomically(folder / "hosted.json", as_bytes(text));
}

Result<std::vector<HostedFile>> load_hosted(const std::filesystem::path& folder) {
    std::vector<HostedFile> files;
    if (!std::filesystem::exists(folder / "hosted.json")) return files;
    const auto bytes = read_file(folder / "hosted.json", hosted_bytes_max);
    if (!bytes) return bytes.error();
    const auto json = parse_json(as_text(*bytes), hosted_bytes_max);
    if (!json) return json.error();
    Fields fields(*json, "hosted files");
    for (const auto& row : fields.array("files", hosted_files_max)) {
        Fields entry(row, "hosted file");
        HostedFile hosted;
        hosted.file = entry.text("file", 4096);
        hosted.name = entry.text("name", 256);
        hosted.kind = entry.flag("open") ? run::BlobKind::open : run::BlobKind::plain;
        if (const Status done = entry.finish(); !done) return done.error();
        // Written relative to the run's folder, so that a data folder can be moved.
        hosted.file = folder / hosted.file;
        files.push_back(std::move(hosted));
    }
    if (const Status done = fields.finish(); !done) return done.error();
    return files;
}

Result<std::unique_ptr<RunSession>> RunSession::open(World world, Plan plan) {
    std::unique_ptr<RunSession> session(new RunSession(world, std::move(plan)));
    if (const Status opened = session->open_parts(); !opened) return opened.error();
    return session;
}

Status RunSession::open_parts() {
    auto hosted = load_hosted(m_plan.folder);
    if (!hosted) return hosted.error();
    m_hosted = std::move(*hosted);
    auto store = StateFiles::open(m_plan.folder, m_plan.manifest.model, m_plan.threads);
    if (!store) return store.error();
    m_store = std::move(*store);
    if (m_plan.role == run::Role::volunteer) {
        // The trainer writes into files that exist: a disk too small for them is told now, not in the middle of a
        // round.
        for (const peer::Scratch which : {peer::Scratch::error, peer::Scratch::snapshot, peer::Scratch::look_ahead}) {
            if (const auto made = m_store->scratch(which); !made) return made.error();
        }
        m_trainer = std::make_unique<TrainerProcess>(
            m_world.loop,
            TrainerProcess::Settings{m_plan.trainer_program, m_plan.trainer_errors, m_world.keys.device_key().id(),
                                     m_plan.trainer_threads, m_plan.budget, m_plan.folder, m_plan.folder / "moments",
                                     m_plan.run},
            *this);
        m_validation.emplace(m_plan.manifest);
    }
    auto swarm = m_world.network.open_swarm({m_plan.run, m_plan.hints}, m_world.keys.device_key(), *this);
    if (!swarm) return swarm.error();
    m_swarm = std::move(*swarm);
    m_worker = std::make_unique<Worker>(
        [&loop = m_world.loop](std::function<void()> call) { boost::asio::post(loop, std::move(call)); });
    // Who hosts the run has its shards in place, whatever they take.
    const std::uint64_t shard_bytes_max = m_hosted.empty() ? m_plan.shard_bytes_max : run::no_shard_cap;
    m_peer = std::make_unique<peer::Peer>(
        m_plan.run, m_plan.manifest,
        peer::PeerSettings{m_plan.role, m_plan.name, m_plan.team, m_plan.threads, m_plan.heartbeat, shard_bytes_max},
        peer::Peer::World{*m_swarm, m_trainer.get(), *m_store, m_world.ledger, m_world.keys.device_key(),
                          [this](std::function<void()> work, std::function<void()> done) {
                              m_worker->run(std::move(work), std::move(done));
                          },
                          identity::verify, unix_milliseconds, m_world.keys.device().certificate,
                          &m_world.keys.person});
    return {};
}

void RunSession::use_trainer(const std::filesystem::path& program) {
    m_owner.check();
    m_plan.trainer_program = program;
    if (m_trainer) m_trainer->use_program(program);
}

void RunSession::use_budget(const control::Budget& budget) {
    m_owner.check();
    m_plan.budget = budget;
    if (m_trainer) m_trainer->use_budget(budget);
}

void RunSession::pause(TimePoint now) {
    m_owner.check();
    m_peer->pause(now);
    if (m_trainer) m_trainer->release_by(now + pause_limit);
}

void RunSession::resume(TimePoint now) {
    m_owner.check();
    if (m_trainer) m_trainer->keep();
    m_peer->resume(now);
}

void RunSession::set_share(double share) {
    m_owner.check();
    if (m_trainer) m_trainer->set_share(share);
}

RunSession::~RunSession() {
    // What the worker is at still uses store and blobs: it finishes before they go.
    if (m_worker) m_worker->finish();
    m_peer.reset();
    m_worker.reset();
    m_swarm.reset();
    m_trainer.reset();
}

void RunSession::start(TimePoint now) {
    m_owner.check();
    for (const HostedFile& hosted : m_hosted) m_swarm->publish_file(hosted.file, hosted.name, hosted.kind);
    for (const run::BlobRef& blob : m_plan.manifest.tokenizer.blobs()) {
        if (!m_swarm->blob(blob.root)) m_swarm->fetch(blob, {{}, now + tokenizer_patience, {}, {}});
    }
    log::of("run").info("in run {} \"{}\" as {}: {}", m_plan.run.brief(), log::printable(m_plan.manifest.name),
                        m_plan.role == run::Role::backbone ? "backbone" : "volunteer", describe(m_plan.manifest.model));
    if (m_trainer) m_trainer->tick(now);
    m_peer->start(now);
}

void RunSession::tick(TimePoint now) {
    m_owner.check();
    if (m_trainer) m_trainer->tick(now);
    m_peer->tick(now);
    m_now = now;
    if (m_left) return;
    if (m_leave_by && (now >= *m_leave_by || m_peer->may_leave())) return abandon();
    if (m_looked_at && now - *m_looked_at < look_every) return;
    m_looked_at = now;
    const peer::PeerView view = m_peer->view();
    write_log(now, view);
    if (m_validation) measure_validation(now, view.round.value == m_plan.manifest.recipe.total_rounds);
}

void RunSession::measure_validation(TimePoint now, bool is_over) {
    // An idle trainer has none, and is to measure the run's last state all the same.
    if (const double speed = m_trainer->view().tokens_per_second; speed > 0) m_training_speed = speed;
    const run::Shard& shard = m_plan.manifest.validation;
    const peer::BlobPointer content = m_swarm->blob(shard.blob.root);
    if (content == nullptr) {
        // A computer that is too slow to measure fetches them, too: a sample compares pictures that are held out.
        const bool fetches = m_validation->is_worth_fetching() && !std::exchange(m_validation_asked, true);
        if (fetches) m_swarm->fetch(shard.blob, {});
        return;
    }
    if (!m_validation->may_begin(now, m_training_speed, is_over)) return;
    const std::optional<RoundId> round = m_peer->loss_due();
    if (!round) return;
    control::EvaluateRequest request;
    const peer::VectorPlace state = m_store->state_place(*round);
    request.state = {state.file.string(), state.offset};
    request.shard = content->path().string();
    request.records = shard.records;
    request.records_max = m_validation->records();
    m_validation->begun(now);
    m_trainer->evaluate(request, [this, round = *round](const Result<control::EvaluateReply>& reply) {
        if (!reply) {
            if (reply.error().code == ErrorCode::cancelled) return m_validation->cancelled(m_now);
            m_validation->failed(m_now);
            log::of("run").info("validation loss not measured: {}", log::printable(reply.error().message, 300));
            return;
        }
        m_validation->measured(m_now);
        log::of("run").info("this computer measures {:.3f} of state {}", reply->loss, round.value);
        m_evaluated = {round, *reply};
        for (const control::Figure& figure : reply->figures) log::of("run").info("{}", control::figure_text(figure));
        if (reply->collapsed) log::of("run").info("the model has collapsed");
        if (m_peer) m_peer->on_loss(round, reply->loss);
    });
}

std::vector<control::RefusalRow> RunSession::refusals() const {
    m_owner.check();
    return refusal_rows(m_peer->refusals(), m_swarm->counters());
}

void RunSession::write_log(TimePoint now, const peer::PeerView& view) {
    const auto accepted_in = [this](RoundId round) -> std::optional<RunLog::Accepted> {
        const auto committed = m_world.ledger.list(m_plan.run, round);
        const auto list = committed ? run::AcceptList::decode(committed->list) : Error{ErrorCode::not_found, ""};
        if (!list) return std::nullopt;
        RunLog::Accepted accepted{.contributions = list->entries.size()};
        for (const run::Accepted& entry : list->entries) accepted.tokens += entry.tokens.value;
        return accepted;
    };
    spdlog::logger& logger = log::of("run");
    for (const RunLog::Line& line : m_log.look(now, view, refusals(), accepted_in)) {
        // Apart from the rounds, which would leave no room for them where windows are short (core/base/log.cpp).
        if (line.level == RunLog::Level::warning) {
            log::of("run-trouble").warn("{}", line.text);
        } else {
            logger.log(line.level == RunLog::Level::info ? spdlog::level::info : spdlog::level::debug, "{}", line.text);
        }
    }
}

void RunSession::stop(TimePoint now) {
    m_owner.check();
    if (m_leave_by) return;
    m_leave_by = now + leave_limit;
    if (m_trainer) m_trainer->release_by(now + pause_limit);
    m_peer->begin_leaving(now);
}

void RunSession::begin_sleep(TimePoint now) {
    m_owner.check();
    m_peer->begin_sleep(now);
}
bool RunSession::may_sleep() const {
    m_owner.check();
    return m_left || m_peer->may_sleep();
}
void RunSession::end_sleep(TimePoint now) {
    m_owner.check();
    m_peer->end_sleep(now);
}

void RunSession::abandon() {
    m_owner.check();
    m_left = true;
    m_peer->leave();
    if (m_trainer) m_trainer->stop({});
}

void RunSession::on_neighbour(const PeerId& peer) {
    m_owner.check();
    if (m_peer) m_peer->on_neighbour(peer);
}
void RunSession::on_neighbour_lost(const PeerId& peer) {
    m_owner.check();
    if (m_peer) m_peer->on_neighbour_lost(peer);
}
void RunSession::on_own_key_elsewhere() {
    m_owner.check();
    if (m_peer) m_peer->on_own_key_elsewhere();
}
void RunSession::on_envelope(const PeerId& from, run::Envelope envelope) {
    m_owner.check();
    if (m_peer) m_peer->on_envelope(from, std::move(envelope));
}
void RunSession::on_blob(const run::BlobRef& blob, peer::BlobPointer content) {
    m_owner.check();
    if (m_peer) m_peer->on_blob(blob, std::move(content));
}
void RunSession::on_blob_failed(const BlobId& blob, Error error) {
    m_owner.check();
    if (m_peer) m_peer->on_blob_failed(blob, std::move(error));
}

void RunSession::on_published(const std::filesystem::path& file, Result<run::BlobRef> blob) {
    m_owner.check();
    const bool hosted =
        std::any_of(m_hosted.begin(), m_hosted.end(), [&](const HostedFile& h) { return h.file == file; });
    if (hosted && !blob) log::of("node").error("{} cannot be seeded: {}", file.string(), blob.error().message);
    if (!hosted && m_peer) m_peer->on_published(file, std::move(blob));
}

void RunSession::on_trainer_started() {
    m_owner.check();
    if (m_peer) m_peer->on_trainer_started();
}
void RunSession::on_first_step() {
    m_owner.check();
    if (m_peer) m_peer->on_first_step();
}
void RunSession::on_progress(TokenCount window_tokens, double tokens_per_second, double loss) {
    m_owner.check();
    if (m_peer) m_peer->on_progress(window_tokens, tokens_per_second, loss);
}
void RunSession::on_snapshot(const peer::SnapshotResult& result) {
    m_owner.check();
    if (m_peer) m_peer->on_snapshot(result);
}
void RunSession::on_judged(const peer::JudgeReport& report) {
    m_owner.check();
    if (m_peer) m_peer->on_judged(report);
}
void RunSession::on_trainer_lost(const Error& error) {
    m_owner.check();
    if (m_peer) m_peer->on_trainer_lost(error);
}

}  // namespace potluck::node
