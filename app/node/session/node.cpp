// What a person asks for is carried out and kept in the settings, from which start() takes it up: a node that was
// killed comes back to the same run, paused or finishing as it was. Joining is a search that goes on for as long as it
// takes; the reason it has not succeeded yet is part of the snapshot.
//
// A manifest is believed only when it parses, its host signed it, and its hash is the invite's run. Validity of `this`
// in callbacks is a shared flag, because network and timers may call after the destructor has begun.
//
// A connection that is open goes the old way for as long as it lasts: where proxy or port changes, all of them end, and
// a network session begins that knows the new way only. stop() repeats until the trainer is gone, so that no child
// outlives the node, and only then closes the network.
#include "app/node/session/node.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/node/find/announcer.h"
#include "app/node/find/built_in_list.h"
#include "app/node/member/view.h"
#include "app/node/paths.h"
#include "app/node/release/http_get.h"
#include "app/node/session/own_proxy.h"
#include "core/base/log.h"
#include "core/run/manifest.h"
#include "net/addresses/free_port.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t pause_seconds_max = 366LL * 24 * 3600;

/// Whether these devices, in whatever order, are those of a choice.
bool is_choice(std::vector<std::string> devices, const std::string& choice) {
    auto chosen = control::devices_of_choice(choice);
    if (!chosen) return false;
    std::ranges::sort(devices);
    std::ranges::sort(*chosen);
    return devices == *chosen;
}

/// A question about a folder for which no node runs (StoredNode) holds the lock for a moment, and a node that starts
/// just then is not refused for it.
Result<FileLock> lock_of_node(boost::asio::io_context& loop, const fs::path& folder) {
    constexpr std::chrono::milliseconds question_time_max{1000}, again{50};
    const auto last = std::chrono::steady_clock::now() + question_time_max;
    for (;;) {
        auto lock = FileLock::acquire(folder / "node.lock");
        if (lock || lock.error().code != ErrorCode::already_exists || std::chrono::steady_clock::now() >= last)
            return lock;
        boost::asio::steady_timer(loop, again).wait();
    }
}

/// Empty while none trains.
std::vector<std::string> devices_of(const TrainerProcess* trainer) {
    return trainer != nullptr ? trainer->view().devices : std::vector<std::string>();
}

/// A node without a name goes by what the run knows of its person; true if it does so from now on.
bool adopt_name(NodeSettings& settings, const RunSession* session) {
    if (session == nullptr || !settings.name.empty() || session->peer().name().empty()) return false;
    settings.name = session->peer().name();
    settings.team = session->peer().team();
    return true;
}

/// The run that this node hosts and its host wants announced; nothing if there is none.
std::optional<Finder::Hosted> announced(const RunSession* session, const NodeSettings& settings,
                                        const ledger::Ledger& ledger, const OwnKeys& keys) {
    if (session == nullptr || !settings.run || !settings.run->announcing.on_board) return std::nullopt;
    if (!may_announce(session->plan().manifest, keys.person.id())) return std::nullopt;
    const Announcing& added = settings.run->announcing;
    return Finder::Hosted{*session, ledger, keys.person, added.language, added.page};
}

/// The run of another host that this node carries as a backbone, if anybody may join it.
std::optional<find::HostedRun> carried(const RunSession* session, const NodeSettings& settings) {
    if (session == nullptr || !settings.run || settings.run->role != run::Role::backbone) return std::nullopt;
    const run::Manifest& manifest = session->plan().manifest;
    if (!manifest.allowed.empty() || session->peer().view().closed) return std::nullopt;
    return find::HostedRun{session->run(), manifest.host};
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
      m_releases(loop,
                 {m_options.data_folder, m_options.release_source, m_options.trainer_program, m_options.trainer_from},
                 {[this] {
                      // Another trainer counts from its next start on, and may see more devices.
                      m_devices.forget();
                      if (RunSession* session = m_run.session()) session->use_trainer(m_releases.trainer());
                  },
                  [this] {
                      // A run that waits for a trainer goes on as soon as one is installed.
                      const TrainerProcess* trainer = m_run.trainer();
                      if (trainer != nullptr && !trainer->failure().empty() && !m_settings.paused)
                          static_cast<void>(resume());
                  }}),
      m_devices(loop, m_options.data_folder / "trainer.log"),
      m_finding({m_options.data_folder,
                 m_ledger,
                 m_keys,
                 [this]() -> net::Session& { return *m_network; },
                 {[&loop](std::function<void()> call) { boost::asio::post(loop, std::move(call)); },
                  [this]() -> ListKeeper::Fetch {
                      return [proxy = m_settings.proxy](const std::string& place, std::size_t bytes_max,
                                                        const std::stop_token& stop) {
                          const bool is_link = place.starts_with("https://") || place.starts_with("http://");
                          return is_link ? http_get(place, bytes_max, stop, proxy) : read_file(place, bytes_max);
                      };
                  },
                  [this](net::PublicFile file, net::FileDone done) {
                      m_network->fetch_file(std::move(file), std::move(done));
                  },
                  [this](const BlobId& root) { m_network->forget_file(root); }, [this] { m_network->share_files(); },
                  built_in_list()}}),
      m_run(m_ledger, m_keys),
      m_answers(m_run, m_ledger, m_keys, m_settings),
      m_search(m_options.data_folder, m_options.manifest_patience,
               {[this](const run::Invite& invite, Duration patience, std::function<void(Result<Bytes>)> done) {
                    m_network->fetch_manifest(invite, patience, std::move(done));
                },
                [this](const RunId& run) { m_network->cancel_manifest(run); },
                [this](const RunId& run) { return m_network->manifest_search(run); },
                [this](const RunId& run) {
                    return m_settings.run && m_settings.run->invite.run == run && m_run.session() == nullptr &&
                           !m_stopping;
                },
                [this](const run::Invite& invite, const Bytes& file) { return open_session(invite, file); }}),
      m_watch(m_settings, m_options.data_folder),
      m_usage(m_options.data_folder),
      m_timer(loop),
      m_now(steady_now()) {}

Node::~Node() {
    *m_alive = false;
    m_timer.cancel();
    m_run.drop();
    m_finding.close();
    m_releases.close();
    m_network.reset();
}

Result<std::unique_ptr<Node>> Node::open(boost::asio::io_context& loop, NodeOptions options) {
    if (const Status made = make_data_folder(options.data_folder); !made) return made.error();
    auto lock = lock_of_node(loop, options.data_folder);
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
    return node;
}

Status Node::open_network() {
    net::SessionSettings settings;
    settings.data_folder = m_options.data_folder / "network";
    settings.port = m_options.port != 0 ? m_options.port : m_settings.port;
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
    auto network = net::Session::open(settings);
    if (!network && network.error().code == ErrorCode::already_exists && m_options.port == 0 && settings.port != 0) {
        log::of("node").warn("{} This start listens on another one.", network.error().message);
        settings.port = 0;
        network = net::Session::open(std::move(settings));
    }
    if (!network && network.error().code == ErrorCode::already_exists) {
        return Error{ErrorCode::unavailable, network.error().message};
    }
    if (!network) return network.error();
    m_network = std::move(*network);
    // Routers are told of one port, and so are friends: it stays when the program starts again. One that was taken at
    // this start is tried again at the next.
    const bool is_new = m_options.port != 0 || m_settings.port == 0;
    if (is_new && !m_settings.proxy.is_used()) {
        m_settings.port = m_network->port();
        static_cast<void>(save_settings());
    }
    m_releases.open(*m_network, m_settings.proxy);
    m_releases.pass_on(m_settings.passes_on);
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
    m_watch.load();
    m_usage.load(steady_now());
    m_watch.look(m_now, m_run.session());
    if (m_settings.run) m_search.begin(m_settings.run->invite);
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
    m_run.tick(m_now);
    leave_when_finished();
    if (adopt_name(m_settings, m_run.session())) {
        if (const Status saved = save_settings(); !saved) log::of("node").warn("{}", saved.error().message);
    }
    m_finding.tick({announced(m_run.session(), m_settings, m_ledger, m_keys), carried(m_run.session(), m_settings)},
                   m_now);
    m_search.tick();
    m_sleep.tick(m_now, m_run.session());
    if (m_settings.pause_over(unix_seconds())) {
        if (const Status ended = end_pause(); !ended) log::of("node").warn("{}", ended.error().message);
    }
    m_watch.look_if_due(m_now, m_run.session());
    if (m_settings.looks) m_releases.look(m_now, unix_seconds());
    if (m_usage.is_due(m_now)) count_usage();
    m_usage.save_if_due(m_now);
    m_changes.tick([this] { return own_snapshot(parts()); });
}

void Node::count_usage() {
    const net::SessionCounters counters = m_network->counters();
    UsageMeter::Used used{.bytes_up = counters.bytes_up, .bytes_down = counters.bytes_down, .training = {}};
    const TrainerProcess* trainer = m_run.trainer();
    if (const auto work = trainer != nullptr ? trainer->work() : std::nullopt) used.training = {work->watts};
    m_usage.count(m_now, unix_seconds(), used);
}

Status Node::join(const run::Invite& invite, run::Role role, control::OtherRun other_run,
                  const Announcing& announcing) {
    m_owner.check();
    if (m_run.session() != nullptr && m_run.session()->run() == invite.run) {
        m_run.session()->swarm().add_hints(invite.hints);
        return m_settings.run && m_settings.run->finishing ? resume() : Status();
    }
    if (m_settings.run && m_settings.run->invite.run != invite.run) {
        if (m_run.is_member() && other_run == control::OtherRun::keep) {
            return Error{ErrorCode::already_exists, "This node is in the run “" +
                                                        m_run.session()->peer().manifest().name +
                                                        "” already; leave it first, or use another data folder."};
        }
        if (const Status left = leave(); !left) return left;
    }
    m_settings.run = SavedRun{.invite = invite, .role = role, .announcing = announcing};
    m_search.begin_anew();
    if (Status saved = save_settings(); !saved) return saved;
    m_search.begin(invite);
    return {};
}

Status Node::open_session(const run::Invite& invite, const Bytes& manifest_file) {
    auto manifest = check_manifest(manifest_file);
    if (!manifest)
        return Error{manifest.error().code, manifest.error().message + m_releases.newer_protocol(manifest_file)};
    m_run.close();
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
    plan.trainer_program = m_releases.trainer();
    plan.trainer_errors = m_options.data_folder / "trainer.log";
    plan.threads = m_options.threads;
    plan.trainer_threads = m_options.trainer_threads;
    plan.budget = m_settings.budget;
    plan.shard_bytes_max = m_settings.shard_bytes_max();
    plan.heartbeat = m_options.heartbeat;
    auto session = RunSession::open({m_loop, *m_network, m_ledger, m_keys}, std::move(plan));
    if (!session) return session.error();
    m_now = steady_now();
    m_run.enter(std::move(*session), m_now);
    m_watch.begin(m_now, *m_run.session());
    if (m_settings.run->finishing) m_run.session()->peer().finish(m_now);
    return {};
}

Status Node::set_next_run(const control::SetNextRun& call) {
    m_owner.check();
    m_settings.helps_lists = call.helps_lists;
    return save_settings();
}

Status Node::leave() {
    m_owner.check();
    if (!m_settings.run) return not_in_a_run();
    log::of("node").info("leaving run {}", m_settings.run->invite.run.brief());
    m_search.cancel();
    m_run.retire(m_now);
    m_settings.run.reset();
    m_search.clear_error();
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
    m_watch.obey(m_now, m_run.session());
    return save_settings();
}

void Node::give_way(const control::Yield& call) {
    m_owner.check();
    m_watch.give_way(m_now, call, m_run.session());
}

Status Node::set_rules(const control::OwnerRules& described) {
    m_owner.check();
    auto rules = control::rules_of(described);
    if (!rules) return rules.error();
    m_settings.rules = *rules;
    m_watch.set_rules(*std::move(rules));
    return save_settings();
}

Status Node::set_resources(const control::Resources& wanted) {
    m_owner.check();
    m_settings.resources = wanted;
    m_network->set_rate_limits(wanted.upload, wanted.download);
    m_network->set_blob_bytes_max(m_settings.blob_bytes_max());
    if (RunSession* session = m_run.session()) session->peer().set_shard_bytes_max(m_settings.shard_bytes_max());
    m_watch.obey(m_now, m_run.session());
    return save_settings();
}

void Node::find_devices(const control::ReadDevices& call, DeviceSearch::Done done) {
    m_owner.check();
    using Freshness = DeviceSearch::Freshness;
    m_devices.find(m_releases.trainer(), call.again ? Freshness::found_now : Freshness::found_earlier,
                   [this, done = std::move(done)](const Result<control::DetectReply>& found) {
                       if (!found) return done(found);
                       done(device_rows(*found, devices_of(m_run.trainer())));
                   });
}

Status Node::set_device(const control::SetDevice& call) {
    m_owner.check();
    const auto device = parse_device_choice(call.device);
    if (!device) return device.error();
    m_settings.budget.device = *device;
    if (Status saved = save_settings(); !saved) return saved;
    log::of("node").info("{} is to train", device->empty() ? "what the trainer chooses" : *device);
    TrainerProcess* trainer = m_run.trainer();
    if (trainer == nullptr) return {};
    m_run.session()->use_budget(m_settings.budget);
    const bool trains_there = !device->empty() && is_choice(devices_of(trainer), *device);
    if (trains_there || m_watch.obeyed() == activity::Level::pause || m_settings.run->finishing) return {};
    trainer->reset_failures();
    m_run.session()->peer().restart_trainer();
    return {};
}

Status Node::set_proxy(const control::SetProxy& call) {
    m_owner.check();
    auto proxy = proxy_of(call, m_settings.proxy);
    if (!proxy) return proxy.error();
    if (*proxy == m_settings.proxy) return {};
    m_settings.proxy = *std::move(proxy);
    if (const Status saved = save_settings(); !saved) return saved;
    log::of("node").info(
        "{}", m_settings.proxy.is_used() ? "everything goes through a proxy from now on" : "no proxy is used any more");
    return reopen_network();
}

Status Node::set_port(const control::SetPort& call) {
    m_owner.check();
    if (call.port == m_settings.port) return {};
    if (!net::is_free_port(call.port)) {
        return Error{ErrorCode::already_exists,
                     "Another program uses port " + std::to_string(call.port) + ": choose another one."};
    }
    m_settings.port = call.port;
    m_options.port = 0;
    if (const Status saved = save_settings(); !saved) return saved;
    log::of("node").info("listens on port {} from now on", call.port);
    return reopen_network();
}

Status Node::reopen_network() {
    m_search.end_look();
    m_search.cancel();
    m_run.close();
    m_finding.close();
    m_releases.close();
    count_usage();
    static_cast<void>(m_network->stop(network_stop_limit));
    m_network.reset();
    if (const Status opened = open_network(); !opened) {
        // Nothing here does without a network; who has started this node starts it again.
        log::of("node").error("{}", opened.error().message);
        m_loop.stop();
        return opened;
    }
    m_now = steady_now();
    m_search.clear_error();
    if (m_settings.run) m_search.begin(m_settings.run->invite);
    return {};
}

/// Another trainer counts from its next start on, and may see more devices.
Status Node::set_releases(const control::SetReleases& call) {
    m_owner.check();
    m_settings.looks = call.looks;
    m_settings.passes_on = call.passes_on;
    m_releases.pass_on(call.passes_on);
    return save_settings();
}

Status Node::resume() {
    m_owner.check();
    m_watch.dismiss();
    return end_pause();
}

/// Ends a pause by hand, its time being over or not; what was noticed may still hold training up.
Status Node::end_pause() {
    log::of("node").info("resumed");
    m_settings.paused = false;
    m_settings.paused_until = 0;
    if (m_settings.run && std::exchange(m_settings.run->finishing, false)) m_run.close();
    m_watch.obey(m_now, m_run.session());
    if (RunSession* session = m_run.session()) {
        if (TrainerProcess* trainer = session->trainer()) trainer->reset_failures();
        if (m_watch.hold().level != activity::Level::pause) session->peer().resume(m_now);
    } else if (m_settings.run && !m_search.is_searching()) {
        m_search.clear_error();
        m_search.begin(m_settings.run->invite);
    }
    m_run.stay();
    return save_settings();
}

Status Node::finish(control::AfterFinish after) {
    m_owner.check();
    if (!m_settings.run || m_run.session() == nullptr) return not_in_a_run();
    m_settings.run->finishing = true;
    m_settings.run->after = after;
    m_run.session()->peer().finish(m_now);
    return save_settings();
}

void Node::leave_when_finished() {
    const bool leaves =
        m_settings.run && m_settings.run->finishing && m_settings.run->after == control::AfterFinish::leave;
    if (!leaves) return m_run.stay();
    if (!m_run.has_settled(m_now)) return;
    if (const Status left = leave(); !left) log::of("node").warn("{}", left.error().message);
}

Status Node::set_name(const std::string& name) {
    m_owner.check();
    m_settings.name = fit_name(name);
    if (RunSession* session = m_run.session()) session->peer().set_name(m_settings.name);
    return save_settings();
}

Status Node::set_team(const std::string& team) {
    m_owner.check();
    m_settings.team = fit_team(team);
    if (RunSession* session = m_run.session()) session->peer().set_team(m_settings.team);
    return save_settings();
}

Status Node::replace_identity(Result<identity::Identity> imported) {
    m_owner.check();
    if (m_settings.run) {
        return Error{ErrorCode::invalid_argument, "Leave the run before you import another identity."};
    }
    if (!imported) return imported.error();
    m_run.close();
    if (Status replaced = node::replace_identity(m_options.data_folder, *imported); !replaced) return replaced;
    auto keys = OwnKeys::open(m_options.data_folder);
    if (!keys) return keys.error();
    m_keys = std::move(*keys);
    m_settings.forget_person();
    return save_settings();
}

bool Node::is_open(const RunId& run) const {
    m_owner.check();
    if (m_settings.run && m_settings.run->invite.run == run) return true;
    const auto is_of_run = [&](const RunSession* session) { return session != nullptr && session->run() == run; };
    return is_of_run(m_run.session()) || is_of_run(m_run.retiring());
}

std::uint64_t Node::blob_bytes_of(const RunId& run) const {
    m_owner.check();
    return m_network->blob_bytes_of(run);
}

Status Node::forget_run(const RunId& run) {
    m_owner.check();
    if (m_run.retiring() != nullptr && m_run.retiring()->run() == run)
        return Error{ErrorCode::unavailable, "This run is still being left; try again in a few seconds."};
    if (is_open(run))
        return Error{ErrorCode::invalid_argument, "This node is in that run; leave it before you delete its files."};
    return m_network->forget_run(run);
}

Status Node::save_settings() { return m_settings.save(m_options.data_folder); }

NodeParts Node::parts() const {
    return {m_options, m_keys, m_settings, m_ledger, *m_network,   m_releases,
            m_search,  m_run,  m_watch,    m_usage,  m_preparation};
}

control::NodeSnapshot Node::snapshot() const {
    m_owner.check();
    return whole_snapshot(parts());
}

void Node::show_preparation(std::optional<control::Preparation> preparation) {
    m_owner.check();
    m_preparation = std::move(preparation);
}

void Node::on_change(std::function<void()> listener) { m_changes.on_change(std::move(listener)); }

void Node::stop(std::function<void()> done) {
    m_owner.check();
    if (m_stopping) return;
    log::of("node").info("stopping");
    m_stopping = true;
    m_search.end_look();
    m_stopped = std::move(done);
    m_timer.cancel();
    m_run.stop(m_now);
    continue_stop();
}

void Node::continue_stop() {
    m_now = steady_now();
    m_network->poll(m_now);
    if (!m_run.tick_stopping(m_now)) {
        m_timer.expires_after(tick_every);
        m_timer.async_wait([this, alive = m_alive](const auto& cancelled) {
            if (!cancelled && *alive) continue_stop();
        });
        return;
    }
    m_run.drop();
    m_finding.close();
    m_releases.close();
    m_watch.save_closed();
    count_usage();
    m_usage.save(m_now);
    static_cast<void>(m_network->stop(network_stop_limit));
    if (m_stopped) boost::asio::post(m_loop, std::exchange(m_stopped, nullptr));
}

}  // namespace potluck::node
