// Bit-identical states, kept so. Every status carries the digest of its sender's state; a member that differs from the
// majority with the same list fetches the pieces that differ. The piece layer of the true state says which those are,
// and is itself checked against the digest.
//
//   status differs -> vote --majority differs--> begin -> layer asked -> fetching -> adopting -> on_repaired
//                      |                           ^                         '--- tries used up -> on_unrepairable
//                      '--tie--> verify own disk --'  (if it is damaged)
//
// Does not: change which state is the newest or what the chain says; `Peer` does when it is told.
// Threads: the peer's, except the work of its jobs. Owns: the repair under way, the dispute, the counts.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/peer/chain_log.h"
#include "core/peer/jobs.h"
#include "core/peer/members.h"
#include "core/peer/state_keeper.h"

namespace potluck::peer {

inline constexpr int repair_tries_max = 6;         // questions for a layer, two heartbeats apart
inline constexpr std::size_t layer_jobs_max = 16;  // under way at once; each hashes a whole state

/// What the digests of those with our list, ourselves included, say.
struct VoteResult {
    enum class Kind {
        agreed,    // at least as many have our digest as any other
        outvoted,  // `digest` has more votes than ours
        tied,      // `digest` has as many: the member whose disk is damaged is wrong
    };
    Kind kind = Kind::agreed;
    StateDigest digest;
    std::vector<PeerId> voters;
};
using Votes = std::map<StateDigest, std::vector<PeerId>>;
[[nodiscard]] VoteResult count_votes(const StateDigest& own, const Votes& votes);

class Repairer {
public:
    class Mediator {
    public:
        virtual ~Mediator() = default;
        [[nodiscard]] virtual bool in_step() const = 0;
        /// Our state is not to be trusted: no round is played until it is mended.
        virtual void on_repair_begun() = 0;
        /// theta[round] is on disk as `repaired` says.
        virtual void on_repaired(const StateStore::Held& repaired) = 0;
        /// Nobody could mend theta[round].
        virtual void on_unrepairable(RoundId round) = 0;
        virtual void publish_for_repair(RoundId round, const StateDigest& digest) = 0;
    };
    struct Parts {
        const Context& context;
        const ChainLog& chain;
        const StateKeeper& keeper;
        const StateStore& store;
        Members& members;
        Jobs& jobs;
        ErrorReport& errors;
        Mediator& mediator;
    };
    explicit Repairer(Parts parts) : m(parts) {}

    [[nodiscard]] bool active() const { return m_repair.has_value(); }
    /// Whether this blob is the state that is being fetched.
    [[nodiscard]] bool fetches(const BlobId& id) const;
    /// 0..1 of the fetch under way; nothing if there is no repair.
    [[nodiscard]] std::optional<double> progress() const;

    /// Counts one comparison for every member and round, as soon as both digests are known.
    void compare(const PeerId& peer);
    void compare_all();
    void begin(const StateStore::Held& target, std::vector<PeerId> sources);
    /// What waits: the next vote of a dispute, the next question for a layer.
    void update_repair();
    void update_votes();

    [[nodiscard]] run::Verdict on_layer_request(const PeerId& from, const run::LayerRequest& request);
    [[nodiscard]] run::Verdict on_layer(const PeerId& from, const run::LayerMessage& message);
    void on_content(BlobPointer content);
    void on_fetch_failed(const BlobId& id);

    [[nodiscard]] std::uint64_t digests_compared() const { return m_digests_compared; }
    [[nodiscard]] std::uint64_t digests_equal() const { return m_digests_equal; }
    [[nodiscard]] std::uint64_t repairs() const { return m_repairs; }
    void check_invariants() const;

private:
    struct Repair {
        StateStore::Held target;
        std::vector<PeerId> sources;
        std::size_t source = 0;  // index of the one asked
        int tries = 0;
        TimePoint asked_at;
        std::vector<Digest> layer;
        bool fetching = false;
        bool adopting = false;
    };
    void vote();
    void verify_own(const StateDigest& other, const std::vector<PeerId>& voters);
    void fetch();
    void give_up();

    const Parts m;
    std::optional<Repair> m_repair;
    bool m_verifying = false;
    std::optional<RoundId> m_disputed;  // a digest differed there
    std::optional<RoundId> m_verified;  // our disk was checked for it
    TimePoint m_voted_at;
    std::uint64_t m_digests_compared = 0, m_digests_equal = 0, m_repairs = 0;
};

}  // namespace potluck::peer
