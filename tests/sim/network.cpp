#include "tests/sim/network.h"

#include <algorithm>

#include "core/base/merkle.h"
#include "core/base/sha256.h"

namespace potluck::sim {

void Network::deliver(const PeerId& from, const PeerId& to, const run::Envelope& envelope) {
    if (m_rng.unit() < m_quality.loss || !reachable(from, to) || !may_have_session(from, to)) return;
    m_events.after(between(m_quality.delay_min, m_quality.delay_max), [this, from, to, envelope] {
        Port* receiver = port(to);
        if (receiver == nullptr || port(from) == nullptr) return;
        receiver->receive(from, envelope);
    });
}

void Port::receive(const PeerId& from, const run::Envelope& envelope) {
    if (m_receiver == nullptr || refuses(from)) return;
    m_receiver->on_envelope(from, envelope);
    if (after_event) after_event();
}

void Port::later(Duration delay, std::function<void()> event) {
    m_network.events().after(delay, [this, alive = std::weak_ptr(m_token), event = std::move(event)] {
        if (alive.expired()) return;
        event();
        if (!alive.expired() && after_event) after_event();
    });
}

bool Network::may_have_session(const PeerId& a, const PeerId& b) const {
    const auto refuses = [this](const PeerId& one, const PeerId& other) {
        const Port* found = port(one);
        return found != nullptr && found->refuses(other);
    };
    return (!m_hub || a == *m_hub || b == *m_hub) && !refuses(a, b) && !refuses(b, a);
}

void Network::session_changed(const PeerId& a, const PeerId& b, bool begun) const {
    for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
        const Port* found = port(one);
        if (found == nullptr || found->receiver() == nullptr || port(other) == nullptr) continue;
        if (begun != may_have_session(a, b)) continue;
        begun ? found->receiver()->on_neighbour(other) : found->receiver()->on_neighbour_lost(other);
    }
}

void Port::send(const PeerId& to, const run::Envelope& envelope) {
    m_disk.effects.before(Effect::send, &envelope);
    if (!m_disk.effects.muted) m_network.deliver(m_id, to, envelope);
}

void Port::broadcast(const run::Envelope& envelope) {
    for (const PeerId& peer : neighbours()) send(peer, envelope);
}

Result<run::BlobRef> Port::publish(ByteSpan content) {
    m_disk.effects.before(Effect::publish);
    const BlobId root = merkle_root(content);
    if (!m_folder.blobs.contains(root) && !make_room(content.size(), run::Retention::kept)) {
        return Error{ErrorCode::no_space, "The disk is full."};
    }
    const auto blob = std::make_shared<MemoryBlob>(Bytes(content.begin(), content.end()));
    m_folder.blobs[root] = m_network.published[root] = blob;
    m_folder.ranks.erase(root);
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
    return m_folder.withholds || is_other ? nullptr : blob(ref.root);
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
    m_wanted.insert(blob.root);
    later(m_network.blob_delay(), [this, blob, rank = options.retention] { try_fetch(blob, rank); });
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
    peer::BlobPointer content = blob(ref.root);
    for (const auto& [id, port] : m_network.ports()) {
        if (content) break;
        if (m_network.reachable(m_id, id)) content = port->offers(ref);
    }
    if (!content || content->bytes().size() != ref.size) {
        later(Duration{250}, [this, ref, retention] { try_fetch(ref, retention); });
        return;
    }
    m_wanted.erase(ref.root);
    if (!m_folder.blobs.contains(ref.root) && !m_files.contains(ref.root)) {
        if (!make_room(ref.size, retention)) {
            return m_receiver->on_blob_failed(ref.root, {ErrorCode::no_space, "The disk is full."});
        }
        m_folder.ranks[ref.root] = retention;
    }
    retain(ref.root, retention);
    m_folder.blobs[ref.root] = content;
    m_receiver->on_blob(ref, content);
}

void Port::forget(const BlobId& id) {
    m_wanted.erase(id);
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
    std::vector<PeerId> peers;
    for (const auto& [id, port] : m_network.ports()) {
        if (id != m_id && m_network.may_have_session(id, m_id)) peers.push_back(id);
    }
    return peers;
}

}  // namespace potluck::sim
