// Which shards of training data this member has on its disk: those that its trainer draws from in this round and the
// next, and those that rendezvous hashing assigns to it (core/run/shard_holders.h), so that a run's data outlives its
// host. Backbones keep shards too.
//
//   absent --fetch--> under way --on_blob--> whole --evict--> absent
//
// What the trainer needs is fetched first, the rest two at a time. Below the cap room is kept for what comes in, so
// that nothing is evicted before what replaces it is whole; and only what is neither needed nor assigned goes. A cap
// with room for fewer than shards_unassigned shards serves the trainer alone.
//
// Members do not say what they hold. Assignments therefore count keys: of members that were here within the last
// minute, and, unless this member is a newcomer itself, no newcomers. A thousand fresh keys move nobody's shards, and
// a key that has just come has its newcomer's rounds to fetch its share before the others rely on it.
//
// Does not: decide what is trained on, or hold the shards' bytes.
// Threads: the peer's. Owns: the list of what is here and under way.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/peer/chain/chain_log.h"
#include "core/peer/presence/members.h"

namespace potluck::peer {

inline constexpr std::size_t assigned_fetches_max = 2;  // at once, besides what the trainer needs
inline constexpr std::size_t stale_fetches_max = 2;     // begun for a round that is over
/// Room below the cap that is not assigned: this round's shard, the next one's, and one more of each kind coming in.
inline constexpr std::uint64_t shards_unassigned = 4;
inline constexpr std::uint64_t shards_coming_in = 2;
inline constexpr Duration absence_excused{60'000};  // a computer that restarts moves nobody's shards
inline constexpr Duration shard_retry_after{5'000};
inline constexpr int heartbeats_to_meet = 10;   // before a member that starts believes that it knows who is here
inline constexpr std::size_t lookups_max = 64;  // of keys in the ledger, at one look

class ShardKeeper {
public:
    struct Parts {
        const Context& context;
        const ChainLog& chain;
        const Members& members;
        ErrorReport& errors;
    };
    explicit ShardKeeper(Parts parts);

    /// Asks for what is lacking and lets go of what is in the way. `needed` are the shards that the trainer draws from,
    /// the one of this round first; empty if nothing is trained here.
    void update(const std::vector<std::size_t>& needed);
    void on_blob(const BlobId& id);
    void on_blob_failed(const BlobId& id);
    /// What shards may take from now on; what is too much goes as others come.
    void set_cap(std::uint64_t bytes);
    /// Lets go of one shard, because the disk is full; false if every one is needed or assigned.
    bool evict_spare();

    [[nodiscard]] const std::set<std::size_t>& whole() const { return m_whole; }
    [[nodiscard]] const std::set<std::size_t>& assigned() const { return m_assigned; }
    /// How many others keep each shard, as far as this member relies on them: those that count, up to shard_copies.
    [[nodiscard]] std::size_t other_copies() const;
    void check_invariants() const;

private:
    /// A key that was here lately.
    struct Seen {
        TimePoint at;
        bool established = false;          // no newcomer, and never one again
        std::optional<RoundId> looked_up;  // at this height
    };
    [[nodiscard]] std::uint64_t size_of(std::size_t shard) const;
    [[nodiscard]] std::uint64_t whole_bytes() const;
    [[nodiscard]] bool has_room_for(std::uint64_t bytes) const;
    [[nodiscard]] bool may_go(std::size_t shard) const;
    [[nodiscard]] std::optional<std::size_t> spare() const;
    [[nodiscard]] std::optional<std::size_t> stale_fetch() const;
    [[nodiscard]] bool may_fetch(std::size_t shard) const;
    void look_at_disk();
    void look_around();
    void look_up(const PeerId& peer, Seen& seen);
    void assign(std::set<PeerId> keys);
    void fetch_needed();
    void fetch_assigned();
    void fetch(std::size_t shard, TimePoint deadline);
    void trim();
    void evict(std::size_t shard);

    const Parts m;
    std::uint64_t m_cap;
    std::uint64_t m_largest = 0;
    std::vector<std::uint64_t> m_weights;  // by shard: of this member's key
    std::vector<std::size_t> m_needed;
    std::set<std::size_t> m_whole, m_under_way;
    std::set<std::size_t> m_assigned;
    std::vector<std::size_t> m_order;  // the assigned, as they are fetched: those that rely on this member most first
    std::map<std::size_t, TimePoint> m_retry_at;
    std::map<PeerId, Seen> m_seen;
    std::set<PeerId> m_counted;
    std::size_t m_lookups = 0;  // at the present look
    std::optional<TimePoint> m_started_at, m_looked_at;
};

}  // namespace potluck::peer
