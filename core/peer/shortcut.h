// The short way to a round far ahead, for newcomers and for members that slept for long: the lists that changed the
// committee, one after the other, each proved by the committee before it; then the newest list with a table
// (core/run/credit_table.h) and the one before it; then the table. The chain goes on from there, and the lists
// between are never seen.
//
//   none --far behind--> asking --lists, page by page--> fetching the table --here, and what the list names--> jumped
//     ^                    |                                  |
//     '--- another's turn -+--- no answer, a bad one, no way -'
//
// What is not proved is not kept: a member that lies costs a few heartbeats, then another one is asked.
//
// Does not: fetch a state or the lists after the jump (catch_up.h).
// Threads: the peer's. Owns: the way under way, and which tables are published.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/peer/chain/chain_log.h"
#include "core/peer/presence/members.h"
#include "core/run/agreement/chain_walk.h"

namespace potluck::peer {

/// Other messages to one neighbour are shorter than this; while more waits for it, no history is sent to it.
inline constexpr std::size_t history_unsent_max = 64 * 1024;
/// Lists that changed the committee, of one way: thousands of changes of a run that lasts for years.
inline constexpr std::size_t shortcut_bytes_max = 64 * 1024 * 1024;
inline constexpr Duration table_stalled_after{20'000};
inline constexpr Duration shortcut_pause{60'000};  // after all who are far ahead, or so many, were asked in vain
inline constexpr unsigned shortcut_tries_max = 8;
/// Anybody can say to be far ahead: for so many tries lists in between are not asked for, then they are.
inline constexpr unsigned shortcut_tries_alone = 3;

class Shortcut {
public:
    class Mediator {
    public:
        virtual ~Mediator() = default;
        /// No job and no repair is under way.
        [[nodiscard]] virtual bool may_jump() const = 0;
        /// The newest checkpoint that this member offers; a table of a later round would lead to no state.
        [[nodiscard]] virtual RoundId checkpoint_offered() const = 0;
        /// One of these, everybody in turn.
        [[nodiscard]] virtual PeerId history_source(const std::vector<PeerId>& ahead) = 0;
        /// The chain goes on at another place. Lists that were never seen held `accepted` contributions of this member.
        virtual void jumped(std::uint64_t accepted) = 0;
    };
    struct Parts {
        const Context& context;
        ChainLog& chain;
        const run::Verifier& verifier;
        const Members& members;
        ErrorReport& errors;
        Mediator& mediator;
    };
    explicit Shortcut(Parts parts) : m(parts) {}

    void tick();
    /// A way is being looked for, so that no lists in between are asked for.
    [[nodiscard]] bool active() const { return m_way && (m_way->goal || m_tries <= shortcut_tries_alone); }
    [[nodiscard]] run::Verdict on_request(const PeerId& from, const run::CommitteeRequest& request) const;
    [[nodiscard]] run::Verdict on_answer(const PeerId& from, const run::CommitteeMessage& answer);
    void blob_here(const BlobId& id, const BlobPointer& content);
    void blob_failed(const BlobId& id);
    /// Offers the tables that the ledger keeps, and forgets those that it does not.
    void publish_tables();

private:
    /// The list with a table that the way leads to.
    struct Goal {
        RoundId round;
        run::BlobRef table;
        StateDigest base;
    };
    struct Way {
        PeerId peer;
        TimePoint moved_at;
        double progress = 0;
        run::ChainWalk walk;
        std::vector<run::CommittedList> lists;  // proved, in the order of their rounds
        std::size_t bytes = 0;
        std::optional<Goal> goal;
    };

    [[nodiscard]] std::vector<PeerId> far_ahead() const;
    void begin(const PeerId& peer);
    void ask();
    void give_up();
    [[nodiscard]] run::Verdict take(const run::CommittedList& one);
    void fetch_table();
    [[nodiscard]] std::uint64_t accepted_since(const run::CreditTable& table) const;

    const Parts m;
    std::optional<Way> m_way;
    std::set<PeerId> m_in_vain;  // asked, since the last pause
    unsigned m_tries = 0;        // since then
    TimePoint m_again_at;
    std::map<RoundId, BlobId> m_published;
};

}  // namespace potluck::peer
