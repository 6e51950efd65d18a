// One poll: libtorrent's events, the worker's results, searches for manifests, swarms, blobs, then delivery. Blobs
// queues what it has to report for a run instead of calling, and deliver() swaps the queue out first: what a callback
// causes is delivered by the next poll, so nobody is called from inside a call of their own.
//
// An event belongs to the first that knows it: addresses of this computer here, then manifests, then blobs. The
// invite's hints are what libtorrent learned: listening addresses, the address seen from outside, a mapped port.
//
// stop() spends at most a third of its time on resume data, then ends the worker and leaves the rest to libtorrent.
// What was not saved in time is found again by hashing at the next start.
#include "net/session.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include <libtorrent/hex.hpp>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/mailbox.h"
#include "core/base/text.h"
#include "core/base/worker.h"
#include "net/addresses/own_addresses.h"
#include "net/blobs.h"
#include "net/engine.h"
#include "net/manifests.h"
#include "net/public_files.h"
#include "net/swarm.h"

namespace potluck::net {

namespace {

namespace fs = std::filesystem;

constexpr Duration progress_interval{250};
constexpr Duration statistics_interval{1'000};
constexpr Duration flow_interval{5'000};
constexpr Duration listen_interval{5'000};
/// A network that stops what begins like BitTorrent lets through what begins encrypted: who has no session tries both.
constexpr Duration dials_alike_for{60'000};

Status make_folder(const fs::path& folder) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    const fs::path probe = folder / ".writable";
    if (!failure) {
        if (Status written = write_file_atomically(probe, as_bytes("ok")); !written.ok()) return written;
        fs::remove(probe, failure);
        return {};
    }
    return Error{ErrorCode::permission, "The data folder " + folder.string() + " cannot be made (" + failure.message() +
                                            "): choose another one."};
}

}  // namespace

struct Session::Impl {
    Impl(SessionSettings given, std::unique_ptr<Engine> opened)
        : settings(std::move(given)),
          engine(std::move(opened)),
          worker([this](std::function<void()> done) {
              POTLUCK_CHECK(finished.post(std::move(done)));
              if (settings.wake) settings.wake();
          }),
          blobs(*engine, worker, settings.data_folder / "blobs", settings.blob_bytes_max,
                [this](const RunId& run, Blobs::Call call) { queued.emplace_back(run, std::move(call)); }),
          files(blobs),
          proxy(std::make_unique<ProxyProbe>(engine->io(), settings.proxy)),
          manifests(*engine, settings.data_folder / "manifests"),
          begun(steady_now()),
          now(begun),
          measured(begun),
          dials_chosen(begun) {}

    void take_events();
    [[nodiscard]] bool learn_address(const Event& event);
    [[nodiscard]] std::vector<run::PeerHint> own_hints(HintScope scope) const;
    void deliver();
    void measure();
    void listen();
    void choose_dials();
    [[nodiscard]] LiveSwarm* find(const RunId& run) const {
        const auto found =
            std::find_if(swarms.begin(), swarms.end(), [&](const LiveSwarm* swarm) { return swarm->run() == run; });
        return found == swarms.end() ? nullptr : *found;
    }

    SessionSettings settings;
    std::unique_ptr<Engine> engine;
    std::vector<std::pair<RunId, Blobs::Call>> queued;          // for the runs' SwarmEvents, oldest first
    Mailbox<std::function<void()>> finished{Worker::jobs_max};  // of the worker's jobs, until the next poll
    Worker worker;
    Blobs blobs;
    PublicFiles files;
    std::unique_ptr<ProxyProbe> proxy;  // null once stopped
    Manifests manifests;
    std::vector<LiveSwarm*> swarms;
    SessionCounters counters;
    OwnAddresses own;
    TimePoint begun;
    TimePoint now;
    TimePoint asked_progress;
    TimePoint asked_statistics;
    TimePoint measured;  // when what others get and bring was
    TimePoint listened;  // when interfaces were looked for, while there is none
    TimePoint dials_chosen;
    bool encrypts_dials = false;
    bool stopped = false;
};

Result<std::unique_ptr<Session>> Session::open(SessionSettings settings) {
    for (const char* folder : {"", "blobs", "manifests", "peers"}) {
        if (Status made = make_folder(settings.data_folder / folder); !made.ok()) return made.error();
    }
    std::error_code failure;
    settings.data_folder = fs::absolute(settings.data_folder, failure);
    Result<std::unique_ptr<Engine>> engine = Engine::open(settings);
    if (!engine.ok()) return engine.error();
    return std::unique_ptr<Session>(new Session(std::make_unique<Impl>(std::move(settings), std::move(*engine))));
}

Session::Session(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}

Session::~Session() {
    if (!m_impl->stopped) static_cast<void>(stop(Duration(2'000)));
}

void Session::Impl::take_events() {
    for (const Event& event : engine->take_events()) {
        if (const auto* statistics = std::get_if<Statistics>(&event)) {
            counters.bytes_up = statistics->bytes_up;
            counters.bytes_down = statistics->bytes_down;
            counters.dht_nodes = statistics->dht_nodes;
            counters.connections = statistics->connections;
            counters.handshakes = statistics->handshakes;
            counters.reached = statistics->reached;
        } else if (const auto* peers = std::get_if<PeersFound>(&event)) {
            for (LiveSwarm* swarm : swarms) swarm->found(*peers);
        } else if (std::holds_alternative<AlertsLost>(event)) {
            ++counters.alerts_lost;
            log::of("net").error("libtorrent dropped alerts: the node's thread was busy for too long");
        } else if (!learn_address(event) && !manifests.handle(event)) {
            blobs.handle(event);
        }
    }
}

bool Session::Impl::learn_address(const Event& event) {
    if (const auto* listening = std::get_if<Listening>(&event)) {
        own.add_interface(listening->address);
    } else if (const auto* outside = std::get_if<SeenFromOutside>(&event)) {
        own.set_external(outside->address);
        counters.on_internet = counters.on_internet || is_public(outside->address);
    } else if (const auto* mapped = std::get_if<PortMapped>(&event)) {
        own.mapped_port = mapped->port;
        counters.mapped_port = mapped->port;
        counters.mapped_by = mapped->by;
    } else {
        return false;
    }
    return true;
}

std::vector<run::PeerHint> Session::Impl::own_hints(HintScope scope) const {
    if (settings.proxy.is_used()) return settings.addresses;  // the others would be a way around it
    if (settings.reach == NetworkScope::loopback) return {{.host = "127.0.0.1", .port = engine->port()}};
    OwnAddresses all = own;
    all.port = engine->port();
    all.told = settings.addresses;
    return hints_of(all, scope);
}

/// Calls that were made while others are delivered come next time, so that nobody is called from inside a call.
void Session::Impl::deliver() {
    for (const auto& [run, call] : std::exchange(queued, {})) {
        if (run == PublicFiles::run()) {
            call(files);
        } else if (LiveSwarm* swarm = find(run)) {
            call(swarm->events());
        }
    }
    if (!queued.empty() && settings.wake) settings.wake();
}

/// A run's exchange comes in bursts, and the looks of windows at any time: the mean of a few seconds shows both.
void Session::Impl::measure() {
    const Duration elapsed = now - measured;
    if (elapsed < flow_interval) return;
    measured = now;
    const std::map<Endpoint, Carried> carried = engine->flows();
    for (LiveSwarm* swarm : swarms) swarm->measure(carried, elapsed);
}

/// libtorrent looks again when an address comes. An interface that has one, but no cable or radio link yet when this
/// program starts, would never be listened on.
void Session::Impl::listen() {
    const auto is_loopback = [](const lt::address& each) { return each.is_loopback(); };
    const bool alone = settings.reach == NetworkScope::internet && !settings.proxy.is_used() &&
                       std::all_of(own.interfaces.begin(), own.interfaces.end(), is_loopback);
    if (!alone || now - std::max(listened, begun) < listen_interval) return;
    listened = now;
    engine->listen_again();
}

/// What was in use when the first session began stays in use while there is one.
void Session::Impl::choose_dials() {
    const bool in_company =
        std::any_of(swarms.begin(), swarms.end(), [](const LiveSwarm* swarm) { return !swarm->neighbours().empty(); });
    if (in_company) dials_chosen = now;
    if (now - dials_chosen < dials_alike_for) return;
    dials_chosen = now;
    encrypts_dials = !encrypts_dials;
    engine->encrypt_dials(encrypts_dials);
}

void Session::poll(TimePoint now) {
    m_owner.check();
    Impl& impl = *m_impl;
    if (impl.stopped) return;
    impl.now = now;
    impl.take_events();
    for (const std::function<void()>& done : impl.finished.take_all()) done();
    impl.proxy->tick(now);
    impl.manifests.poll(now);
    for (LiveSwarm* swarm : std::vector<LiveSwarm*>(impl.swarms)) swarm->poll(now);
    impl.blobs.tick(now);
    impl.deliver();
    impl.measure();
    impl.listen();
    if (now - impl.asked_progress >= progress_interval) {
        impl.asked_progress = now;
        impl.engine->ask_for_progress();
    }
    if (now - impl.asked_statistics >= statistics_interval) {
        impl.asked_statistics = now;
        impl.engine->ask_for_statistics();
        impl.choose_dials();
        if (impl.counters.dht_nodes < impl.settings.dht_nodes.size())
            impl.engine->add_dht_nodes(impl.settings.dht_nodes);
    }
}

Result<RunId> Session::publish_manifest(ByteSpan file) {
    m_owner.check();
    return m_impl->manifests.publish(file);
}

void Session::fetch_manifest(const run::Invite& invite, Duration patience, ManifestDone done) {
    m_owner.check();
    m_impl->manifests.fetch(invite, patience, std::move(done), m_impl->now);
    if (m_impl->settings.wake) m_impl->settings.wake();
}

std::optional<ManifestSearch> Session::manifest_search(const RunId& run) const {
    m_owner.check();
    return m_impl->manifests.search(run, m_impl->counters.dht_nodes);
}

void Session::cancel_manifest(const RunId& run) {
    m_owner.check();
    m_impl->manifests.cancel(run);
}

Result<std::unique_ptr<RunSwarm>> Session::open_swarm(SwarmOptions options, const identity::Identity& identity,
                                                      peer::SwarmEvents& events) {
    m_owner.check();
    Impl& impl = *m_impl;
    if (impl.find(options.run) != nullptr) return Error{ErrorCode::already_exists, "This run is open already."};
    Result<lt::add_torrent_params> manifest = impl.manifests.seed_params(options.run);
    if (!manifest.ok()) return manifest.error();
    impl.manifests.cancel(options.run);
    LiveSwarm::Parts parts{.engine = *impl.engine,
                           .blobs = impl.blobs,
                           .wake = impl.settings.wake,
                           .closed =
                               [&impl](const RunId& run) {
                                   std::erase_if(impl.swarms,
                                                 [&](const LiveSwarm* each) { return each->run() == run; });
                               },
                           .peers_file = impl.settings.data_folder / "peers" / options.run.hex()};
    Result<std::unique_ptr<LiveSwarm>> swarm =
        LiveSwarm::open(std::move(options), std::move(*manifest), std::move(parts), identity, events);
    if (!swarm.ok()) return swarm.error();
    impl.swarms.push_back(swarm->get());
    return std::unique_ptr<RunSwarm>(std::move(*swarm));
}

std::uint64_t Session::blob_bytes_of(const RunId& run) const {
    m_owner.check();
    return m_impl->blobs.bytes_left_by(run);
}

Status Session::forget_run(const RunId& run) {
    m_owner.check();
    if (m_impl->find(run) != nullptr) return Error{ErrorCode::invalid_argument, "The files of an open run are in use."};
    m_impl->blobs.forget_run(run);
    return {};
}

run::Invite Session::invite(const RunId& run, const std::string& name) const {
    m_owner.check();
    return {.run = run, .name = name.substr(0, 80), .hints = m_impl->own_hints(HintScope::local_network)};
}

std::string Session::magnet(const run::BlobRef& blob, const std::string& name) const {
    m_owner.check();
    POTLUCK_CHECK(blob.kind == run::BlobKind::open);
    std::string link = "magnet:?";
    if (const Sha1 v1 = m_impl->blobs.v1_hash(blob.root); v1 != Sha1{}) link += "xt=urn:btih:" + to_hex(v1) + "&";
    link += "xt=urn:btmh:1220" + blob.info_hash.hex();
    if (!name.empty()) link += "&dn=" + percent_encoded(name);
    for (const run::PeerHint& hint : m_impl->own_hints(HintScope::internet)) link += "&x.pe=" + text_of(hint);
    return link;
}

void Session::fetch_file(PublicFile file, FileDone done) {
    m_owner.check();
    m_impl->files.fetch(std::move(file), std::move(done));
    if (m_impl->settings.wake) m_impl->settings.wake();
}

double Session::file_progress(const BlobId& root) const {
    m_owner.check();
    return m_impl->files.progress(root);
}

void Session::share_files() {
    m_owner.check();
    m_impl->files.share();
}

void Session::forget_file(const BlobId& root) {
    m_owner.check();
    m_impl->files.forget(root);
}

void Session::set_blob_bytes_max(std::uint64_t bytes) {
    m_owner.check();
    m_impl->blobs.set_bytes_max(bytes);
}

void Session::set_rate_limits(std::uint64_t upload_bytes_per_second, std::uint64_t download_bytes_per_second) {
    m_owner.check();
    m_impl->engine->set_rate_limits(upload_bytes_per_second, download_bytes_per_second);
}

std::uint16_t Session::port() const {
    m_owner.check();
    return m_impl->engine->port();
}

SessionCounters Session::counters() const {
    m_owner.check();
    SessionCounters counters = m_impl->counters;
    counters.port = port();
    if (m_impl->proxy) counters.proxy = m_impl->proxy->answer();
    counters.open_for = m_impl->now - m_impl->begun;
    counters.torrents = m_impl->blobs.fetching() + m_impl->blobs.seeding() + m_impl->swarms.size();
    return counters;
}

bool Session::stop(Duration limit) {
    m_owner.check();
    Impl& impl = *m_impl;
    if (impl.stopped) return true;
    POTLUCK_CHECK(impl.swarms.empty());
    const TimePoint begun = steady_now();
    impl.stopped = true;
    impl.proxy.reset();
    impl.blobs.save_all();
    while (!impl.blobs.all_saved() && steady_now() - begun < limit / 3) {
        impl.engine->wait_for_events(Duration(20));
        impl.take_events();
    }
    impl.worker.stop();
    const Duration left = limit - (steady_now() - begun);
    return impl.engine->stop(std::max(left, Duration(100)));
}

}  // namespace potluck::net
