// What this member offers to others and for how long: checkpoints, states lent for a repair, the payloads since the
// checkpoint before last, and the newest states. Where blobs have used up their disk, the oldest of those payloads go
// first, since a member that comes later can take the newer checkpoint.
//
//   publish_checkpoint -> on_published -> checkpoints -> forget_old
//   publish_for_repair -> on_published    (pinned for a while, never advertised)
//
// Does not: hold states or payloads itself; it says which of them may go.
// Threads: the peer's. Owns: the lists of what is published and pinned.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/base/result.h"
#include "core/peer/chain/chain_log.h"
#include "core/peer/payloads/payloads.h"
#include "core/peer/seams/state_store.h"

namespace potluck::peer {

inline constexpr std::uint64_t states_kept = 4;       // newest; a repair may go back over them
inline constexpr std::uint64_t checkpoints_kept = 2;  // one may still be fetched while the next is published
inline constexpr Duration state_pinned_for{60'000};   // a repair asks again and again while it makes progress
inline constexpr std::size_t states_pinned_max = 2;   // lent beyond those that are kept anyway
inline constexpr std::uint64_t rounds_of_room = 2;    // whose payloads find room on the disk before they come

/// A state that is seeded for those who join later.
struct Checkpoint {
    RoundId round;
    run::BlobRef blob;
    std::filesystem::path file;
};

class Seeder {
public:
    class Mediator {
    public:
        virtual ~Mediator() = default;
        /// The newest state that is held and trusted.
        [[nodiscard]] virtual std::optional<StateStore::Held> newest_state() const = 0;
        /// Whether the trainer or a snapshot still needs theta[round].
        [[nodiscard]] virtual bool in_use(RoundId round) const = 0;
        virtual void drop_state(RoundId round) = 0;
        virtual void status_changed() = 0;
    };
    struct Parts {
        const Context& context;
        const ChainLog& chain;
        const StateStore& store;
        Payloads& payloads;
        ErrorReport& errors;
        Mediator& mediator;
    };
    explicit Seeder(Parts parts) : m(parts) {}

    void publish_checkpoint(RoundId round);
    /// Seeds theta[round] for a member whose copy is damaged, and keeps it for state_pinned_for.
    void publish_for_repair(RoundId round, const StateDigest& digest);
    void on_published(const std::filesystem::path& file, Result<run::BlobRef> blob);
    /// theta[round] is not held any more, or is found to be damaged.
    void state_dropped(RoundId round) { m_checkpoints.erase(round); }

    /// Payloads kept from former times are seeded again; what is missing is fetched, or left to others by a member that
    /// takes steps.
    enum class Missing { fetched, left };
    void seed_kept_payloads(Missing missing);
    /// To be called while no job runs: nothing that is dropped here is being read.
    void forget_old();
    /// The disk is full: the accepted payloads of the oldest round that are kept go, but those of the last rounds
    /// before this member's state, which a repair may need. False if there are none.
    bool forget_oldest_payloads(std::uint64_t rounds_spared);

    [[nodiscard]] std::vector<Checkpoint> checkpoints() const;
    /// The newest that the chain confirms, or the only one there is.
    [[nodiscard]] std::optional<Checkpoint> newest_checkpoint() const;
    void check_invariants() const;

private:
    void forget_states(RoundId newest);
    void forget_payloads(RoundId newest);
    void forget_payloads_of(RoundId round);
    void keep_room();

    const Parts m;
    std::map<RoundId, Checkpoint> m_checkpoints;
    std::map<std::filesystem::path, RoundId> m_publishing;
    std::set<std::filesystem::path> m_published_for_repair;
    std::map<RoundId, TimePoint> m_pinned_until;
    std::optional<RoundId> m_payloads_kept_from;
};

}  // namespace potluck::peer
