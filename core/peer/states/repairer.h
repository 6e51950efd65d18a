// A state that is not the certified one, mended. Every list names the digest that the committee has computed for the
// state it starts from; a member that has another fetches the pieces that differ. The piece layer of the true state
// says which those are, and is itself checked against the digest.
//
//   begin -> layer asked -> fetching -> adopting -> on_repaired
//               '--- tries used up, or alone for repair_alone_max -> on_unrepairable
//
// Digests in statuses decide nothing; they are compared and counted, for people. One that differs from ours makes this
// member check its own bytes, and compute them anew if they are damaged.
//
// Does not: change which state is the newest or what the chain says; `Peer` does when it is told.
// Threads: the peer's, except the work of its jobs. Owns: the repair under way, layers of held states, the counts.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/peer/chain/chain_log.h"
#include "core/peer/presence/members.h"
#include "core/peer/seams/jobs.h"
#include "core/peer/states/state_keeper.h"

namespace potluck::peer {

inline constexpr int repair_tries_max = 6;           // questions for a layer, two heartbeats apart
inline constexpr Duration repair_alone_max{60'000};  // without anybody to ask
inline constexpr std::size_t layer_askers_max = 16;  // that wait while a state is hashed
/// Rounds after which a newcomer's word alone makes this member verify its states again.
inline constexpr std::uint64_t rounds_between_newcomers_checks = 10;
inline constexpr std::size_t layers_cached_max = 4;  // at most 128 KiB each; older states are asked for by nobody

class Repairer {
public:
    class Mediator {
    public:
        virtual ~Mediator() = default;
        /// Our state is not to be trusted: no round is played until it is mended.
        virtual void on_repair_begun() = 0;
        /// theta[round] is on disk as `repaired` says.
        virtual void on_repaired(const StateStore::Held& repaired) = 0;
        /// theta[round] is damaged, or computed from damaged bytes, and has to be computed anew from an older state.
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
    /// Another digest was heard, and our own bytes are being verified.
    [[nodiscard]] bool checks_own() const { return m_checks_own; }
    /// Whether this blob is the state that is being fetched.
    [[nodiscard]] bool fetches(const BlobId& id) const;
    /// 0..1 of the fetch under way; nothing if there is no repair.
    [[nodiscard]] std::optional<double> progress() const;

    /// Counts one comparison for every member and round, as soon as both digests are known.
    void compare(const PeerId& peer);
    void compare_all();
    void begin(const StateStore::Held& target, std::vector<PeerId> sources);
    /// What waits: the next question for a layer.
    void update_repair();

    [[nodiscard]] run::Verdict on_layer_request(const PeerId& from, const run::LayerRequest& request);
    [[nodiscard]] run::Verdict on_layer(const PeerId& from, const run::LayerMessage& message);
    void on_content(BlobPointer content);
    void on_fetch_failed(const BlobId& id);

    [[nodiscard]] std::uint64_t digests_compared() const { return m_digests_compared; }
    [[nodiscard]] std::uint64_t digests_equal() const { return m_digests_equal; }
    [[nodiscard]] std::uint64_t repairs() const { return m_repairs; }
    /// A state was mended by computing it anew.
    void count_recomputed() { ++m_repairs; }
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
    struct LayerAsked {
        PeerId by;
        std::uint32_t first = 0;
    };
    void keep_layer(const StateDigest& state, std::vector<Digest> layer);
    void send_layer(const StateDigest& state, const std::vector<Digest>& layer, const LayerAsked& asked) const;
    [[nodiscard]] bool is_worth_a_check(const PeerId& person, RoundId round) const;
    void check_own();
    void fetch();
    void give_up();

    const Parts m;
    std::optional<Repair> m_repair;
    std::map<StateDigest, std::vector<Digest>> m_layers;              // computed and found right
    std::map<StateDigest, std::vector<LayerAsked>> m_layers_awaited;  // being computed
    bool m_checks_own = false;
    std::optional<RoundId> m_checked;  // our own bytes were checked in this round
    std::uint64_t m_digests_compared = 0, m_digests_equal = 0, m_repairs = 0;
};

}  // namespace potluck::peer
