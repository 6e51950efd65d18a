#include "tests/sim/network.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/check.h"
#include "core/base/merkle.h"
#include "core/base/sha256.h"

namespace potluck::sim {

namespace {

/// Run, sender, kind, length and signature, beside the body (docs/wire-format.md).
constexpr std::size_t envelope_bytes = 32 + 32 + 1 + 4 + 64;
constexpr std::size_t question_bytes = 64;  // for a payload

}  // namespace

void Network::link(const PeerId& a, const PeerId& b, LinkSpeed speed) {
    m_links[a][b] = m_links[b][a] = Link{speed, {}, {}};
}

void Network::limit_uplink(const PeerId& from, double bytes_per_ms) {
    for (auto& [to, link] : m_links.at(from)) link.speed.bytes_per_ms = bytes_per_ms;
}

void Network::unlink(const PeerId& a, const PeerId& b) {
    m_links.at(a).erase(b);
    m_links.at(b).erase(a);
    session_changed(a, b, false);
}

std::vector<PeerId> Network::sessions_of(const PeerId& id) const {
    std::vector<PeerId> peers;
    if (m_links.empty()) {
        for (const auto& [peer, port] : m_ports) {
            if (peer != id) peers.push_back(peer);
        }
    } else if (const auto found = m_links.find(id); found != m_links.end()) {
        for (const auto& [peer, link] : found->second) {
            if (port(peer) != nullptr) peers.push_back(peer);
        }
    }
    return peers;
}

Duration Network::carry(const PeerId& from, const PeerId& to, std::size_t bytes) {
    Link& link = m_links.at(from).at(to);
    const TimePoint now = m_events.now();
    if (link.speed.bytes_per_ms > 0) {
        const double time = static_cast<double>(bytes) / link.speed.bytes_per_ms;
        link.free_at = std::max(link.free_at, now) + Duration{static_cast<int>(time)};
    }
    link.arrived_at = std::max(link.arrived_at, std::max(link.free_at, now) + link.speed.latency);
    return link.arrived_at - now;
}

void Network::deliver(const PeerId& from, const PeerId& to, const run::Envelope& sent) {
    const std::optional<run::Envelope> rewritten = rewrites ? rewrites(from, to, sent) : std::nullopt;
    if (rewrites && !rewritten) return;
    const run::Envelope& envelope = rewritten ? *rewritten : sent;
    if (on_send) on_send(from, to, envelope);
    Traffic& traffic = m_traffic[static_cast<std::size_t>(envelope.kind)];
    ++traffic.messages;
    traffic.bytes += envelope.body.size() + envelope.payload.size() + envelope_bytes;
    if (loses && loses(envelope)) return;
    if (m_rng.unit() < m_quality.loss || !reachable(from, to) || !may_have_session(from, to)) return;
    const Duration time = m_links.empty()
                              ? between(m_quality.delay_min, m_quality.delay_max)
                              : carry(from, to, envelope.body.size() + envelope.payload.size() + envelope_bytes);
    if (!m_last_sent || *m_last_sent != envelope) m_last_sent = std::make_shared<const run::Envelope>(envelope);
    m_events.after(time, [this, from, to, last = m_last_sent] {
        Port* receiver = port(to);
        if (receiver == nullptr || port(from) == nullptr) return;
        receiver->receive(from, *last);
    });
}

void Port::receive(const PeerId& from, const run::Envelope& envelope) {
    if (m_receiver == nullptr || refuses(from)) return;
    if (sleeps()) {
        if (now() < m_fell_asleep_at + session_outlasts) {
            m_waiting.push_back([this, from, envelope] { m_receiver->on_envelope(from, envelope); });
        }
        return;
    }
    m_receiver->on_envelope(from, envelope);
    if (after_event) after_event();
}

void Port::later(Duration delay, std::function<void()> event) {
    m_network.events().after(delay, [this, alive = std::weak_ptr(m_token), event = std::move(event)] {
        if (alive.expired()) return;
        if (sleeps()) {
            m_waiting.push_back(event);
        } else {
            happen(event);
        }
    });
}

bool Network::may_have_session(const PeerId& a, const PeerId& b) const {
    const auto refuses = [this](const PeerId& one, const PeerId& other) {
        const Port* found = port(one);
        return found != nullptr && found->refuses(other);
    };
    const auto links = m_links.find(a);
    const bool has_link = m_links.empty() || (links != m_links.end() && links->second.contains(b));
    return has_link && !refuses(a, b) && !refuses(b, a);
}

void Network::session_changed(const PeerId& a, const PeerId& b, bool begun) const {
    for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
        const Port* found = port(one);
        if (found == nullptr || found->receiver() == nullptr || port(other) == nullptr) continue;
        if (begun != may_have_session(a, b)) continue;
        begun ? found->receiver()->on_neighbour(other) : found->receiver()->on_neighbour_lost(other);
    }
}

void Port::happen(const std::function<void()>& event) {
    const std::weak_ptr alive = m_token;
    event();
    if (!alive.expired() && after_event) after_event();
}

void Port::sleep(Duration time) {
    POTLUCK_CHECK(!sleeps());
    m_fell_asleep_at = now();
    m_wakes_at = now() + time;
    if (time >= session_outlasts) {
        m_network.events().after(session_outlasts, [this, alive = std::weak_ptr(m_token)] {
            if (!alive.expired()) end_sessions();
        });
    }
    m_network.events().after(time, [this, alive = std::weak_ptr(m_token)] {
        if (!alive.expired()) wake();
    });
}

/// The others have waited long enough.
void Port::end_sessions() {
    for (const PeerId& peer : neighbours()) {
        Port* other = m_network.port(peer);
        if (other->m_receiver != nullptr) other->m_receiver->on_neighbour_lost(m_id);
    }
}

void Port::wake() {
    const bool sessions_ended = now() >= m_fell_asleep_at + session_outlasts;
    m_wakes_at.reset();
    const std::weak_ptr alive = m_token;
    // An event may be the last of this process.
    for (const auto& event : std::exchange(m_waiting, {})) {
        if (!alive.expired()) happen(event);
    }
    if (alive.expired() || !sessions_ended) return;
    for (const PeerId& peer : neighbours()) {
        m_receiver->on_neighbour_lost(peer);
        m_receiver->on_neighbour(peer);
        Port* other = m_network.port(peer);
        if (other->m_receiver != nullptr) other->m_receiver->on_neighbour(m_id);
    }
}

void Port::send(const PeerId& to, const run::Envelope& envelope) {
    m_disk.effects.before(Effect::send, &envelope);
    if (!m_disk.effects.muted) m_network.deliver(m_id, to, envelope);
}

void Port::broadcast(const run::Envelope& envelope) {
    for (const PeerId& peer : neighbours()) send(peer, envelope);
}

Result<run::BlobRef> Port::publish(ByteSpan content, run::Retention retention) {
    m_disk.effects.before(Effect::publish);
    const BlobId root = merkle_root(content);
    const bool is_new = !m_folder.blobs.contains(root);
    if (is_new && !make_room(content.size(), retention)) return Error{ErrorCode::no_space, "The disk is full."};
    const auto blob = std::make_shared<MemoryBlob>(Bytes(content.begin(), content.end()));
    m_folder.blobs[root] = m_network.published[root] = blob;
    if (is_new) m_folder.ranks[root] = retention;
    retain(root, retention);
    return run::BlobRef{root, content.size(), run::BlobKind::plain, {}};
}

void Port::publish_file(const std::filesystem::path& file, const std::string& name, run::BlobKind kind) {
    later(Duration{50}, [this, file, name, kind] {
        const Bytes* bytes = m_disk.file(file.string());
        if (bytes == nullptr) return m_receiver->on_published(file, Error{ErrorCode::not_found, "No such file."});
        run::BlobRef ref{merkle_root(*bytes), bytes->size(), kind, {}};
        if (kind == run::BlobKind::open) ref.info_hash = sha256(as_bytes(name + ref.root.hex()));
        m_files[ref.root] = {file.string(), ref};
        m_receiver->on_published(file, ref);
    });
}

/// An open blob is a torrent with an info-hash of its own: by another one nobody finds it.
peer::BlobPointer Port::offers(const run::BlobRef& ref) const {
    const auto file = m_files.find(ref.root);
    const bool is_other = file != m_files.end() && ref.kind == run::BlobKind::open && file->second.ref != ref;
    return m_folder.withholds || sleeps() || is_other ? nullptr : blob(ref.root);
}

peer::BlobPointer Port::blob(const BlobId& id) const {
    const auto found = m_folder.blobs.find(id);
    if (found != m_folder.blobs.end()) return found->second;
    const auto file = m_files.find(id);
    const Bytes* bytes = file == m_files.end() ? nullptr : m_disk.file(file->second.path);
    if (bytes == nullptr || merkle_root(*bytes) != id) return nullptr;
    return std::make_shared<MemoryBlob>(*bytes);
}

void Port::fetch(const run::BlobRef& blob, peer::FetchOptions options) {
    if (!m_wanted.insert(blob.root).second) return;  // on its way
    // A link has its own latency: what is asked for there is as far away as a question.
    const bool along_links = m_network.fetches_along_links() && blob.kind == run::BlobKind::plain;
    later(along_links ? Duration{1} : m_network.blob_delay(),
          [this, blob, rank = options.retention] { try_fetch(blob, rank); });
}

run::Retention Port::rank_of(const BlobId& id) const {
    const auto found = m_folder.ranks.find(id);
    return found == m_folder.ranks.end() ? run::Retention::kept : found->second;
}

void Port::retain(const BlobId& id, run::Retention retention) {
    if (retention > rank_of(id)) m_folder.ranks[id] = retention;
}

std::uint64_t Port::room() const {
    std::uint64_t kept = 0;
    for (const auto& [id, blob] : m_folder.blobs) {
        kept += rank_of(id) == run::Retention::kept ? blob->bytes().size() : 0;
    }
    return m_folder.bytes_max - std::min(m_folder.bytes_max, kept);
}

bool Port::make_room(std::uint64_t size, run::Retention retention) {
    std::vector<run::StoredBlob> stored;
    std::vector<BlobId> ids;
    for (const auto& [id, blob] : m_folder.blobs) {
        stored.push_back({blob->bytes().size(), rank_of(id), true, stored.size()});
        ids.push_back(id);
    }
    const auto displaced = run::blobs_to_displace(stored, size, retention, m_folder.bytes_max);
    if (!displaced) return false;
    for (const std::size_t i : *displaced) m_folder.blobs.erase(ids[i]);
    return true;
}

void Port::try_fetch(const run::BlobRef& ref, run::Retention retention) {
    if (!m_wanted.contains(ref.root)) return;
    const auto usable = [&](const peer::BlobPointer& one) { return one && one->bytes().size() == ref.size; };
    if (const peer::BlobPointer own = blob(ref.root); usable(own)) return fetched(ref, own, retention);
    const bool along_links = m_network.fetches_along_links() && ref.kind == run::BlobKind::plain;
    const auto ask = [&](const PeerId& id, const Port& port) {
        const bool allowed = m_network.payload_fetches() || ref.kind != run::BlobKind::plain;
        peer::BlobPointer content = allowed && m_network.reachable(m_id, id) ? port.offers(ref) : nullptr;
        if (!usable(content)) return false;
        if (!along_links) {
            if (m_network.line_of(m_id)) {
                come_over_line(ref, content, retention, m_coming[ref.root] = std::make_shared<double>(0));
            } else {
                fetched(ref, content, retention);
            }
            return true;
        }
        m_network.count_payload(ref.size);
        const Duration question = m_network.carry(m_id, id, question_bytes);
        later(question + m_network.carry(id, m_id, ref.size),
              [this, ref, content, retention] { fetched(ref, content, retention); });
        return true;
    };
    if (along_links) {
        for (const PeerId& id : m_network.sessions_of(m_id)) {
            if (ask(id, *m_network.port(id))) return;
        }
    } else {
        for (const auto& [id, port] : m_network.ports()) {
            if (ask(id, *port)) return;
        }
    }
    // Neighbours say at once what they have got; elsewhere a holder has to be found.
    later(Duration{along_links ? 20 : 250}, [this, ref, retention] { try_fetch(ref, retention); });
}

/// A slice of it, and then the next, while this fetch is wanted.
void Port::come_over_line(const run::BlobRef& ref, const peer::BlobPointer& content, run::Retention retention,
                          const Coming& coming) {
    constexpr double slices = 16;
    const double share = *m_network.line_of(m_id) / static_cast<double>(m_coming.size());
    const Duration time{static_cast<int>(std::ceil(static_cast<double>(ref.size) / slices / share))};
    later(time, [this, ref, content, retention, coming] {
        const auto found = m_coming.find(ref.root);
        if (found == m_coming.end() || found->second != coming) return;
        *coming += 1 / slices;
        if (*coming < 1) return come_over_line(ref, content, retention, coming);
        m_coming.erase(found);
        fetched(ref, content, retention);
    });
}

double Port::progress(const BlobId& id) const {
    const auto found = m_coming.find(id);
    if (found != m_coming.end()) return *found->second;
    return blob(id) ? 1 : 0;
}

void Port::fetched(const run::BlobRef& ref, peer::BlobPointer content, run::Retention retention) {
    if (m_wanted.erase(ref.root) == 0) return;
    if (!m_folder.blobs.contains(ref.root) && !m_files.contains(ref.root)) {
        if (!make_room(ref.size, retention)) {
            return m_receiver->on_blob_failed(ref.root, {ErrorCode::no_space, "The disk is full."});
        }
        m_folder.ranks[ref.root] = retention;
    }
    retain(ref.root, retention);
    m_folder.blobs[ref.root] = content;
    if (ref.kind == run::BlobKind::plain) m_payload_arrived_at = now();
    m_receiver->on_blob(ref, std::move(content));
}

void Port::forget(const BlobId& id) {
    m_wanted.erase(id);
    m_coming.erase(id);
    m_files.erase(id);
    m_folder.blobs.erase(id);
}

void Port::drop(const PeerId& peer, Duration duration) {
    if (refuses(peer)) return;
    m_refused[peer] = now() + duration;
    later(Duration{0}, [this, peer] { m_network.session_changed(m_id, peer, false); });
    later(duration, [this, peer] { m_network.session_changed(m_id, peer, true); });
}

bool Port::refuses(const PeerId& peer) const {
    const auto found = m_refused.find(peer);
    return found != m_refused.end() && now() < found->second;
}

std::vector<PeerId> Port::neighbours() const {
    std::vector<PeerId> peers = m_network.sessions_of(m_id);
    std::erase_if(peers, [this](const PeerId& peer) { return !m_network.may_have_session(m_id, peer); });
    return peers;
}

}  // namespace potluck::sim
