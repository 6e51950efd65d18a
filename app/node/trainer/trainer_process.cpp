// Requests are answered in order, so m_pending is a queue and a reply must match its front. Anything else (a line that
// is not the protocol, a wrong order, an error reply, silence beyond the deadline) has one consequence: the child is
// killed, and what it said last becomes the reason. A refused evaluation or measuring is an exception, because nothing
// depends on it; a load that is refused for the device that was chosen is another, and is asked for again without that
// choice.
//
// A new load that arrives while another is under way is queued behind it, and only the last one's answer makes the
// trainer ready. lose() tells the peer whether to ask again (RestartPolicy) or to wait for the person. Callbacks of a
// dead child may still be running when its end is handled, so it is kept until the next tick; an error at start is
// reported there too, since the peer is in the middle of a call then.
//
// Threads: the loop's.
#include "app/node/trainer/trainer_process.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/base/log.h"
#include "core/confinement/confinement.h"

namespace potluck::node {

namespace {

constexpr std::size_t device_bytes_max = 200, obstacle_bytes_max = 400;

control::VectorFile vector_file(const peer::VectorPlace& place) { return {place.file.string(), place.offset}; }

}  // namespace

TrainerProcess::TrainerProcess(boost::asio::io_context& loop, Settings settings, peer::TrainerEvents& events)
    : m_loop(loop), m_settings(std::move(settings)), m_events(events), m_now(steady_now()) {}

TrainerProcess::~TrainerProcess() = default;

template <control::MethodCall Call>
void TrainerProcess::request(const Call& call) {
    constexpr bool loads = std::is_same_v<Call, control::LoadRequest>;
    constexpr bool stops = std::is_same_v<Call, control::StopRequest>;
    if (!m_child || (m_state == State::stopping && !stops)) return;
    m_pending.push_back({m_next_id, Call::name, m_now + (loads ? load_patience : reply_patience)});
    m_child->send(control::encode_call(m_next_id, call));
    ++m_next_id;
}

std::optional<control::MomentsFile> TrainerProcess::moments_file(RoundId round) const {
    if (m_settings.moments.empty()) return std::nullopt;
    return control::MomentsFile{m_settings.moments.string(), m_settings.run.hex(), round.value};
}

void TrainerProcess::start(const run::Manifest& manifest, const peer::VectorPlace& vector, RoundId round) {
    m_owner.check();
    control::LoadRequest load{manifest.model, manifest.recipe, vector_file(vector), m_settings.threads};
    load.budget = m_settings.budget;
    load.scratch = m_settings.scratch.string();
    load.moments = moments_file(round);
    load.moments_rounds_max = peer::moments_rounds_max;
    m_wanted = Start{std::move(load), manifest.recipe.seed};
    if (m_state == State::running || m_state == State::starting) {
        send_load(*std::exchange(m_wanted, std::nullopt));
        m_state = State::starting;
    } else if (m_state == State::absent && m_now >= m_not_before) {
        launch();
    } else if (m_state == State::absent) {
        m_state = State::waiting;
    }
}

bool TrainerProcess::lacks_program() const {
    m_owner.check();
    std::error_code failed;
    return !std::filesystem::exists(m_settings.program, failed);
}

void TrainerProcess::launch() {
    LineProcessOptions options{m_settings.program, {}, m_settings.error_file, ProcessGroup::ours};
    options.if_missing = no_trainer(m_settings.program);
    // It writes snapshots, moments and scratch files only, all of which belong to its run.
    const confinement::Variable writes = confinement::writable_variable({m_settings.scratch});
    if (!m_settings.scratch.empty()) options.environment.emplace_back(writes.name, writes.value);
    auto child = LineProcess::start(
        m_loop, options,
        {[this](const std::string& line) { on_line(line); }, [this](const std::string& how) { on_exit(how); }});
    if (!child) {
        m_unstarted = child.error();  // reported at the next tick: the peer is in the middle of asking
        m_state = State::starting;
        return;
    }
    m_child = std::move(*child);
    m_pending.clear();
    m_next_id = 1;
    m_last_words.clear();
    m_plan.clear();
    m_notice_until = {};
    m_stepped = false;
    m_state = State::starting;
    request(control::HelloRequest{});
    send_load(*std::exchange(m_wanted, std::nullopt));
}

void TrainerProcess::send_load(Start start) {
    m_seed = start.seed;
    m_load = std::move(start.load);
    m_device_obstacle.clear();
    request(m_load);
}

bool TrainerProcess::another_load_waits() const {
    return std::any_of(m_pending.begin(), m_pending.end(),
                       [](const Pending& p) { return p.method == control::LoadRequest::name; });
}

/// A device that was chosen and is gone, or cannot train now, is no reason to train on none. The choice stays, and the
/// next load asks for it again.
bool TrainerProcess::load_elsewhere(const Error& refusal) {
    const bool about_device = refusal.code == ErrorCode::not_found || refusal.code == ErrorCode::unavailable;
    if (!about_device || m_load.budget.device.empty()) return false;
    m_load.budget.device.clear();
    m_device_obstacle = log::printable(refusal.message, obstacle_bytes_max);
    m_notice = m_device_obstacle + " Another device trains meanwhile.";
    m_notice_until = m_now + notice_time;
    log::of("trainer").warn("{}", m_notice);
    request(m_load);
    return true;
}

void TrainerProcess::train(const peer::WindowPlan& plan) {
    m_owner.check();
    control::TrainRequest train;
    train.round = plan.round.value;
    train.peer = m_settings.self.hex();
    train.seed = m_seed;
    train.learning_rate = plan.learning_rate;
    train.shard = plan.shard.string();
    train.records = plan.records;
    m_trains = true;
    request(train);
}

void TrainerProcess::idle() {
    m_owner.check();
    rest();
    request(control::IdleRequest{});
}

void TrainerProcess::snapshot(const peer::VectorPlace& target) {
    m_owner.check();
    request(control::SnapshotRequest{vector_file(target)});
}

void TrainerProcess::rebase(const peer::VectorPlace& vector) {
    m_owner.check();
    request(control::RebaseRequest{vector_file(vector)});
}

void TrainerProcess::evaluate(const control::EvaluateRequest& request_of_state, Evaluated done) {
    if (m_state != State::running || m_evaluated)
        return done(Error{ErrorCode::unavailable, "The trainer is not ready to evaluate a state."});
    m_evaluated = std::move(done);
    request(request_of_state);
}

void TrainerProcess::end_evaluation(const Result<control::EvaluateReply>& outcome) {
    if (const Evaluated done = std::exchange(m_evaluated, nullptr)) done(outcome);
}

void TrainerProcess::judge(const peer::JudgePlan& plan) {
    m_owner.check();
    Result<std::unique_ptr<Judging>> judging =
        m_state == State::running && !m_judging
            ? Judging::prepare(m_settings.scratch, plan)
            : Error{ErrorCode::unavailable, "The trainer is not ready to measure contributions."};
    if (!judging) {
        log::of("trainer").info("contributions to round {} are not measured: {}", plan.round.value,
                                judging.error().message);
        return m_unjudged.push_back(plan.round);
    }
    m_judging = *std::move(judging);
    request(m_judging->request());
}

/// Without results.
void TrainerProcess::end_judging() {
    if (m_judging) m_unjudged.push_back(m_judging->round());
    m_judging.reset();
}

void TrainerProcess::on_judged(const control::Notification& notification) {
    if (!m_judging) return;
    control::TrainerJudged judged;
    const bool read = from_json(notification.params, judged).ok();
    auto results = m_judging->results(judged);
    if (!read || !results) {
        m_last_words = "what it measured could not be read";
        return m_child->kill();
    }
    if (!judged.message.empty())
        log::of("trainer").info("not all contributions are measured: {}", log::printable(judged.message, 400));
    const peer::JudgeReport report{m_judging->round(), *std::move(results),
                                   Duration{static_cast<Duration::rep>(judged.seconds * 1e3)}};
    m_judging.reset();
    m_events.on_judged(report);
}

void TrainerProcess::stop(const std::optional<peer::MomentsToKeep>& moments) {
    m_owner.check();
    m_wanted.reset();
    m_interruption.clear();
    if (m_state == State::waiting) m_state = State::absent;
    if (!m_child || m_state == State::stopping) return;
    m_state = State::stopping;
    m_pending.clear();
    end_evaluation(Error{ErrorCode::cancelled, "The trainer is ending."});
    m_judging.reset();
    m_unjudged.clear();
    control::StopRequest call;
    if (moments) {
        call.moments = moments_file(moments->round);
        call.milliseconds = static_cast<std::uint64_t>(std::max(moments->patience, Duration{0}).count());
    }
    request(call);
    m_child->close_input();
    m_kill_at = m_now + stop_patience;
    rest();
}

void TrainerProcess::forget_moments() {
    m_owner.check();
    if (m_settings.moments.empty()) return;
    std::error_code ignored;
    if (std::filesystem::remove(m_settings.moments, ignored)) {
        log::of("trainer").info("the moments that were kept are too old by now and are removed");
    }
}

void TrainerProcess::tick(TimePoint now) {
    m_owner.check();
    m_now = now;
    m_dead.reset();
    if (m_unstarted) lose(std::exchange(m_unstarted, std::nullopt)->message);
    for (const RoundId round : std::exchange(m_unjudged, {})) m_events.on_judged({round, {}});
    if (m_child && ((m_kill_at && now >= *m_kill_at) || (m_release_by && now >= *m_release_by))) {
        if (m_state != State::stopping) stop({});
        m_kill_at.reset();
        m_child->kill();
    }
    if (m_child && m_state != State::stopping && !m_pending.empty() && now >= m_pending.front().deadline) {
        m_last_words = "it did not answer \"" + std::string(m_pending.front().method) + "\" in time";
        m_child->kill();
        m_pending.clear();
    }
    if (m_state == State::waiting && now >= m_not_before && m_wanted) launch();
}

void TrainerProcess::on_line(const std::string& line) {
    const auto decoded = control::decode(line);
    if (!decoded) {
        m_last_words = "it said something that is not the protocol";
        return m_child->kill();
    }
    if (const auto* reply = std::get_if<control::Reply>(&*decoded)) return on_reply(*reply);
    if (const auto* notification = std::get_if<control::Notification>(&*decoded)) on_notification(*notification);
}

void TrainerProcess::on_reply(const control::Reply& reply) {
    if (m_state == State::stopping) return;
    if (m_pending.empty() || m_pending.front().id != reply.id) {
        m_last_words = "it answered out of order";
        return m_child->kill();
    }
    const std::string_view method = m_pending.front().method;
    m_pending.pop_front();
    if (reply.error && method == control::EvaluateRequest::name) return end_evaluation(*reply.error);
    if (reply.error && method == control::JudgeRequest::name) {
        log::of("trainer").info("contributions are not measured: {}", log::printable(reply.error->message, 400));
        return end_judging();
    }
    // A load ends what was measured; what came of it was told before this.
    if (method == control::LoadRequest::name) end_judging();
    const bool load_is_refused = reply.error && method == control::LoadRequest::name;
    if (load_is_refused && (another_load_waits() || load_elsewhere(*reply.error))) return;
    if (reply.error) {
        m_last_words = reply.error->message;
        return m_child->kill();
    }
    if (method == control::HelloRequest::name) {
        control::TrainerHello hello;
        if (!from_json(reply.result, hello) || hello.version != control::trainer_protocol_version) {
            m_last_words = "it is another version than this program; install both together";
            return m_child->kill();
        }
        m_device = log::printable(hello.device, device_bytes_max);
        m_program_version = log::printable(hello.program_version, control::short_id_bytes_max);
    } else if (method == control::LoadRequest::name) {
        if (another_load_waits()) return;
        if (!on_loaded(reply.result)) {
            m_last_words = "its plan could not be read";
            return m_child->kill();
        }
        m_state = State::running;
        m_interruption.clear();
        m_stepped = false;
        if (m_share < 1) request(control::PaceRequest{m_share});
        m_events.on_trainer_started();
    } else if (method == control::EvaluateRequest::name) {
        control::EvaluateReply evaluated;
        const Status read = from_json(reply.result, evaluated);
        end_evaluation(read ? Result<control::EvaluateReply>(evaluated) : read.error());
    } else if (method == control::SnapshotRequest::name) {
        control::SnapshotReply counts;
        if (!from_json(reply.result, counts)) {
            m_last_words = "its snapshot could not be read";
            return m_child->kill();
        }
        log::of("trainer").info("trained {} tokens in {} steps, training loss {:.3f}", counts.tokens, counts.steps,
                                counts.loss);
        m_events.on_snapshot({{counts.tokens}, counts.steps, counts.loss});
    }
}

/// The device's name may tell more after the load, for example how many threads are used: so it is asked again.
bool TrainerProcess::on_loaded(const nlohmann::json& result) {
    control::PlanReply plan;
    if (!result.empty() && !from_json(result, plan)) return false;
    take_plan(std::move(plan));
    rest();
    request(control::HelloRequest{});
    return true;
}

void TrainerProcess::rest() {
    m_trains = false;
    m_progress.reset();
}

void TrainerProcess::take_plan(control::PlanReply plan) {
    m_plan = log::printable(plan.summary, device_bytes_max);
    m_memory_plan = std::move(plan);
    if (m_memory_plan.devices.empty() && !m_memory_plan.device.empty()) m_memory_plan.devices = {m_memory_plan.device};
}

void TrainerProcess::on_notification(const control::Notification& notification) {
    if (notification.method == control::TrainerFailed::name) {
        control::TrainerFailed failed;
        if (from_json(notification.params, failed)) m_last_words = log::printable(failed.message, 400);
    } else if (notification.method == control::TrainerReplanned::name) {
        control::TrainerReplanned replanned;
        if (!from_json(notification.params, replanned)) return;
        take_plan(std::move(replanned.plan));
        m_notice = log::printable(replanned.message, 400);
        m_notice_until = m_now + notice_time;
        log::of("trainer").warn("the trainer changed its plan: {}", m_notice);
    } else if (notification.method == control::TrainerMoments::name) {
        control::TrainerMoments moments;
        if (!from_json(notification.params, moments)) return;
        log::of("trainer").log(moments.used ? spdlog::level::info : spdlog::level::warn, "{}",
                               log::printable(moments.message, 400));
    } else if (notification.method == control::TrainerJudged::name) {
        on_judged(notification);
    } else if (notification.method == control::TrainerProgress::name && m_state == State::running) {
        control::TrainerProgress progress;
        if (!from_json(notification.params, progress)) return;
        if (m_trains) m_progress = progress;  // else it was on its way when the trainer was told to be idle
        m_loss = progress.loss;
        if (!m_stepped && progress.steps > 0) {
            m_stepped = true;
            m_events.on_first_step();
        }
        m_events.on_progress({progress.tokens}, progress.tokens_per_second, progress.loss);
    }
}

void TrainerProcess::end_child() {
    m_dead = std::move(m_child);
    m_pending.clear();
    end_evaluation(Error{ErrorCode::unavailable, "The trainer ended."});
    m_judging.reset();
    m_unjudged.clear();
    m_kill_at.reset();
    rest();
    m_memory_plan = {};
}

void TrainerProcess::on_exit(const std::string& how) {
    const bool asked = m_state == State::stopping;
    end_child();
    if (!asked) return lose(m_last_words.empty() ? "it ended with " + how : m_last_words);
    m_state = m_wanted ? State::waiting : State::absent;
}

/// `unavailable` tells the peer not to ask again before the person resumes.
void TrainerProcess::lose(const std::string& why) {
    log::of("trainer").warn("the trainer is gone: {}", why);
    ++m_restarts;
    m_state = State::absent;
    // A program that is not there does not come by itself.
    const auto delay = lacks_program() ? std::nullopt : m_policy.on_failure(m_now);
    if (delay) {
        m_not_before = m_now + *delay;
    } else {
        m_state = State::failed;
        m_failure = why;
    }
    m_interruption = delay ? why : std::string();
    m_wanted.reset();
    m_events.on_trainer_lost({delay ? ErrorCode::io : ErrorCode::unavailable, why});
}

void TrainerProcess::set_share(double share) {
    m_owner.check();
    if (std::exchange(m_share, share) != share && m_state == State::running) request(control::PaceRequest{share});
}

void TrainerProcess::reset_failures() {
    m_owner.check();
    m_policy.reset_failures();
    m_failure.clear();
    m_not_before = m_now;
    if (m_state == State::failed) m_state = m_wanted ? State::waiting : State::absent;
}

control::TrainerSnapshot TrainerProcess::view() const {
    m_owner.check();
    control::TrainerSnapshot view;
    switch (m_state) {
        case State::absent: view.state = control::TrainerState::absent; break;
        case State::waiting:
        case State::starting: view.state = control::TrainerState::starting; break;
        case State::running: view.state = control::TrainerState::training; break;
        case State::stopping: view.state = control::TrainerState::stopping; break;
        case State::failed: view.state = control::TrainerState::failed; break;
    }
    view.device = m_plan.empty() ? m_device : m_device + " · " + m_plan;
    view.process = m_child ? m_child->process() : 0;
    view.loss = m_loss;
    view.restarts = m_restarts;
    view.device_id = m_memory_plan.device;
    view.parts = m_memory_plan.parts;
    view.devices = m_memory_plan.devices;
    view.left_out = m_memory_plan.left_out;
    if (!m_progress) return view;
    view.tokens_per_second = m_progress->tokens_per_second;
    view.resident = m_progress->resident;
    view.watts = m_progress->watts;
    view.celsius = m_progress->celsius;
    return view;
}

std::optional<TrainerProcess::Work> TrainerProcess::work() const {
    m_owner.check();
    return m_progress ? std::optional(Work{m_progress->watts}) : std::nullopt;
}

}  // namespace potluck::node
