// What a person asks for is carried out and kept in the settings, from which start() takes it up: a node that was
// killed comes back to the same run, paused or finishing as it was. Joining is a search that goes on for as long as it
// takes; the reason it has not succeeded yet is part of the snapshot.
//
// A manifest is believed only when it parses, its host signed it, and its hash is the invite's run. Validity of `this`
// in callbacks is a shared flag, because network and timers may call after the destructor has begun.
//
// Changes are reported by comparing a key of what people notice every 200 ms, which spares every part the duty to
// report its own. stop() repeats until the trainer is gone, so that no child outlives the node, and only then closes
// the network.
#include "app/node/session/node.h"

#include <algorithm>
#include <set>
#include <utility>

#include <boost/asio/post.hpp>

#include "app/node/member/view.h"
#include "app/node/owner/pause_file.h"
#include "app/node/paths.h"
#include "app/node/session/own_proxy.h"
#include "core/activity/words.h"
#include "core/base/log.h"
#include "core/run/manifest.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t pause_seconds_max = 366LL * 24 * 3600;

constexpr std::size_t key_digits_min = 8;    // of a key that is named by its beginning
constexpr std::uint64_t ticks_per_look = 4;  // a snapshot asks the ledger

run::ActionKind action_kind(control::ModerationKind kind) {
    switch (kind) {
        case control::ModerationKind::ban: return run::ActionKind::ban;
        case control::ModerationKind::readmit: return run::ActionKind::readmit;
        case control::ModerationKind::allow: return run::ActionKind::allow;
        case control::ModerationKind::rollback: return run::ActionKind::roll_back;
    }
    return run::ActionKind::ban;
}

}  // namespace

Node::Node(boost::asio::io_context& loop, NodeOptions options, FileLock lock, OwnKeys keys, ledger::Ledger ledger,
           NodeSettings settings)
    : m_loop(loop),
      m_options(std::move(options)),
      m_lock(std::move(lock)),
      m_keys(std::move(keys)),
      m_ledger(std::move(ledger)),
      m_settings(std::move(settings)),
      m_right_of_way(m_settings.rules),
      m_timer(loop),
      m_now(steady_now()) {}

Node::~Node() {
    *m_alive = false;
    m_timer.cancel();
    m_session.reset();
    m_retiring.reset();
    m_releases.reset();
    m_network.reset();
}

Result<std::unique_ptr<Node>> Node::open(boost::asio::io_context& loop, NodeOptions options) {
    if (const Status made = make_data_folder(options.data_folder); !made) return made.error();
    auto lock = FileLock::acquire(options.data_folder / "node.lock");
    if (!lock) {
        if (lock.error().code != ErrorCode::already_exists) return lock.error();
        return Error{ErrorCode::already_exists, "Another node is using the data folder " +
                                                    options.data_folder.string() +
                                                    "; use that one, or give another folder with --data-dir."};
    }
    auto keys = OwnKeys::open_or_create(options.data_folder);
    if (!keys) return keys.error();
    auto ledger = ledger::Ledger::open(options.data_folder / "ledger.db");
    if (!ledger) return ledger.error();
    auto settings = NodeSettings::load(options.data_folder);
    if (!settings) return settings.error();
    const NodeSettings saved = *settings;
    settings->apply(options.limits);
    settings->apply(options.network);
    settings->apply(options.rules);
    settings->apply(options.releases);
    if (*settings != saved) {
        if (const Status kept = settings->save(options.data_folder); !kept) return kept.error();
    }
    std::unique_ptr<Node> node(new Node(loop, std::move(options), std::move(*lock), std::move(*keys),
                                        std::move(*ledger), std::move(*settings)));
    if (const Status opened = node->open_network(); !opened) return opened.error();
    node->open_releases();
    return node;
}

Status Node::open_network() {
    net::SessionSettings settings;
    settings.data_folder = m_options.data_folder / "network";
    settings.port = m_options.port;
    settings.reach = m_options.reach;
    settings.dht_nodes = m_options.dht_nodes;
    settings.addresses = m_options.addresses;
    settings.proxy = m_settings.proxy;
    settings.upload_bytes_per_second = m_settings.resources.upload;
    settings.download_bytes_per_second = m_settings.resources.download;
    settings.blob_bytes_max = m_settings.blob_bytes_max();
    settings.wake = [this, alive = m_alive] {
        boost::asio::post(m_loop, [this, alive] {
            if (*alive && m_network) m_network->poll(steady_now());
        });
    };
    auto network = net::Session::open(std::move(settings));
    if (!network && network.error().code == ErrorCode::already_exists) {
        return Error{ErrorCode::unavailable, network.error().message};
    }
    if (!network) return network.error();
    m_network = std::move(*network);
    return {};
}

void Node::start() {
    m_owner.check();
    log::of("node").info("node {} is up; data in {}, port {}", m_keys.device_key().id().brief(),
                         m_options.data_folder.string(), m_network->counters().port);
    if (m_settings.pause_over(unix_seconds())) {
        m_settings.paused = false;
        m_settings.paused_until = 0;
        static_cast<void>(save_settings());
    }
    m_pauses = load_pauses(m_options.data_folder);
    m_traffic = TrafficBook::load(m_options.data_folder);
    m_energy = EnergyBook::load(m_options.data_folder);
    m_usage_at = m_usage_saved_at = steady_now();
    look_after_owner();
    if (m_settings.run) search();
    schedule();
}

void Node::schedule() {
    m_timer.expires_after(tick_every);
    m_timer.async_wait([this, alive = m_alive](const auto& cancelled) {
        if (cancelled || !*alive) return;
        tick();
        if (*alive && !m_stopping) schedule();
    });
}

void Node::tick() {
    m_now = steady_now();
    m_network->poll(m_now);
    if (m_session) {
        m_session->tick(m_now);
        record_curve(m_session->peer().view());
        leave_when_finished();
        look_at_succession();
    }
    if (m_retiring) {
        m_retiring->tick(m_now);
        if (m_retiring->gone()) m_retiring.reset();
    }
    if (m_look) {
        if (const auto search = m_network->manifest_search(m_look->run))
            m_look->peers = std::max<std::uint64_t>(m_look->peers, search->peers);
    }
    heed_sleep();
    if (m_settings.pause_over(unix_seconds())) {
        if (const Status ended = end_pause(); !ended) log::of("node").warn("{}", ended.error().message);
    }
    if (!m_looked_after || m_now - *m_looked_after >= owner_every) look_after_owner();
    look_for_releases();
    if (m_now >= m_usage_at + usage_every) count_usage();
    if (m_now >= m_usage_saved_at + usage_saved_every) save_usage();
    if (!m_changed || ++m_ticks % ticks_per_look != 0) return;
    std::string key = change_key();
    if (key != std::exchange(m_last_reported, key)) m_changed();
}

void Node::look_at_succession() {
    if (!m_session || (m_succession_at && m_now < *m_succession_at + succession_every)) return;
    m_succession_at = m_now;
    m_succession.reset();
    if (m_session->peer().manifest().host == m_keys.person.id()) m_succession = m_session->peer().succession();
}

/// Who sleeps hands its seat over first and comes back by itself. A run that was left a moment ago has done so already.
void Node::heed_sleep() {
    const std::optional<SleepWatch::Notice> notice = m_sleep.poll(m_now);
    if (notice == SleepWatch::Notice::going) {
        m_asleep_by = m_now + hand_over_limit;
        if (m_session) m_session->begin_sleep(m_now);
    } else if (notice == SleepWatch::Notice::back) {
        m_asleep_by.reset();
        if (m_session) m_session->end_sleep(m_now);
    }
    if (!m_asleep_by || (m_now < *m_asleep_by && m_session && !m_session->may_sleep())) return;
    m_asleep_by.reset();
    m_sleep.release();
}

/// What must be told at once; the rest is told each second.
std::string Node::change_key() const {
    const control::NodeSnapshot now = own_snapshot();
    std::string key = std::string(name_of(now.activity)) + "|" + now.reason + "|" + std::to_string(now.paused_until) +
                      "|" + name_of(now.proxy->answer) + "|" + std::to_string(now.network.peers) + "|" +
                      name_of(now.trainer.state) + "|" + now.name + "|" + now.device->chosen + now.device->obstacle +
                      "|" + control::choice_of(now.trainer.devices);
    if (now.releases) {
        key += std::string("|") + control::name_of(now.releases->stage) + now.releases->error +
               now.releases->installed + std::to_string(now.releases->packs.size());
    }
    if (now.preparation) {
        const auto percent = static_cast<int>(100 * now.preparation->fraction);
        key += std::string("|") + control::name_of(now.preparation->stage) + std::to_string(percent);
    }
    if (now.run)
        key += "|" + now.run->id + "|" + std::to_string(now.run->round) + "|" + control::name_of(now.run->phase);
    return key;
}

/// Whether the run is one's own by more than an invite.
bool Node::is_member() const {
    return m_session && m_session->peer().view().why.reason != status::Reason::not_admitted;
}

Status Node::join(const run::Invite& invite, run::Role role, control::OtherRun other_run) {
    m_owner.check();
    if (m_session && m_session->run() == invite.run) {
        m_session->swarm().add_hints(invite.hints);
        return m_settings.run && m_settings.run->finishing ? resume() : Status();
    }
    if (m_settings.run && m_settings.run->invite.run != invite.run) {
        if (is_member() && other_run == control::OtherRun::keep) {
            return Error{ErrorCode::already_exists, "This node is in the run “" + m_session->peer().manifest().name +
                                                        "” already; leave it first, or use another data folder."};
        }
        if (const Status left = leave(); !left) return left;
    }
    m_settings.run = SavedRun{.invite = invite, .role = role};
    m_join_error.clear();
    m_search_since = 0;
    m_nobody_in_time = false;
    if (Status saved = save_settings(); !saved) return saved;
    search();
    return {};
}

void Node::look_at(const run::Invite& invite, LookDone done) {
    m_owner.check();
    end_look();
    auto file = read_file(run_folder(m_options.data_folder, invite.run) / "manifest", manifest_file_bytes_max);
    if (file) return done(Looked{.manifest_file = std::move(*file)});
    if (m_searching == invite.run)
        return done(Error{ErrorCode::unavailable, "This run is being looked for already, to join it."});
    m_look = Look{invite.run, 0, std::move(done)};
    m_network->fetch_manifest(invite, look_patience, [this, alive = m_alive](Result<Bytes> fetched) {
        if (!*alive || !m_look) return;
        const Look look = *std::exchange(m_look, std::nullopt);
        if (fetched) return look.done(Looked{std::move(*fetched), look.peers});
        if (fetched.error().code != ErrorCode::timed_out) return look.done(fetched.error());
        look.done(Error{ErrorCode::timed_out, "Nobody in this run has answered; joining goes on looking."});
    });
}

void Node::end_look() {
    if (!m_look) return;
    const Look look = *std::exchange(m_look, std::nullopt);
    m_network->cancel_manifest(look.run);
    look.done(Error{ErrorCode::cancelled, "Another run is looked at now."});
}

/// Finds the manifest of the saved run: in the run's folder, or in the swarm.
void Node::search() {
    end_look();
    const run::Invite invite = m_settings.run->invite;
    auto file = read_file(run_folder(m_options.data_folder, invite.run) / "manifest", manifest_file_bytes_max);
    if (file) return manifest_here(invite, std::move(*file));
    m_searching = invite.run;
    if (m_search_since == 0) m_search_since = unix_seconds();
    m_network->fetch_manifest(invite, m_options.manifest_patience,
                              [this, alive = m_alive, invite](Result<Bytes> fetched) {
                                  if (*alive) manifest_here(invite, std::move(fetched));
                              });
}

void Node::manifest_here(const run::Invite& invite, Result<Bytes> file) {
    m_searching.reset();
    if (!m_settings.run || m_settings.run->invite.run != invite.run || m_session || m_stopping) return;
    if (!file && file.error().code == ErrorCode::timed_out) {
        // A member that has it may come online later: the search goes on, and the reason is shown.
        if (!std::exchange(m_nobody_in_time, true)) {
            log::of("node").warn("Nobody in the run \"{}\" could be reached so far; the search goes on.",
                                 log::printable(invite.name));
        }
        return search();
    }
    const Status opened = file ? open_session(invite, *file) : Status(file.error());
    if (opened) return;
    m_join_error = opened.error().message + newer_protocol(file);
    log::of("node").error("{}", m_join_error);
}

Status Node::open_session(const run::Invite& invite, const Bytes& manifest_file) {
    auto manifest = check_manifest(manifest_file);
    if (!manifest) return manifest.error();
    close_session();
    const fs::path folder = run_folder(m_options.data_folder, invite.run);
    std::error_code failed;
    fs::create_directories(folder, failed);
    const auto stored = m_network->publish_manifest(manifest_file);
    if (!stored) return stored.error();
    if (*stored != invite.run) {
        return Error{ErrorCode::untrusted,
                     "The run's description is not the one that the invite names; ask for a new invite."};
    }
    if (Status written = write_file_atomically(folder / "manifest", manifest_file); !written) return written;

    RunSession::Plan plan;
    plan.folder = folder;
    plan.run = invite.run;
    plan.manifest = std::move(manifest->manifest);
    plan.role = m_settings.run->role;
    plan.hints = invite.hints;
    plan.name = m_settings.name;
    plan.team = m_settings.team;
    plan.trainer_program = m_options.trainer_program;
    plan.trainer_errors = m_options.data_folder / "trainer.log";
    plan.threads = m_options.threads;
    plan.trainer_threads = m_options.trainer_threads;
    plan.budget = m_settings.budget;
    plan.shard_bytes_max = m_settings.shard_bytes_max();
    plan.heartbeat = m_options.heartbeat;
    auto session = RunSession::open({m_loop, *m_network, m_ledger, m_keys}, std::move(plan));
    if (!session) return session.error();
    m_session = std::move(*session);
    m_beginning = beginning_of(m_session->peer().manifest());
    m_succession.reset();
    m_succession_at.reset();
    m_now = steady_now();
    m_session->start(m_now);
    m_obeyed = activity::Level::run;
    obey();
    if (m_settings.run->finishing) m_session->peer().finish(m_now);
    m_join_error.clear();
    m_search_since = 0;
    m_nobody_in_time = false;
    return {};
}

void Node::close_session() {
    for (std::unique_ptr<RunSession>* session : {&m_session, &m_retiring}) {
        if (*session) (*session)->abandon();
        session->reset();
    }
}

Status Node::leave() {
    m_owner.check();
    if (!m_settings.run) return not_in_a_run();
    log::of("node").info("leaving run {}", m_settings.run->invite.run.brief());
    if (m_searching) m_network->cancel_manifest(*m_searching);
    m_searching.reset();
    if (m_session) {
        // It has things to hand over and goes when it has.
        m_retiring = std::move(m_session);
        if (TrainerProcess* trainer = m_retiring->trainer()) trainer->leave_no_moments();
        m_retiring->stop(m_now);
    }
    m_settings.run.reset();
    m_go_by.reset();
    m_join_error.clear();
    return save_settings();
}

Status Node::pause(std::int64_t seconds) {
    m_owner.check();
    if (seconds < 0 || seconds > pause_seconds_max) {
        return Error{ErrorCode::invalid_argument,
                     "A pause lasts at most a year; leave the duration out to pause until you resume."};
    }
    log::of("node").info("paused{}", seconds > 0 ? " for " + std::to_string(seconds) + " s" : std::string());
    m_settings.paused = true;
    m_settings.paused_until = seconds == 0 ? 0 : unix_seconds() + seconds;
    obey();
    return save_settings();
}

/// What training must obey now: the person's own pause before what was noticed.
activity::Decision Node::hold() const {
    if (m_settings.paused) return {activity::Level::pause, activity::Signal::person, {}};
    return m_right_of_way.decision();
}

void Node::look_after_owner() {
    m_looked_after = m_now;
    const activity::Decision before = m_right_of_way.decision();
    const activity::Decision& now = m_right_of_way.look(m_now, activity::hour_of_week(unix_seconds()));
    if (now.level != before.level || now.signal != before.signal) {
        m_yields_since = unix_seconds();
        log::of("node").info("{}", now.level == activity::Level::run ? "the owner needs this computer no more"
                                                                     : log::printable(activity::sentence(now)));
    }
    obey();
}

/// Tells the session what changed since it was told last, and the history what is in force.
void Node::obey() {
    const activity::Decision now = hold();
    const bool trains = m_session && m_session->trainer();  // else there is nothing to tell of
    if (m_pauses.note(unix_seconds(), trains ? now : activity::Decision{})) {
        if (const Status kept = save_pauses(m_options.data_folder, m_pauses); !kept)
            log::of("node").warn("{}", kept.error().message);
    }
    const activity::Level before = std::exchange(m_obeyed, now.level);
    if (!m_session) return;
    TrainerProcess* trainer = m_session->trainer();
    if (trainer != nullptr && now.level != activity::Level::pause) {
        const double share = control::share_of(m_settings.resources.effort);
        trainer->set_share(now.level == activity::Level::quiet ? std::min(share, quiet_share) : share);
    }
    if (before == now.level) return;
    if (now.level == activity::Level::pause) {
        m_session->peer().pause(m_now);
        if (trainer != nullptr) trainer->release_by(m_now + RunSession::pause_limit);
    } else if (before == activity::Level::pause) {
        if (trainer != nullptr) trainer->keep();
        m_session->peer().resume(m_now);
    }
}

void Node::give_way(const control::Yield& call) {
    m_owner.check();
    m_right_of_way.told(m_now, {call.level, call.signal, log::printable(call.detail)},
                        Duration{1000 * static_cast<Duration::rep>(call.seconds)});
    look_after_owner();
}

Status Node::set_rules(const control::OwnerRules& described) {
    m_owner.check();
    auto rules = control::rules_of(described);
    if (!rules) return rules.error();
    m_settings.rules = *rules;
    m_right_of_way.set_rules(*std::move(rules));
    return save_settings();
}

Status Node::set_resources(const control::Resources& wanted) {
    m_owner.check();
    m_settings.resources = wanted;
    m_network->set_rate_limits(wanted.upload, wanted.download);
    m_network->set_blob_bytes_max(m_settings.blob_bytes_max());
    if (m_session) m_session->peer().set_shard_bytes_max(m_settings.shard_bytes_max());
    obey();
    return save_settings();
}

control::PauseHistory Node::pauses() const {
    m_owner.check();
    return pause_rows(m_pauses);
}

Status Node::resume() {
    m_owner.check();
    m_right_of_way.dismiss();
    return end_pause();
}

/// Ends a pause by hand, its time being over or not; what was noticed may still hold training up.
Status Node::end_pause() {
    log::of("node").info("resumed");
    m_settings.paused = false;
    m_settings.paused_until = 0;
    if (m_settings.run && std::exchange(m_settings.run->finishing, false)) close_session();
    obey();
    if (m_session) {
        if (TrainerProcess* trainer = m_session->trainer()) trainer->reset_failures();
        if (hold().level != activity::Level::pause) m_session->peer().resume(m_now);
    } else if (m_settings.run && !m_searching) {
        m_join_error.clear();
        search();
    }
    m_go_by.reset();
    return save_settings();
}

Status Node::finish(control::AfterFinish after) {
    m_owner.check();
    if (!m_settings.run || !m_session) return not_in_a_run();
    m_settings.run->finishing = true;
    m_settings.run->after = after;
    m_session->peer().finish(m_now);
    return save_settings();
}

/// Once a list has what was trained; where no list comes, two rounds later. What was not accepted waits on disk.
void Node::leave_when_finished() {
    const bool leaves =
        m_settings.run && m_settings.run->finishing && m_settings.run->after == control::AfterFinish::leave;
    if (!leaves || !m_session || !m_session->peer().has_finished()) return m_go_by.reset();
    const run::Recipe& recipe = m_session->peer().manifest().recipe;
    if (!m_go_by) m_go_by = m_now + 2 * (recipe.window + recipe.collect + recipe.grace);
    if (!m_session->peer().all_settled() && m_now < *m_go_by) return;
    if (const Status left = leave(); !left) log::of("node").warn("{}", left.error().message);
}

Status Node::set_name(const std::string& name) {
    m_owner.check();
    m_settings.name = fit_name(name);
    if (m_session) m_session->peer().set_name(m_settings.name);
    return save_settings();
}

Status Node::set_team(const std::string& team) {
    m_owner.check();
    m_settings.team = fit_team(team);
    if (m_session) m_session->peer().set_team(m_settings.team);
    return save_settings();
}

Result<std::string> Node::invite() const {
    m_owner.check();
    if (!m_session) return not_in_a_run();
    return m_network->invite(m_session->run(), m_session->peer().manifest().name).to_magnet();
}

Result<std::uint32_t> Node::moderate(const control::Moderate& wanted) {
    m_owner.check();
    if (!m_session) return not_in_a_run();
    PeerId key;
    if (wanted.kind != control::ModerationKind::rollback) {
        const auto known = known_key(wanted.key);
        if (!known) return known.error();
        key = *known;
    }
    return m_session->peer().moderate(action_kind(wanted.kind), key, RoundId{wanted.round});
}

Result<std::uint32_t> Node::replace_committee(const control::ReplaceCommittee& wanted) {
    m_owner.check();
    if (!m_session) return not_in_a_run();
    std::vector<PeerId> keys;
    for (const std::string& text : wanted.keys) {
        const auto known = known_key(text);
        if (!known) return known.error();
        keys.push_back(*known);
    }
    const auto after = wanted.after ? std::optional(RoundId{*wanted.after}) : std::nullopt;
    return m_session->peer().replace_committee(std::move(keys), after);
}

/// The key that `text` is, or the only one of a member or contributor that begins so.
Result<PeerId> Node::known_key(const std::string& text) const {
    if (const auto whole = PeerId::parse(text)) return *whole;
    std::set<PeerId> found;
    const auto look_at = [&](const PeerId& id) {
        if (text.size() >= key_digits_min && id.hex().starts_with(text)) found.insert(id);
    };
    for (const auto& member : m_session->peer().view().members) look_at(member.id);
    for (const ledger::Credit& credit : m_ledger.leaderboard(m_session->run(), control::rows_max)) {
        look_at(credit.peer);
    }
    if (found.size() == 1) return *found.begin();
    return Error{ErrorCode::not_found,
                 found.empty()
                     ? "No member or contributor has the key \"" + text +
                           "\": give all of its 64 digits, or the first 8 or more as the leaderboard shows them."
                     : "Several keys begin with " + text + ": give more digits."};
}

Result<control::Committee> Node::committee() const {
    m_owner.check();
    if (!m_session) return not_in_a_run();
    return committee_rows(m_session->peer().committee(), m_session->peer().view(), m_session->plan().folder);
}

Status Node::replace_identity(Result<identity::Identity> imported) {
    m_owner.check();
    if (m_settings.run) {
        return Error{ErrorCode::invalid_argument, "Leave the run before you import another identity."};
    }
    if (!imported) return imported.error();
    close_session();
    if (Status replaced = node::replace_identity(m_options.data_folder, *imported); !replaced) return replaced;
    auto keys = OwnKeys::open(m_options.data_folder);
    if (!keys) return keys.error();
    m_keys = std::move(*keys);
    return {};
}

bool Node::is_open(const RunId& run) const {
    m_owner.check();
    return (m_settings.run && m_settings.run->invite.run == run) || (m_retiring && m_retiring->run() == run) ||
           (m_session && m_session->run() == run);
}

std::uint64_t Node::blob_bytes_of(const RunId& run) const {
    m_owner.check();
    return m_network->blob_bytes_of(run);
}

Status Node::forget_run(const RunId& run) {
    m_owner.check();
    if (m_retiring && m_retiring->run() == run)
        return Error{ErrorCode::unavailable, "This run is still being left; try again in a few seconds."};
    if (is_open(run))
        return Error{ErrorCode::invalid_argument, "This node is in that run; leave it before you delete its files."};
    return m_network->forget_run(run);
}

Status Node::save_settings() { return m_settings.save(m_options.data_folder); }

/// The loss that members told of the round that has just ended becomes a point of the curve.
void Node::record_curve(const peer::PeerView& view) {
    if (view.round == m_curve_round) return;
    const bool next = view.round.value == m_curve_round.value + 1;
    m_curve_round = view.round;
    const double loss = swarm_loss(view);
    if (!next || loss <= 0) return;
    const RoundId ended{view.round.value - 1};
    if (const Status kept = m_ledger.record_loss(m_session->run(), ended, loss); !kept) {
        log::of("node").debug("{}", kept.error().message);
    }
}

NodeConditions Node::conditions(const net::SessionCounters& counters) const {
    NodeConditions conditions;
    conditions.paused = m_settings.paused;
    conditions.paused_until = m_settings.paused_until;
    conditions.error = m_join_error;
    // On loopback a node that was told of no other has no network to miss.
    const bool has_network = m_options.reach == net::NetworkScope::internet || !m_options.dht_nodes.empty();
    const bool through_proxy = m_settings.proxy.is_used();
    // Behind a proxy that passes no datagrams on there is no DHT, and its answer is what the network says.
    conditions.network_silent =
        has_network && counters.dht_nodes == 0 && !(through_proxy && counters.proxy == net::ProxyAnswer::yes);
    const bool shut_out = counters.proxy != net::ProxyAnswer::unknown && counters.proxy != net::ProxyAnswer::yes;
    if (shut_out) conditions.proxy_shut = m_settings.proxy.place();
    if (m_searching) {
        conditions.search =
            SearchConditions{m_network->manifest_search(*m_searching).value_or(net::ManifestSearch{}),
                             log::printable(m_settings.run->invite.name), m_search_since, m_nobody_in_time};
    }
    if (!m_session) return conditions;
    const peer::PeerView view = m_session->peer().view();
    conditions.member = view.why;
    conditions.progress = view.progress;
    conditions.disk_allowed = m_settings.blob_bytes_max();
    conditions.disk_needed = m_session->swarm().counters().blob_bytes_needed;
    if (conditions.disk_needed > conditions.disk_allowed || m_beginning.shard > m_settings.shard_bytes_max()) {
        const std::uint64_t data = m_beginning.shard / 3 * 4 + 4;  // shards may take three quarters
        conditions.disk_needed = std::max({conditions.disk_needed, data, m_beginning.bytes()});
    }
    conditions.leaves_after_round = m_settings.run->finishing && m_settings.run->after == control::AfterFinish::leave;
    const TrainerProcess* trainer = m_session->trainer();
    conditions.volunteer = trainer != nullptr;
    if (trainer == nullptr) return conditions;
    conditions.yield = m_right_of_way.decision();
    conditions.trainer_failure = trainer->failure();
    conditions.trainer_missing = trainer->lacks_program();
    conditions.trainer_interruption = trainer->interruption();
    conditions.trainer_notice = trainer->notice();
    conditions.trainer_alive = !trainer->gone();
    return conditions;
}

/// The run, and what only a member has.
void Node::add_run(control::NodeSnapshot& snapshot) const {
    const peer::PeerView view = m_session->peer().view();
    snapshot.run = run_snapshot(m_session->run(), m_session->peer().manifest(), view);
    snapshot.run->magnet = m_network->invite(m_session->run(), snapshot.run->name).to_magnet();
    snapshot.run->refusals = m_session->refusals();
    add_flows(m_session->swarm().flows(), *snapshot.run);
    if (m_succession) snapshot.run->succession = succession_rows(*m_succession, view);
    add_credit(m_ledger, m_session->run(), m_keys.person.id(), *snapshot.run);
    if (const Validation* measured = m_session->validation(); measured && !measured->points().empty()) {
        snapshot.run->validation_loss = measured->points().back().loss;
        snapshot.run->validation_round = measured->points().back().round.value;
        const control::EvaluateReply& evaluated = m_session->evaluated();
        if (evaluated.pairs) snapshot.run->order_accuracy = evaluated.pairs->order_accuracy;
        snapshot.run->pictures = evaluated.pictures;
        snapshot.run->captions = evaluated.captions;
        snapshot.run->clusters = evaluated.clusters;
        snapshot.run->neighbours = evaluated.neighbours;
    }
    snapshot.network.payload_bytes_up = view.payload_bytes_sent;
    snapshot.network.peers = static_cast<std::uint32_t>(m_session->swarm().counters().sessions);
    if (const TrainerProcess* trainer = m_session->trainer()) snapshot.trainer = trainer->view();
}

control::NodeSnapshot Node::snapshot() const {
    control::NodeSnapshot snapshot = own_snapshot();
    snapshot.programs = programs();
    return snapshot;
}

/// All that the system need not be asked for: change_key() looks at it several times a second.
control::NodeSnapshot Node::own_snapshot() const {
    m_owner.check();
    control::NodeSnapshot snapshot;
    snapshot.peer_id = m_keys.device_key().id().hex();
    snapshot.person_id = m_keys.person.id().hex();
    snapshot.name = m_settings.name;
    snapshot.team = m_settings.team;
    snapshot.data_folder = m_options.data_folder.string();
    snapshot.paused_until = m_settings.paused ? m_settings.paused_until : 0;
    snapshot.rules = control::described(m_settings.rules);
    snapshot.resources = m_settings.resources;
    snapshot.device = device_choice();
    const net::SessionCounters counters = m_network->counters();
    snapshot.proxy = shown(m_settings.proxy, counters.proxy);
    snapshot.releases = release_state();
    snapshot.preparation = m_preparation;
    snapshot.network = network_snapshot(counters);
    snapshot.network.traffic = m_traffic.traffic;
    snapshot.energy = m_energy.energy;
    const NodeConditions now = conditions(counters);
    if (!m_settings.paused && now.yield.level != activity::Level::run)
        snapshot.yield = control::YieldState{now.yield.level, now.yield.signal, now.yield.detail, m_yields_since};
    if (m_session) add_run(snapshot);
    NodeStatus status = node_status(now);
    snapshot.activity = status.activity;
    snapshot.why = {std::move(status.why)};
    snapshot.reason = std::move(status.sentence);
    snapshot.progress = status.progress;
    return snapshot;
}

control::Leaderboard Node::leaderboard(const control::ReadLeaderboard& call) const {
    m_owner.check();
    if (!m_session) return {};
    return leaderboard_of(m_ledger, m_session->run(), {m_keys.person.id(), m_settings.name, m_settings.team}, call);
}

std::vector<control::CurvePoint> Node::curve(std::size_t rows_max) const {
    m_owner.check();
    if (!m_session) return {};
    return curve_points(m_ledger, m_session->run(), m_session->validation(), rows_max);
}

std::vector<control::CheckpointRow> Node::checkpoints() const {
    m_owner.check();
    std::vector<control::CheckpointRow> rows;
    if (!m_session) return rows;
    const std::string& name = m_session->peer().manifest().name;
    for (const peer::PeerView::Checkpoint& checkpoint : m_session->peer().view().checkpoints) {
        const std::string title = name + " round " + std::to_string(checkpoint.round.value) + ".safetensors";
        rows.push_back({checkpoint.round.value, m_network->magnet(checkpoint.blob, title), checkpoint.file.string(),
                        checkpoint.blob.root.hex(), checkpoint.blob.size});
    }
    return rows;
}

void Node::stop(std::function<void()> done) {
    m_owner.check();
    if (m_stopping) return;
    log::of("node").info("stopping");
    m_stopping = true;
    end_look();
    m_stopped = std::move(done);
    m_timer.cancel();
    if (m_session) m_session->stop(m_now);
    continue_stop();
}

void Node::continue_stop() {
    m_now = steady_now();
    m_network->poll(m_now);
    if (m_session) m_session->tick(m_now);
    if (m_retiring) m_retiring->tick(m_now);
    if ((m_session && !m_session->gone()) || (m_retiring && !m_retiring->gone())) {
        m_timer.expires_after(tick_every);
        m_timer.async_wait([this, alive = m_alive](const auto& cancelled) {
            if (!cancelled && *alive) continue_stop();
        });
        return;
    }
    m_session.reset();
    m_retiring.reset();
    m_releases.reset();
    m_pauses.close(unix_seconds());
    static_cast<void>(save_pauses(m_options.data_folder, m_pauses));
    count_usage();
    save_usage();
    static_cast<void>(m_network->stop(network_stop_limit));
    if (m_stopped) boost::asio::post(m_loop, std::exchange(m_stopped, nullptr));
}

}  // namespace potluck::node
