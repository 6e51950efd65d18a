// A run's torrent is its manifest, which every member seeds; its connections carry the channel. libtorrent's own search
// does not introduce seeds to each other, so the DHT is asked here: every 5 s while alone, every 5 minutes in company.
// The local network hears of this member as often; libtorrent alone would tell it when the torrent is added, which is
// before others have it, and every five minutes.
//
// A fetch is given sources directly, because a blob of one round is over before any tracker or DHT would know who has
// it: those that were named, then neighbours (of a small blob or one without a deadline only where those do not send
// it), each blob beginning at another one so that a whole swarm does not ask the same member first. A neighbour that
// cannot connect to this computer has nothing of what it publishes until this one connects to it:
// connect_to_consumers() does so several times per blob, since it cannot know when it is heard of.
//
// Threads: the node's.
#include "net/swarm.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <random>
#include <utility>

#include <libtorrent/peer_info.hpp>
#include <libtorrent/torrent_flags.hpp>

#include "core/base/check.h"
#include "core/base/log.h"

namespace potluck::net {

namespace {

constexpr Duration discovery_interval{200};
/// Neighbours asked for a blob besides the sources that were named. A small one is there before more would help.
constexpr std::size_t others_for_small = 6;
constexpr std::size_t others_for_large = 40;
constexpr std::uint64_t small_blob_bytes = 1 << 20;
/// Who is asked for a block when all the others are on their way sends one that comes twice, and hundreds of
/// connections lose packets on a line that a few would fill. So where a source is named of what is small or has no
/// deadline, others are asked only if it has not sent the blob by then; what has no deadline waits for as long as some
/// of it comes.
constexpr Duration ask_others_after{2'000};
/// What is small and all want at once, as a step is: a source with a good line has sent it by then, and who has it can
/// send it to those whose source has not.
constexpr Duration ask_few_after{700};
constexpr std::size_t others_for_what_all_want = 3;
constexpr Duration silence_max{10'000};
constexpr std::size_t asked_later_max = 256;
constexpr Duration ask_alone{5'000};
constexpr Duration ask_together{300'000};
constexpr Duration connect_after{200};
constexpr Duration connect_again{600};
constexpr int consumer_connections_max = 8;
constexpr std::size_t offered_max = 256;
/// libtorrent waits a second more after each failure of an address, and drops it at max_failcount; it takes one
/// failure back each time that a tracker names the address. A dial that stands for so many namings undoes what failed
/// since the last one, so that redial.h alone decides when an address is tried again.
constexpr int forgiven_when_ordinary = 1, forgiven_when_urgent = 4;

/// Nobody else's, so that others can neither know whom this member seeks nor when it dials.
std::uint64_t secret_number() {
    std::random_device device;
    return std::uint64_t{device()} << 32U | device();
}

}  // namespace

LiveSwarm::LiveSwarm(const SwarmOptions& options, Parts parts, const identity::Identity& identity,
                     peer::SwarmEvents& events)
    : m_run(options.run),
      m_parts(std::move(parts)),
      m_events(events),
      m_hub(std::make_shared<Hub>(m_parts.engine.io(), m_parts.wake)),
      m_neighbours(options.run, identity, m_hub, events, options.handshake_patience, options.local_sessions_max),
      m_rendezvous(identity.id(), secret_number()),
      m_now(steady_now()) {}

Result<std::unique_ptr<LiveSwarm>> LiveSwarm::open(SwarmOptions options, lt::add_torrent_params manifest, Parts parts,
                                                   const identity::Identity& identity, peer::SwarmEvents& events) {
    std::unique_ptr<LiveSwarm> swarm(new LiveSwarm(options, std::move(parts), identity, events));
    LiveSwarm* raw = swarm.get();
    swarm->m_discovery =
        std::make_unique<Discovery>(raw->m_parts.engine, raw->m_parts.peers_file, secret_number(),
                                    [raw](const Endpoint& at, Discovery::Urgency urgency) { raw->dial(at, urgency); });
    swarm->m_discovery->add_hints(options.hints);
    swarm->m_neighbours.on_address = [raw](const PeerId& peer, const Endpoint& at, const Endpoint& listening) {
        raw->m_rendezvous.met(peer);
        std::vector<Endpoint> addresses{at};
        if (listening.port() != 0 && listening != at) addresses.push_back(listening);
        raw->m_discovery->met(peer, addresses);
        raw->m_parts.blobs.offer_source(raw->m_run, at);
    };
    swarm->m_neighbours.on_question = [raw](const PeerId& asker, const PeerId& wanted) {
        const bool told =
            raw->m_rendezvous.may_introduce(asker, raw->m_now) && raw->m_neighbours.introduce(asker, wanted);
        log::of("net").debug("{} asks where {} is: {}", asker.brief(), wanted.brief(),
                             told ? "both are told" : "no answer");
    };
    swarm->m_neighbours.on_introduction = [raw](const Introduction& told) {
        const bool tries = raw->m_rendezvous.introduced(told.peer, told.at, raw->m_now);
        log::of("net").debug("{} is seen at {}:{}{}", told.peer.brief(), told.at.address().to_string(), told.at.port(),
                             tries ? "" : ", and not sought");
    };
    swarm->m_neighbours.on_board = std::move(options.on_board);
    if (options.connections_max > 0) manifest.max_connections = static_cast<int>(options.connections_max);
    const std::set<Endpoint>& hints = swarm->m_discovery->hints();
    manifest.peers.insert(manifest.peers.end(), hints.begin(), hints.end());
    // Peer exchange would tell everybody of everybody, and libtorrent dials whom it knows; introductions lead to as
    // many sessions as are wanted.
    manifest.flags |= lt::torrent_flags::disable_pex;
    manifest.extensions.push_back(swarm->m_hub->plugin());
    Result<lt::torrent_handle> torrent = raw->m_parts.engine.add(std::move(manifest), Engine::Start::when_checked);
    if (!torrent.ok()) return torrent.error();
    swarm->m_torrent = std::move(*torrent);
    raw->m_parts.blobs.restore(options.run);
    return swarm;
}

LiveSwarm::~LiveSwarm() {
    m_hub->retire();
    // A torrent that is removed may be invalid at once.
    const bool was_open = m_torrent.is_valid();
    m_parts.engine.remove(m_torrent, Engine::Files::keep);
    if (was_open) m_parts.blobs.suspend(m_run);
    m_parts.closed(m_run);
}

void LiveSwarm::poll(TimePoint now) {
    m_owner.check();
    m_now = now;
    m_neighbours.poll(now);
    if (now - m_looked < discovery_interval) return;
    m_looked = now;
    const bool is_enough = m_neighbours.members().size() >= sessions_wanted;
    m_discovery->tick(now, is_enough ? Redial::Whom::deciders : Redial::Whom::everybody,
                      [this](const Endpoint& endpoint) { return m_neighbours.is_connected(endpoint); });
    connect_to_consumers(now);
    ask_others(now);
    meet(now);
    m_discovery->add_found(m_hub->take_heard());
    if (now - m_asked >= (m_neighbours.members().empty() ? ask_alone : ask_together)) {
        m_asked = now;
        m_parts.engine.find_peers(Digest{m_run.bytes});
        m_torrent.force_lsd_announce();
        // libtorrent announces a torrent when it is added, when the DHT may know no node yet, and then every quarter of
        // an hour: while it is alone, others have to find this computer sooner.
        if (m_neighbours.members().empty()) m_torrent.force_dht_announce();
    }
}

void LiveSwarm::found(const PeersFound& peers) {
    m_owner.check();
    if (!std::equal(peers.key.begin(), peers.key.end(), m_run.bytes.begin())) return;
    m_discovery->add_found(peers.peers);
}

void LiveSwarm::seek(const std::vector<PeerId>& members) {
    m_owner.check();
    m_rendezvous.seek(members, m_deciders, m_now);
}

void LiveSwarm::set_deciders(const peer::Deciders& deciders) {
    m_owner.check();
    m_deciders = {deciders.members.begin(), deciders.members.end()};
    m_neighbours.set_deciders(m_deciders);
    std::vector<PeerId> missed;
    if (deciders.quorum == peer::Deciders::Quorum::missing) {
        const std::vector<PeerId> here = m_neighbours.members();
        std::ranges::copy_if(deciders.members, std::back_inserter(missed),
                             [&](const PeerId& one) { return std::ranges::find(here, one) == here.end(); });
    }
    m_discovery->need(m_deciders, missed, m_now);
}

void LiveSwarm::dial(const Endpoint& at, Discovery::Urgency urgency) {
    const int namings = urgency == Discovery::Urgency::urgent ? forgiven_when_urgent : forgiven_when_ordinary;
    for (int naming = 0; naming < namings; ++naming)
        m_torrent.connect_peer(at, lt::peer_info::tracker, lt::pex_lt_v2 | lt::pex_utp);
}

/// Members that are known through others only.
void LiveSwarm::meet(TimePoint now) {
    m_parts.engine.close_ways(now);
    for (const Rendezvous::Question& question : m_rendezvous.questions(m_neighbours.members(), now)) {
        m_neighbours.ask(question.introducer, question.wanted);
    }
    for (const Rendezvous::Action& action : m_rendezvous.due(now)) {
        if (action.dials) {
            m_torrent.connect_peer(action.to, {}, lt::pex_lt_v2 | lt::pex_utp);
        } else {
            m_parts.engine.open_way(action.to, now);
        }
    }
}

/// A router that opens no port may keep others from dialling this computer over TCP; it takes its blobs to them then.
void LiveSwarm::connect_to_consumers(TimePoint now) {
    std::vector<Endpoint> everybody;
    for (const PeerId& member : m_neighbours.members()) {
        if (m_neighbours.can_dial_us(member)) continue;
        if (const std::optional<Endpoint> endpoint = m_neighbours.endpoint(member)) everybody.push_back(*endpoint);
    }
    for (Offered& offered : m_offered) {
        if (now < offered.at) continue;
        m_parts.blobs.connect_to_consumers(offered.root, everybody);
        offered.at = now + connect_again;
        ++offered.times;
    }
    std::erase_if(m_offered, [](const Offered& offered) { return offered.times >= consumer_connections_max; });
}

void LiveSwarm::send(const PeerId& to, const run::Envelope& envelope) {
    m_owner.check();
    static_cast<void>(m_neighbours.send(to, envelope));
}

void LiveSwarm::broadcast(const run::Envelope& envelope) {
    m_owner.check();
    m_neighbours.broadcast(envelope);
}

Result<run::BlobRef> LiveSwarm::publish(ByteSpan content, run::Retention retention) {
    m_owner.check();
    Result<run::BlobRef> ref = m_parts.blobs.publish(m_run, content, retention);
    // What is short travels in its message.
    if (ref.ok() && ref->size > run::payload_in_message_max && m_offered.size() < offered_max)
        m_offered.push_back({.root = ref->root, .at = m_now + connect_after});
    return ref;
}

void LiveSwarm::publish_file(const std::filesystem::path& file, const std::string& name, run::BlobKind kind) {
    m_owner.check();
    m_parts.blobs.publish_file(m_run, file, name, kind);
}

std::vector<Endpoint> LiveSwarm::endpoints_of(const std::vector<PeerId>& members) const {
    std::vector<Endpoint> endpoints;
    for (const PeerId& member : members) {
        const std::optional<Endpoint> endpoint = m_neighbours.endpoint(member);
        if (endpoint && std::find(endpoints.begin(), endpoints.end(), *endpoint) == endpoints.end())
            endpoints.push_back(*endpoint);
    }
    return endpoints;
}

/// Neighbours, each blob beginning at a different one.
std::vector<Endpoint> LiveSwarm::others_for(const run::BlobRef& blob, std::size_t most) const {
    std::vector<PeerId> others = m_neighbours.members();
    if (others.empty()) return {};
    const std::size_t first = std::hash<BlobId>()(blob.root) % others.size();
    std::rotate(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(first), others.end());
    std::vector<Endpoint> endpoints = endpoints_of(others);
    endpoints.resize(std::min(endpoints.size(), most));
    return endpoints;
}

void LiveSwarm::fetch(const run::BlobRef& blob, peer::FetchOptions options) {
    m_owner.check();
    std::vector<Endpoint> sources = endpoints_of(options.sources);
    const bool small = blob.size <= small_blob_bytes, unhurried = options.deadline == TimePoint{};
    const bool all_want_it = options.all_neighbours;
    const bool is_named = options.named_only && !sources.empty();
    const bool waits = !sources.empty() && (small || (unhurried && !all_want_it));
    if (waits && !is_named && m_asked_later.size() < asked_later_max) {
        AskedLater later{blob, m_now + ask_others_after, unhurried, others_for_small};
        if (all_want_it) later = {blob, m_now + ask_few_after, false, others_for_what_all_want};
        m_asked_later.push_back(later);
    } else if (!is_named) {
        for (const Endpoint& other : others_for(blob, small ? others_for_small : others_for_large)) {
            if (std::find(sources.begin(), sources.end(), other) == sources.end()) sources.push_back(other);
        }
    }
    m_parts.blobs.fetch(m_run, blob, std::move(options), std::move(sources));
}

void LiveSwarm::ask_others(TimePoint now) {
    for (AskedLater& waits : m_asked_later) {
        const Blobs::Reception before = std::exchange(waits.reception, m_parts.blobs.reception(waits.blob.root));
        const bool connected = waits.reception.connections > 0, was_connected = before.connections > 0;
        const bool moves = waits.reception.progress > before.progress;
        if (waits.unhurried && (moves || connected != was_connected))
            waits.at = now + (connected ? silence_max : ask_others_after);
    }
    std::erase_if(m_asked_later, [&](const AskedLater& waits) {
        if (now < waits.at) return false;
        m_parts.blobs.offer_sources(waits.blob.root, others_for(waits.blob, waits.most));
        return true;
    });
}

void LiveSwarm::retain(const BlobId& blob, run::Retention retention) {
    m_owner.check();
    m_parts.blobs.retain(blob, retention);
}

std::uint64_t LiveSwarm::room() const {
    m_owner.check();
    return m_parts.blobs.room();
}

void LiveSwarm::forget(const BlobId& blob) {
    m_owner.check();
    std::erase_if(m_offered, [&](const Offered& offered) { return offered.root == blob; });
    std::erase_if(m_asked_later, [&](const AskedLater& waits) { return waits.blob.root == blob; });
    m_parts.blobs.forget(m_run, blob);
}

peer::BlobPointer LiveSwarm::blob(const BlobId& blob) const {
    m_owner.check();
    return m_parts.blobs.content(blob);
}
double LiveSwarm::progress(const BlobId& blob) const {
    m_owner.check();
    return m_parts.blobs.reception(blob).progress;
}
void LiveSwarm::drop(const PeerId& peer, Duration duration) {
    m_owner.check();
    m_neighbours.drop(peer, m_now, duration);
}
std::size_t LiveSwarm::unsent(const PeerId& to) const {
    m_owner.check();
    return m_neighbours.unsent(to);
}
std::vector<PeerId> LiveSwarm::neighbours() const {
    m_owner.check();
    return m_neighbours.members();
}
std::uint16_t LiveSwarm::port() const {
    m_owner.check();
    return m_parts.engine.port();
}
void LiveSwarm::add_hints(const std::vector<run::PeerHint>& hints) {
    m_owner.check();
    m_discovery->add_hints(hints);
}
std::vector<run::BlobRef> LiveSwarm::held() const {
    m_owner.check();
    return m_parts.blobs.held(m_run);
}

void LiveSwarm::tell(const PeerId& to, ByteSpan message) {
    m_owner.check();
    m_neighbours.tell(to, message);
}

void LiveSwarm::measure(const std::map<Endpoint, Carried>& blobs, Duration elapsed) {
    m_owner.check();
    const double seconds = std::max(1e-3, std::chrono::duration<double>(elapsed).count());
    const auto rate = [&](std::uint64_t bytes) {
        return static_cast<std::uint64_t>(static_cast<double>(bytes) / seconds);
    };
    m_flows.clear();
    for (const auto& [peer, carried] : m_neighbours.carried(blobs))
        m_flows.push_back({peer, rate(carried.sent), rate(carried.received), m_neighbours.address(peer)});
}

std::vector<MemberFlow> LiveSwarm::flows() const {
    m_owner.check();
    return m_flows;
}

SwarmCounters LiveSwarm::counters() const {
    m_owner.check();
    SwarmCounters counters = m_neighbours.counters();
    counters.blobs_fetching = m_parts.blobs.fetching();
    counters.blobs_seeding = m_parts.blobs.seeding();
    counters.blob_bytes_stored = m_parts.blobs.bytes_stored();
    counters.blob_bytes_needed = m_parts.blobs.bytes_needed();
    counters.blob_bytes_down = m_parts.blobs.bytes_down();
    return counters;
}

}  // namespace potluck::net
