// Two ways lead here: a message that brings the payload, and a fetch of the blob. A short payload has a second to come
// by message before it is fetched; what a list has accepted, and what is long, is fetched at once: of its author alone,
// until a list has accepted it. Either way the swarm holds the bytes first and says so, and arrived() reads them, so
// that nothing counts as held that is not on disk.
//
// An entry is dropped when no list took it, or with the rounds that no longer matter; one that a list named stays.
#include "core/peer/payloads/payloads.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace potluck::peer {

Bytes payload_blob(const PeerId& author, ByteSpan encoded) {
    ByteWriter out;
    out.raw(author.bytes);
    out.raw(encoded);
    return out.take();
}

Payloads::Payloads(Swarm& swarm, std::uint64_t parameters, std::uint32_t k_max)
    : m_swarm(swarm), m_parameters(parameters), m_k_max(k_max) {}

bool Payloads::plausible(const run::BlobRef& ref, std::uint64_t parameters, std::uint32_t k) {
    return ref.kind == run::BlobKind::plain && ref.size > payload_author_bytes &&
           ref.size <= payload_author_bytes + numerics::payload_bytes_max(parameters, k);
}

/// Null if it was known already.
Payloads::Entry* Payloads::add(const run::BlobRef& ref, RoundId round, std::vector<PeerId> sources,
                               run::Retention retention) {
    auto [found, added] = m_entries.try_emplace(ref.root);
    Entry& entry = found->second;
    entry.round = std::max(entry.round, round);
    if (!added) {
        if (retention <= entry.retention) return nullptr;
        entry.retention = retention;
        m_swarm.retain(ref.root, retention);
        return nullptr;
    }
    entry.ref = ref;
    entry.retention = retention;
    entry.sources = std::move(sources);
    return &entry;
}

void Payloads::want(const run::BlobRef& ref, RoundId round, std::vector<PeerId> sources, run::Retention retention) {
    if (Entry* entry = add(ref, round, std::move(sources), retention)) fetch(*entry, TimePoint{});
}

void Payloads::expect(const run::BlobRef& ref, RoundId round, std::vector<PeerId> sources, TimePoint now,
                      run::Retention retention, const Digest& lot) {
    Entry* entry = add(ref, round, std::move(sources), retention);
    if (entry == nullptr) return;
    const bool is_long = ref.size > run::payload_in_message_max;
    entry->lot = lot;
    entry->offered = is_long && retention > run::Retention::newcomer;
    if (entry->offered && fetched_in_turn(retention) < m_at_once) return fetch(*entry, now);
    entry->again = is_long ? now : now + message_patience;
}

bool Payloads::asked(const BlobId& id, const PeerId& peer) {
    const auto found = m_entries.find(id);
    if (found == m_entries.end() || found->second.asked.size() >= askers_max) return false;
    if (!found->second.asked.insert(peer).second) return false;
    found->second.waiting.push_back(peer);
    return true;
}

std::vector<PeerId> Payloads::take_askers(const BlobId& id) {
    const auto found = m_entries.find(id);
    if (found == m_entries.end() || !found->second.payload) return {};
    return std::exchange(found->second.waiting, {});
}

void Payloads::found(const BlobId& id) {
    const auto entry = m_entries.find(id);
    if (entry == m_entries.end() || entry->second.payload || entry->second.bad) return;
    entry->second.again = TimePoint{Duration::max()};
    fetch(entry->second, TimePoint{});
}

void Payloads::want_accepted(const run::AcceptList& list, TimePoint now, Holders holders) {
    const std::vector<PeerId> seats = holders == Holders::seats ? list.committee : std::vector<PeerId>{};
    for (const run::Accepted& accepted : list.entries) {
        std::vector<PeerId> sources = seats;
        sources.push_back(accepted.peer);
        const bool is_new = add(accepted.payload, list.round, std::move(sources), run::Retention::kept) != nullptr;
        Entry& entry = m_entries.at(accepted.payload.root);
        entry.seats = seats;
        if (is_new) fetch(entry, TimePoint{});
        if (!std::exchange(entry.accepted, true)) entry.again = std::min(entry.again, now + author_patience);
    }
}

/// Without a deadline: libtorrent asks more and more peers for each block of what is late, and most comes twice.
void Payloads::fetch(Entry& entry, TimePoint now) {
    entry.fetching = Entry::Fetching{0, now};
    m_swarm.fetch(entry.ref, {.sources = entry.accepted ? entry.seats : entry.sources,
                              .deadline = {},
                              .damaged_copy = {},
                              .layer = {},
                              .retention = entry.retention,
                              .named_only = !entry.seats.empty()});
}

Payloads::Outcome Payloads::arrived(const run::BlobRef& ref, BlobPointer content, TimePoint now) {
    const auto found = m_entries.find(ref.root);
    if (found == m_entries.end()) return Outcome::not_wanted;
    Entry& entry = found->second;
    if (entry.payload) return Outcome::held;
    auto payload = std::make_shared<Payload>();
    payload->ref = ref;
    payload->blob = std::move(content);
    ByteReader in(payload->blob->bytes());
    in.array(payload->author.bytes);
    const numerics::PayloadFault fault =
        numerics::PayloadView::parse(in.raw(in.remaining()), m_parameters, m_k_max, payload->view);
    entry.bad = in.failed() || fault != numerics::PayloadFault::none;
    entry.again = TimePoint{Duration::max()};
    if (entry.bad) return Outcome::bad;
    entry.payload = std::move(payload);
    entry.arrived_at = now;
    return Outcome::held;
}

void Payloads::failed(const BlobId& id, TimePoint now) {
    const auto found = m_entries.find(id);
    if (found == m_entries.end() || found->second.payload) return;
    found->second.fetching.reset();
    found->second.again = now + fetch_again_after;
}

void Payloads::retry(TimePoint now) {
    for (auto& [id, entry] : m_entries) {
        if (entry.payload || entry.bad || now < entry.again || entry.takes_turns(entry.retention)) continue;
        entry.again = TimePoint{Duration::max()};
        fetch(entry, now);
    }
    take_turns(run::Retention::newcomer, newcomers_fetched_max, now);
    take_turns(run::Retention::offered, m_at_once, now);
}

std::size_t Payloads::fetched_in_turn(run::Retention rank) const {
    return static_cast<std::size_t>(std::count_if(m_entries.begin(), m_entries.end(), [&](const auto& one) {
        return one.second.takes_turns(rank) && one.second.fetching;
    }));
}

/// Those that gave way least often first.
void Payloads::take_turns(run::Retention rank, std::size_t at_once, TimePoint now) {
    if (fetched_in_turn(rank) >= at_once) let_stalled_give_way(rank, now);
    std::vector<Entry*> due;
    for (auto& [id, entry] : m_entries) {
        if (entry.takes_turns(rank) && !entry.fetching && now >= entry.again) due.push_back(&entry);
    }
    if (due.empty()) return;
    const auto turn = [](const Entry* one) { return std::tuple(one->given_way, ~one->round.value, one->lot); };
    std::stable_sort(due.begin(), due.end(), [&](const Entry* a, const Entry* b) { return turn(a) < turn(b); });
    std::size_t fetched = fetched_in_turn(rank);
    for (Entry* entry : due) {
        if (fetched >= at_once) return;
        entry->again = TimePoint{Duration::max()};
        fetch(*entry, now);
        ++fetched;
    }
}

void Payloads::let_stalled_give_way(run::Retention rank, TimePoint now) {
    auto waiting = std::count_if(m_entries.begin(), m_entries.end(), [&](const auto& one) {
        return one.second.takes_turns(rank) && !one.second.fetching && now >= one.second.again;
    });
    for (auto& [id, entry] : m_entries) {
        if (!entry.takes_turns(rank) || !entry.fetching) continue;
        const double progress = m_swarm.progress(id);
        if (progress > entry.fetching->progress) entry.fetching = Entry::Fetching{progress, now};
        if (waiting == 0 || now < entry.fetching->since + stalls_after) continue;
        entry.fetching.reset();
        entry.again = now + fetch_again_after;
        ++entry.given_way;
        --waiting;
        m_swarm.forget(id);
    }
}

std::optional<TimePoint> Payloads::arrived_at(const BlobId& id) const {
    const auto found = m_entries.find(id);
    if (found == m_entries.end() || !found->second.payload) return std::nullopt;
    return found->second.arrived_at;
}

PayloadPointer Payloads::find(const BlobId& id) const {
    const auto found = m_entries.find(id);
    return found == m_entries.end() ? nullptr : found->second.payload;
}

bool Payloads::bad(const BlobId& id) const {
    const auto found = m_entries.find(id);
    return found != m_entries.end() && found->second.bad;
}

bool Payloads::displaceable(const BlobId& id) const {
    const auto found = m_entries.find(id);
    return found != m_entries.end() && found->second.retention < run::Retention::kept;
}

void Payloads::release_before(RoundId round) {
    std::erase_if(m_entries, [&](const auto& item) { return item.second.round < round; });
}

void Payloads::forget_unfinished_before(RoundId round) {
    std::vector<BlobId> unfinished;
    for (const auto& [id, entry] : m_entries) {
        if (!entry.payload && entry.round < round) unfinished.push_back(id);
    }
    for (const BlobId& id : unfinished) forget(id);
}

void Payloads::forget_refused(const run::AcceptList& list, RoundId first, const std::set<BlobId>& keep) {
    for (const run::Accepted& entry : list.entries) {
        const auto found = m_entries.find(entry.payload.root);
        if (found != m_entries.end()) found->second.accepted = true;
    }
    std::vector<BlobId> refused;
    for (const auto& [id, entry] : m_entries) {
        if (!entry.accepted && entry.round < first && !keep.contains(id)) refused.push_back(id);
    }
    for (const BlobId& id : refused) forget(id);
}

/// Half of those that came: a whole set more of them would not have been here in time.
void Payloads::adapt_to_line(RoundId round, TimePoint until) {
    m_carried = {};
    for (const auto& [id, entry] : m_entries) {
        if (!entry.offered || entry.round != round) continue;
        ++m_carried.offered;
        m_carried.here += entry.payload && entry.arrived_at <= until ? 1 : 0;
    }
    const std::size_t more = std::min(2 * m_at_once, run::accepted_max);
    const std::size_t less = std::max(m_carried.here / 2, offers_fetched_min);
    m_at_once = m_carried.all() ? more : less;
}

void Payloads::forget_offered(const BlobId& id) {
    const auto found = m_entries.find(id);
    if (found != m_entries.end() && found->second.retention < run::Retention::kept) forget(id);
}

void Payloads::forget(const BlobId& id) {
    m_entries.erase(id);
    m_swarm.forget(id);
}

}  // namespace potluck::peer
