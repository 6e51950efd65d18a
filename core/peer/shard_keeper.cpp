// Which shards are here: see the header for the rule. The assignment is computed anew when the keys that count have
// changed, which is looked at once a heartbeat, and what is on disk is asked of the swarm at the same pace, because a
// host's files and those of an earlier life are here without having been fetched.
//
// Sizes, below the cap: [ assigned ... ][ this round's ][ the next one's ][ needed next ][ assigned next ]. Two of them
// are kept free by trim(), which evicts spare shards as soon as another has become whole: the one that this member
// weighs least for first, since it is the last to be assigned here again.

#include "core/peer/shard_keeper.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/run/shard_holders.h"

namespace potluck::peer {

namespace {

/// Rounded up, so that what is asked for suffices.
std::string mebibytes(std::uint64_t bytes) { return std::to_string((bytes + (1U << 20U) - 1) >> 20U) + " MiB"; }

}  // namespace

ShardKeeper::ShardKeeper(Parts parts) : m(parts), m_cap(parts.context.settings.shard_bytes_max) {
    for (const run::Shard& shard : m.context.manifest.shards) {
        m_largest = std::max(m_largest, shard.blob.size);
        m_weights.push_back(run::holder_weight(m.context.self(), shard.blob.root));
    }
}

std::uint64_t ShardKeeper::size_of(std::size_t shard) const { return m.context.manifest.shards[shard].blob.size; }

std::uint64_t ShardKeeper::whole_bytes() const {
    std::uint64_t bytes = 0;
    for (const std::size_t shard : m_whole) bytes += size_of(shard);
    return bytes;
}

bool ShardKeeper::has_room_for(std::uint64_t bytes) const {
    bytes += whole_bytes();
    for (const std::size_t shard : m_under_way) bytes += size_of(shard);
    return bytes <= m_cap;
}

bool ShardKeeper::may_go(std::size_t shard) const {
    return !m_assigned.contains(shard) && std::find(m_needed.begin(), m_needed.end(), shard) == m_needed.end();
}

std::optional<std::size_t> ShardKeeper::spare() const {
    std::optional<std::size_t> least;
    for (const std::size_t shard : m_whole) {
        if (may_go(shard) && (!least || m_weights[shard] < m_weights[*least])) least = shard;
    }
    return least;
}

/// The one of which least is here.
std::optional<std::size_t> ShardKeeper::stale_fetch() const {
    std::optional<std::size_t> least;
    double least_progress = 1;
    for (const std::size_t shard : m_under_way) {
        const double progress = m.context.swarm.progress(m.context.manifest.shards[shard].blob.root);
        if (!may_go(shard) || (least && progress >= least_progress)) continue;
        least = shard;
        least_progress = progress;
    }
    return least;
}

void ShardKeeper::update(const std::vector<std::size_t>& needed) {
    const TimePoint now = m.context.now();
    m_needed = needed;
    if (!m_started_at) m_started_at = now;
    if (!m_looked_at || now >= *m_looked_at + m.context.settings.heartbeat) {
        m_looked_at = now;
        look_at_disk();
        look_around();
    }
    fetch_needed();
    fetch_assigned();
    trim();
}

void ShardKeeper::look_at_disk() {
    const std::vector<run::Shard>& shards = m.context.manifest.shards;
    for (std::size_t i = 0; i < shards.size(); ++i) {
        if (m.context.swarm.progress(shards[i].blob.root) < 1) {
            m_whole.erase(i);
        } else {
            m_whole.insert(i);
            m_under_way.erase(i);
        }
    }
}

void ShardKeeper::look_around() {
    const TimePoint now = m.context.now();
    m_lookups = 0;
    for (const auto& [peer, member] : m.members.all()) {
        Seen& seen = m_seen[peer];
        seen.at = now;
        look_up(peer, seen);
    }
    std::erase_if(m_seen, [&](const auto& item) {
        return item.second.at != now && (!item.second.established || now >= item.second.at + absence_excused);
    });
    const bool newcomer = m.chain.is_newcomer(m.context.self_person());
    std::set<PeerId> keys{m.context.self()};
    // One computer of a person is believed to hold shards, or one person could be assigned all copies of them.
    std::set<PeerId> persons{m.context.self_person()};
    for (const auto& [peer, seen] : m_seen) {
        const bool counts = newcomer || seen.established;
        if (counts && persons.insert(m.members.person_of(peer)).second) keys.insert(peer);
    }
    if (keys != m_counted) assign(std::move(keys));
}

void ShardKeeper::look_up(const PeerId& peer, Seen& seen) {
    if (seen.established || seen.looked_up == m.chain.height() || m_lookups == lookups_max) return;
    ++m_lookups;
    seen.looked_up = m.chain.height();
    seen.established = !m.chain.is_newcomer(m.members.person_of(peer));
}

std::size_t ShardKeeper::other_copies() const {
    const std::size_t others = m_counted.size() - m_counted.count(m.context.self());
    return std::min(others, run::shard_copies);
}

void ShardKeeper::assign(std::set<PeerId> keys) {
    m_counted = std::move(keys);
    const bool unlimited = m_cap == run::no_shard_cap;
    const std::uint64_t unassigned = std::min(m_cap, shards_unassigned * m_largest);
    std::vector<run::ShardHolder> members;
    std::size_t self = 0;
    for (const PeerId& key : m_counted) {
        if (key == m.context.self()) self = members.size();
        members.push_back({key, key == m.context.self() && !unlimited ? m_cap - unassigned : run::no_shard_cap});
    }
    const auto holders = run::shard_holders(m.context.manifest.shards, members, run::shard_copies);
    std::vector<std::pair<std::ptrdiff_t, std::size_t>> ranked;
    for (std::size_t i = 0; i < holders.size(); ++i) {
        const auto found = std::find(holders[i].begin(), holders[i].end(), self);
        if (found != holders[i].end()) ranked.emplace_back(found - holders[i].begin(), i);
    }
    std::sort(ranked.begin(), ranked.end(), [this](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : m_weights[a.second] > m_weights[b.second];
    });
    m_assigned.clear();
    m_order.clear();
    for (const auto& [rank, shard] : ranked) {
        m_assigned.insert(shard);
        m_order.push_back(shard);
    }
}

bool ShardKeeper::may_fetch(std::size_t shard) const {
    const auto retry = m_retry_at.find(shard);
    return !m_whole.contains(shard) && !m_under_way.contains(shard) &&
           (retry == m_retry_at.end() || m.context.now() >= retry->second);
}

void ShardKeeper::fetch_needed() {
    for (const std::size_t shard : m_needed) {
        if (!may_fetch(shard)) continue;
        while (!has_room_for(size_of(shard)) && evict_spare()) {
        }
        if (has_room_for(size_of(shard))) {
            fetch(shard, m.context.now());
        } else if (shard == m_needed.front() && size_of(shard) > m_cap) {
            m.errors.report("A shard of this run's training data takes " + mebibytes(size_of(shard)) +
                                ", but shards may take only " + mebibytes(m_cap) + " here: allow more with --disk.",
                            Remedy::disk_limit);
        }
    }
}

void ShardKeeper::fetch_assigned() {
    const bool met = m.context.now() >= *m_started_at + heartbeats_to_meet * m.context.settings.heartbeat;
    if (!met || m.members.all().empty()) return;
    auto under_way = static_cast<std::size_t>(std::count_if(m_under_way.begin(), m_under_way.end(),
                                                            [this](std::size_t i) { return m_assigned.contains(i); }));
    for (const std::size_t shard : m_order) {
        if (under_way >= assigned_fetches_max || !has_room_for(size_of(shard) + m_largest)) return;
        if (!may_fetch(shard)) continue;
        fetch(shard, {});
        ++under_way;
    }
}

void ShardKeeper::fetch(std::size_t shard, TimePoint deadline) {
    m_under_way.insert(shard);
    m_retry_at.erase(shard);
    m.context.swarm.fetch(m.context.manifest.shards[shard].blob,
                          {.sources = {}, .deadline = deadline, .damaged_copy = {}, .layer = {}});
}

/// Makes room after something has become whole, and ends fetches for rounds that are over.
void ShardKeeper::trim() {
    while (whole_bytes() + shards_coming_in * m_largest > m_cap) {
        const auto shard = spare();
        if (!shard) break;
        evict(*shard);
    }
    auto stale = std::count_if(m_under_way.begin(), m_under_way.end(), [this](std::size_t i) { return may_go(i); });
    for (; stale > static_cast<std::ptrdiff_t>(stale_fetches_max); --stale) evict(*stale_fetch());
}

bool ShardKeeper::evict_spare() {
    auto shard = spare();
    if (!shard) shard = stale_fetch();
    if (shard) evict(*shard);
    return shard.has_value();
}

void ShardKeeper::evict(std::size_t shard) {
    m_whole.erase(shard);
    m_under_way.erase(shard);
    m.context.swarm.forget(m.context.manifest.shards[shard].blob.root);
}

void ShardKeeper::on_blob(const BlobId& id) {
    const std::vector<run::Shard>& shards = m.context.manifest.shards;
    for (std::size_t i = 0; i < shards.size(); ++i) {
        if (shards[i].blob.root != id || m_under_way.erase(i) == 0) continue;
        m_whole.insert(i);
        m.errors.withdraw(Remedy::disk_limit);  // there was room for it
    }
}

void ShardKeeper::on_blob_failed(const BlobId& id) {
    const std::vector<run::Shard>& shards = m.context.manifest.shards;
    for (std::size_t i = 0; i < shards.size(); ++i) {
        if (shards[i].blob.root != id || m_under_way.erase(i) == 0) continue;
        m_retry_at[i] = m.context.now() + shard_retry_after;
    }
}

void ShardKeeper::set_cap(std::uint64_t bytes) {
    if (bytes == m_cap) return;
    m_cap = bytes;
    m_retry_at.clear();
    m.errors.withdraw(Remedy::disk_limit);
    assign(m_counted);
}

void ShardKeeper::check_invariants() const {
    for (const std::size_t shard : m_under_way) POTLUCK_CHECK(!m_whole.contains(shard));
    POTLUCK_CHECK(m_order.size() == m_assigned.size());
}

}  // namespace potluck::peer
