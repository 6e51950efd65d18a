// A script on rounds, not on time, so that it means the same on a slow computer: one volunteer joins after 30% of the
// rounds, one is killed after 40% and comes back two rounds later, early enough to contribute again. A demo that goes
// on until the baseline is beaten has them as if it were short; it goes on until all liars are suspended, too.
//
//   backbone --snapshot--> invite --answer--> training --all rounds, beaten, or time is up--> settling --in step-->
//   over
//
// Whether the baseline is beaten is measured only when the training loss says that it may be, because a measurement
// takes the processor from the volunteers. A run that ends before its rounds do is brought to a halt first: its
// volunteers finish the window, so that what they have trained is credited and the last state stays the last.
//
// Every look compares the nodes' last snapshots with the script; nothing waits for a single node, so one that hangs
// shows in the report instead of stopping it. The victim dies by SIGKILL together with its trainer: what it has on disk
// is then all it has. Nodes log at debug, because the books are made from their logs.
//
// Threads: the loop's.
#include "app/demo/scenario.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "app/demo/liar/spoiler.h"
#include "app/node/member/view.h"

namespace potluck::node {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds away_min{2};
constexpr std::uint32_t sample_tokens = 240;
constexpr std::uint64_t rounds_of_short_demo = 16;
constexpr std::chrono::seconds measure_every{10};
constexpr int measure_share = 4;  // a measurement is followed by so many times as long without one

Turns turns_of(const DemoLength& length) {
    const bool is_open = length.end == DemoLength::End::beaten;
    return Turns::of(is_open ? std::min(length.rounds, rounds_of_short_demo) : length.rounds);
}

std::uint64_t rounds_credited(const ChildNode* node) {
    const bool is_known = node != nullptr && node->snapshot() && node->snapshot()->run;
    return is_known ? node->snapshot()->run->my_rounds : 0;
}

}  // namespace

Scenario::Scenario(boost::asio::io_context& loop, ScenarioPlan plan, std::function<void(const std::string&)> say)
    : m_loop(loop),
      m_plan(std::move(plan)),
      m_say(std::move(say)),
      m_turns(turns_of(m_plan.length)),
      m_timer(loop),
      m_started(Clock::now()) {}

std::vector<std::string> Scenario::volunteer_folders(unsigned volunteers) {
    std::vector<std::string> folders;
    for (unsigned i = 1; i <= volunteers; ++i) folders.push_back("volunteer-" + std::to_string(i));
    folders.insert(folders.end(), {"late", "window"});
    return folders;
}

std::vector<std::string> device_arguments(const std::vector<std::string>& devices, unsigned volunteer) {
    if (devices.empty()) return {};
    return {"--device", devices[(volunteer - 1) % devices.size()]};
}

void JuryScene::vouch(ChildNode& host, const std::vector<std::string>& keys) {
    for (const std::string& key : keys) {
        control::Moderate call;
        call.kind = control::ModerationKind::allow;
        call.key = key;
        host.call(call, [say = m_say](const Result<control::ModerationNumber>& answer) {
            if (!answer) say("the host cannot vouch for a juror: " + answer.error().message);
        });
    }
}

void JuryScene::add_liar(const std::string& volunteer, const std::string& program, const std::string& trainer,
                         std::vector<std::string>& arguments, Environment& environment) {
    const char* lie = name_of(lies[m_found.liars.size() % std::size(lies)]);
    arguments.insert(arguments.end(), {"--trainer", program});
    environment.emplace_back("POTLUCK_LIE", lie);
    environment.emplace_back("POTLUCK_LIAR_TRAINER", trainer);
    m_found.liars.push_back({volunteer, lie});
    m_say(volunteer + " will lie: " + lie);
}

void JuryScene::look(const std::vector<std::unique_ptr<ChildNode>>& nodes) {
    const auto& first = nodes.front()->snapshot();
    if (!first || !first->run || !first->run->findings.jury) return;
    for (const control::JudgedRow& row : first->run->findings.jury->suspended) {
        const auto node = std::ranges::find_if(nodes, [&](const auto& one) {
            return one->snapshot() && (one->snapshot()->person_id == row.id || one->snapshot()->peer_id == row.id);
        });
        if (node == nodes.end()) continue;
        const std::string& name = (*node)->name();
        const auto liar = std::ranges::find(m_found.liars, name, &JuryFound::Liar::name);
        if (liar == m_found.liars.end() && std::ranges::find(m_found.wronged, name) == m_found.wronged.end()) {
            m_found.wronged.push_back(name);
            m_say(name + " is suspended, though it works");
        } else if (liar != m_found.liars.end() && liar->suspended == 0) {
            liar->suspended = std::max<std::uint64_t>(1, row.since);
            m_say(name + " (" + liar->lie + ") is suspended by the list of round " + std::to_string(row.since));
        }
    }
}

bool JuryScene::is_settled() const {
    return std::ranges::all_of(m_found.liars, [](const JuryFound::Liar& liar) { return liar.suspended > 0; });
}

Scenario::~Scenario() {
    m_timer.cancel();
    for (const auto& node : m_nodes) node->kill();
}

ChildNode& Scenario::add(const std::string& name, const std::string& folder, std::vector<std::string> extra,
                         Environment environment) {
    const std::filesystem::path data = m_plan.folder / folder;
    std::error_code ignored;
    std::filesystem::create_directories(data, ignored);
    std::vector<std::string> arguments = {"serve",       "--data-dir", data.string(),       "--loopback",
                                          "--pause-for", "none",       "--name-of-node",    name,
                                          "--threads",   "1",          "--trainer-threads", "1",
                                          "--log-level", "debug"};  // the report is made from the logs, too
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    m_nodes.push_back(
        std::make_unique<ChildNode>(m_loop, ChildNode::Options{name, m_plan.node_program, std::move(arguments), data,
                                                               data / "stderr.log", std::move(environment)}));
    return *m_nodes.back();
}

void Scenario::run(std::function<void(Status)> done) {
    m_owner.check();
    m_done = std::move(done);
    m_started = m_stage_began = Clock::now();
    ChildNode& backbone = add("backbone", "backbone", {});
    if (const Status started = backbone.start(); !started) return finish(started);
    look();
}

double Scenario::seconds_since(Clock::time_point moment) const {
    return std::chrono::duration<double>(Clock::now() - moment).count();
}

void Scenario::look() {
    m_timer.expires_after(look_every);
    m_timer.async_wait([this](const auto& cancelled) {
        if (cancelled) return;
        switch (m_stage) {
            case Stage::backbone:
            case Stage::invite: look_at_start(); break;
            case Stage::training: look_at_training(); break;
            case Stage::settling: look_at_end(); break;
            case Stage::over: return;
        }
        if (m_stage != Stage::over) look();
    });
}

void Scenario::look_at_start() {
    const bool failed = !backbone().alive() || Clock::now() - m_stage_began > start_patience;
    if (failed) {
        return finish(Error{ErrorCode::unavailable, "The backbone did not start; see stderr.log and node.log in " +
                                                        backbone().data_folder().string() + "."});
    }
    const auto& snapshot = backbone().snapshot();
    if (m_stage == Stage::invite || !snapshot || !snapshot->run) return;
    m_stage = Stage::invite;
    m_nodes.front()->call(control::MakeInvite{}, [this](const Result<control::InviteLink>& answer) {
        if (!answer) return finish(Error{ErrorCode::unavailable, "The backbone gave no invite."});
        m_magnet = answer->magnet;
        m_jury.vouch(*m_nodes.front(), m_plan.vouched);
        start_volunteers();
    });
}

void Scenario::start_volunteers() {
    m_say("invite: " + m_magnet);
    const std::vector<std::string> entry = {"--dht",
                                            "127.0.0.1:" + std::to_string(backbone().snapshot()->network.port)};
    for (unsigned i = 1; i <= m_plan.volunteers; ++i) {
        const std::string number = std::to_string(i);
        if (i == m_plan.volunteers && i > 2 && m_plan.window == ScenarioPlan::Window::open) {
            start_window(entry.back());
            continue;
        }
        std::vector<std::string> arguments = device_arguments(m_plan.devices, i);
        arguments.insert(arguments.end(), entry.begin(), entry.end());
        Environment environment;
        if (i + m_plan.liars > m_plan.volunteers) {
            m_jury.add_liar("volunteer " + number, m_plan.liar_program.string(), m_plan.trainer_program.string(),
                            arguments, environment);
        }
        ChildNode& volunteer =
            add("volunteer " + number, "volunteer-" + number, std::move(arguments), std::move(environment));
        if (i == 2) m_victim = &volunteer;
        if (const Status started = volunteer.start(); !started) return finish(started);
        join(volunteer);
    }
    m_stage = Stage::training;
    m_stage_began = Clock::now();
}

/// The desktop app starts a node of its own, which finds its network in the environment; we speak to that node through
/// `potluck-node control`.
void Scenario::start_window(const std::string& dht) {
    const std::filesystem::path data = m_plan.folder / "window";
    std::error_code ignored;
    std::filesystem::create_directories(data, ignored);
#ifndef _WIN32
    ::setenv("POTLUCK_LOOPBACK", "1", 1);
    ::setenv("POTLUCK_LOG_LEVEL", "debug", 1);
    ::setenv("POTLUCK_DHT", dht.c_str(), 1);
#endif
    auto app = LineProcess::start(
        m_loop, {m_plan.app_program, {"--data-dir", data.string(), m_magnet}, data / "stderr.log", ProcessGroup::own},
        {[](const std::string&) {}, [this](const std::string&) { m_say("the window was closed"); }});
    if (!app) return finish(app.error());
    m_app = std::move(*app);
    m_nodes.push_back(std::make_unique<ChildNode>(
        m_loop,
        ChildNode::Options{
            "window", m_plan.node_program, {"control", "--data-dir", data.string()}, data, data / "stderr.log"}));
    m_windowed = m_nodes.back().get();
}

void Scenario::join(ChildNode& node) {
    control::Join call;
    call.invite = m_magnet;
    node.call(call, [this, name = node.name()](const Result<control::Done>& answer) {
        if (!answer) m_say(name + " could not join: " + answer.error().message);
    });
}

std::uint64_t Scenario::round() const {
    const auto& snapshot = backbone().snapshot();
    return snapshot && snapshot->run ? snapshot->run->round : 0;
}

Status Scenario::start_late() {
    std::vector<std::string> arguments = device_arguments(m_plan.devices, m_plan.volunteers + 1);
    arguments.insert(arguments.end(), {"--dht", "127.0.0.1:" + std::to_string(backbone().snapshot()->network.port)});
    m_late = &add("late volunteer", "late", std::move(arguments));
    m_say("another volunteer joins in the middle");
    if (Status started = m_late->start(); !started) return started;
    m_late_asked = Clock::now();
    join(*m_late);
    return {};
}

void Scenario::look_at_training() {
    const std::uint64_t at = round();
    if (const Status done = disturb(at); !done) return finish(done);
    m_jury.look(m_nodes);
    if (!backbone().alive())
        return finish(Error{ErrorCode::unavailable,
                            "The backbone ended; see node.log in " + backbone().data_folder().string() + "."});
    measure_if_due(at);
    const double taken = seconds_since(m_stage_began);
    const bool complete = at >= m_plan.length.rounds;
    const bool is_stuck = Clock::now() - m_stage_began >= m_plan.timeout;
    const bool time_is_up =
        is_stuck || (m_plan.length.seconds && taken >= *m_plan.length.seconds && newcomers_credited());
    if (!complete && !m_beaten && !time_is_up) return;
    // Members that are asked at the end of a window finish in different rounds, and the last one is a few members'
    // alone: they are asked when the next round has begun.
    if (m_turns.end == 0) m_turns.end = at + 1;
    if (complete || at >= m_turns.end || is_stuck) end_training(at);
}

/// The late volunteer comes, the victim goes and returns, each at its turn.
Status Scenario::disturb(std::uint64_t at) {
    if (m_windowed != nullptr && !m_windowed->alive() && m_app && m_windowed->start()) join(*m_windowed);
    if (m_late == nullptr && at >= m_turns.late_join) {
        if (Status started = start_late(); !started) return started;
    }
    if (m_late != nullptr && m_late_seconds <= 0 && m_late->snapshot() && m_late->snapshot()->run &&
        m_late->snapshot()->run->join_seconds > 0) {
        m_late_seconds = seconds_since(m_late_asked);
    }
    if (!m_killed && at >= m_turns.kill) {
        m_killed = true;
        m_killed_at = Clock::now();
        m_victim_rounds = rounds_credited(m_victim);
        m_say(m_victim->name() + " is killed (SIGKILL, node and trainer)");
        m_victim->kill();
    }
    const bool away_enough = m_killed && Clock::now() - m_killed_at > away_min && !m_victim->alive();
    if (!away_enough || m_returned || at < m_turns.comeback) return {};
    m_returned = true;
    m_returned_at = RoundId{at};
    m_returned_since = Clock::now();
    m_say(m_victim->name() + " comes back");
    return m_victim->start();
}

bool Scenario::newcomers_credited() const {
    return m_returned && rounds_credited(m_victim) > m_victim_rounds && rounds_credited(m_late) > 0;
}

void Scenario::measure_if_due(std::uint64_t at) {
    const bool may_end = m_plan.length.end == DemoLength::End::beaten && at >= m_plan.rounds_min &&
                         newcomers_credited() && m_jury.is_settled();
    if (!may_end || m_measuring || m_beaten || Clock::now() < m_measure_next) return;
    const TableHead now = head();
    const auto is_below = [&](double loss) { return loss > 0 && loss < now.bigram_loss; };
    if (!is_below(now.loss) && !is_below(now.validation_loss)) return;
    m_measuring = true;
    m_plan.measure([this, began = Clock::now()](bool beaten) {
        m_measuring = false;
        m_beaten = beaten;
        m_measure_next =
            Clock::now() + std::max<Clock::duration>(measure_every, measure_share * (Clock::now() - began));
    });
}

void Scenario::end_training(std::uint64_t at) {
    const bool complete = at >= m_plan.length.rounds;
    if (m_beaten && !complete) m_say("the baseline is beaten; training ends here");
    if (!m_beaten && !complete) m_say("time is up; training ends here");
    m_trained_seconds = seconds_since(m_stage_began);
    if (m_late != nullptr) m_late_left = seconds_since(m_late_asked);
    if (m_returned) m_returned_left = seconds_since(m_returned_since);
    m_stage = Stage::settling;
    m_stage_began = Clock::now();
    if (complete) return;
    for (const auto& node : m_nodes) {
        if (node != m_nodes.front()) node->call(control::Finish{}, [](const Result<control::Done>&) {});
    }
}

bool Scenario::in_step() const {
    const auto& first = backbone().snapshot();
    return std::all_of(m_nodes.begin(), m_nodes.end(), [&](const auto& node) {
        const auto& snapshot = node->snapshot();
        return node->alive() && snapshot && snapshot->run && snapshot->run->round == first->run->round &&
               snapshot->run->digest == first->run->digest;
    });
}

/// Nobody trains any more, so that the round which goes on does not end.
bool Scenario::finished() const {
    return round() >= m_plan.length.rounds || std::all_of(m_nodes.begin() + 1, m_nodes.end(), [](const auto& node) {
               const auto& snapshot = node->snapshot();
               return snapshot && snapshot->run && snapshot->run->phase == run::Phase::finished;
           });
}

/// Every node has the list that certifies the last state, so that whatever is exported can be proven. A demo that ended
/// before its rounds did has no last state: its newest one is a round ahead of what is certified.
bool Scenario::closed() const {
    return round() < m_plan.length.rounds || std::all_of(m_nodes.begin(), m_nodes.end(), [](const auto& node) {
               const auto& snapshot = node->snapshot();
               return snapshot && snapshot->run && snapshot->run->closed;
           });
}

void Scenario::look_at_end() {
    m_in_step = in_step();
    m_closed = closed();
    const double limit = std::chrono::duration<double>(end_patience).count() + 2 * m_plan.recipe.window_seconds;
    if (!(m_in_step && m_closed && finished()) && seconds_since(m_stage_began) < limit) return;
    if (!m_asking) ask_checkpoints();
}

void Scenario::ask_checkpoints() {
    m_asking = true;
    m_nodes.front()->call(control::ReadCheckpoints{}, [this](const Result<control::Checkpoints>& answer) {
        if (answer && !answer->rows.empty()) {
            m_checkpoint = std::ranges::max_element(answer->rows, {}, &control::CheckpointRow::round)->file;
        }
        finish({});
    });
}

void Scenario::finish(Status outcome) {
    m_stage = Stage::over;
    if (m_done) std::exchange(m_done, nullptr)(std::move(outcome));
}

void Scenario::sample(const std::string& prompt, std::function<void(const Result<control::SampledText>&)> done) {
    m_owner.check();
    if (m_nodes.size() < 2) return done(Error{ErrorCode::unavailable, "No volunteer is there."});
    control::SampleText call;
    call.prompt = prompt;
    call.tokens = sample_tokens;
    m_nodes[1]->call(call, std::move(done));
}

void Scenario::stop(std::function<void()> done) {
    m_owner.check();
    for (const auto& node : m_nodes) node->stop();
    if (m_app) m_app->kill();
    m_stage_began = Clock::now();
    m_stopped = std::move(done);
    await_end();
}

/// Looks on until no node is left; those that have not ended within stop_patience are killed.
void Scenario::await_end() {
    m_timer.expires_after(look_every);
    m_timer.async_wait([this](const auto& cancelled) {
        if (cancelled) return;
        const bool anybody =
            std::any_of(m_nodes.begin(), m_nodes.end(), [](const auto& node) { return node->alive(); });
        if (!anybody) return std::exchange(m_stopped, nullptr)();
        if (Clock::now() - m_stage_began > stop_patience) {
            for (const auto& node : m_nodes) node->kill();
        }
        await_end();
    });
}

TableHead Scenario::head() const {
    m_owner.check();
    TableHead head;
    head.total_rounds = m_plan.length.rounds;
    head.seconds = seconds_since(m_started);
    if (m_nodes.empty() || !backbone().snapshot() || !backbone().snapshot()->run) return head;
    const control::RunSnapshot& run = *backbone().snapshot()->run;
    head.round = run.round;
    head.loss = run.loss;
    head.bigram_loss = run.bigram_loss;
    head.baseline = model::title_of(run.baseline);
    std::uint64_t newest = 0;
    for (const auto& node : m_nodes) {  // volunteers measure, each when it is due
        const auto& snapshot = node->snapshot();
        if (!snapshot || !snapshot->run || snapshot->run->validation_loss <= 0) continue;
        if (head.validation_loss > 0 && snapshot->run->validation_round < newest) continue;
        newest = snapshot->run->validation_round;
        head.validation_loss = snapshot->run->validation_loss;
    }
    head.tokens_per_second = run.swarm_tokens_per_second;
    return head;
}

std::vector<TableRow> Scenario::rows() const {
    m_owner.check();
    std::vector<TableRow> rows;
    std::string proposer;
    if (!m_nodes.empty() && backbone().snapshot() && backbone().snapshot()->run)
        proposer = backbone().snapshot()->run->proposer;
    for (const auto& node : m_nodes) {
        TableRow row;
        row.name = node->name();
        row.alive = node->alive();
        row.bytes_up = node->bytes_up();
        row.bytes_down = node->bytes_down();
        if (const auto& snapshot = node->snapshot()) {
            row.phase = name_of(snapshot->activity);
            row.proposes = !proposer.empty() && snapshot->peer_id == proposer;
            row.tokens_per_second = static_cast<std::uint64_t>(snapshot->trainer.tokens_per_second);
            row.loss = snapshot->trainer.loss;
            if (snapshot->run) {
                row.phase = control::name_of(snapshot->run->phase);
                row.round = snapshot->run->round;
                row.credited = snapshot->run->my_tokens;
            }
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

void Scenario::fill(DemoReport& report) const {
    m_owner.check();
    report.rounds_wanted = m_plan.length.rounds;
    report.window_seconds = m_plan.recipe.window_seconds;
    report.collect_seconds = m_plan.recipe.collect_seconds;
    report.late_seconds_left = m_late_left;
    report.returned_seconds_left = m_returned_left;
    report.volunteers = m_nodes.size() - 1;
    for (const auto& node : m_nodes) {
        if (report.plan.empty() && node->snapshot()) report.plan = node->snapshot()->trainer.device;
    }
    report.all_in_step = m_in_step;
    report.closed = m_closed;
    report.jury = m_jury.found();
    report.seconds_join_to_first_step = m_late_seconds;
    report.seconds = m_trained_seconds;
    std::uint64_t bytes = 0, rounds = 0;
    for (const auto& node : m_nodes) {
        report.rounds_lost = std::max(report.rounds_lost, node->rounds_lost());
        const bool is_away = node.get() == m_victim && m_killed && !m_returned;
        if (!node->alive() && !is_away) {
            report.troubles.push_back(node->name() + " ended by itself; see stderr.log and node.log in " +
                                      node->data_folder().string() + ".");
        }
        if (node->digests_compared() != node->digests_equal()) {
            report.troubles.push_back(node->name() + " saw a digest that differed from its own.");
        }
        if (node == m_nodes.front() || !node->snapshot() || !node->snapshot()->run) continue;
        bytes += node->bytes_up();
        rounds += node->snapshot()->run->my_rounds;
        report.round_overhead_seconds = node->snapshot()->run->last_round_overhead_seconds;
        report.k = static_cast<std::uint32_t>(node->snapshot()->run->exchange.density_allowed);
    }
    if (rounds > 0) report.upload_bytes_per_round = static_cast<double>(bytes) / static_cast<double>(rounds);
    report.checkpoint = m_checkpoint;
    if (m_late == nullptr) report.troubles.push_back("Training ended before a volunteer could join late.");
    if (!m_returned) report.troubles.push_back("Training ended before the killed volunteer could come back.");
}

std::vector<BookOfNode> Scenario::books() const {
    m_owner.check();
    std::vector<BookOfNode> books;
    for (const auto& node : m_nodes) {
        const auto part = node.get() == m_late     ? BookOfNode::Part::late
                          : node.get() == m_victim ? BookOfNode::Part::returned
                                                   : BookOfNode::Part::usual;
        books.push_back({node->name(), node->data_folder(), part, m_returned_at});
    }
    return books;
}

}  // namespace potluck::node
