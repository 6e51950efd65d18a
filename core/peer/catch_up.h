// Getting to where the others are: lists from the history of others, a first state from a checkpoint, and the states in
// between from payloads. Three gaps, closed in this order:
//
//   no state           find_first_state: the newest checkpoint the chain confirms, else theta[0]
//   chain < members    ask_history: the lists from our height on, each with its committee's certificate
//   state < chain      step: payloads or steps of the next lists, or a checkpoint more than rounds_behind_few ahead
//
// Invariant: a list enters the chain only when it is committed, and when the base of the list after it confirms the
// state it leads to; the last list of a history waits to be applied like one that was just decided (rounds.h).
//
// Does not: decide when there is nothing to catch up with, or enter a round.
// Threads: the peer's. Owns: the history request and the checkpoint under way, and which checkpoints were found to be
// bad.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/peer/ballots.h"
#include "core/peer/chain/chain_log.h"
#include "core/peer/chain/moderation.h"
#include "core/peer/payloads/payloads.h"
#include "core/peer/presence/members.h"
#include "core/peer/states/seeder.h"
#include "core/peer/states/state_keeper.h"
#include "core/peer/states/steps.h"

namespace potluck::peer {

/// A member so many rounds behind takes steps, in a run that codes them; one that is farther behind takes a checkpoint.
inline constexpr std::uint64_t rounds_behind_few = 3;
inline constexpr std::uint64_t rounds_fetched_ahead = 8;  // payloads of that many rounds at once while catching up
inline constexpr int graces_to_give_up = 3;               // patience for payloads while a checkpoint is on offer

class CatchUp {
public:
    class Mediator {
    public:
        virtual ~Mediator() = default;
        /// A short way to a round far ahead is looked for, so that no lists in between are asked for.
        [[nodiscard]] virtual bool takes_shortcut() const = 0;
        /// `checked` is in the ledger now, at its end.
        virtual void appended(const CheckedList& checked) = 0;
        /// theta[height] is held.
        virtual void entered() = 0;
        virtual void advance() = 0;
    };
    struct Parts {
        const Context& context;
        ChainLog& chain;
        StateKeeper& keeper;
        const Members& members;
        Payloads& payloads;
        Steps& steps;
        Seeder& seeder;
        const Moderation& moderation;
        Ballots& ballots;
        ErrorReport& errors;
        Mediator& mediator;
    };
    explicit CatchUp(Parts parts) : m(parts) {}

    void start() { m_started_at = m.context.now(); }
    /// The trainer has taken its first step; the time since start() counts once.
    void first_step();

    void find_first_state();
    void ask_history();
    /// The next state from the ledger's list, or a checkpoint if that is nearer.
    void step();

    /// Whether what `list` needs is here, every payload, its step for who is light or behind, or the state that it goes
    /// back to; asks for what is not.
    [[nodiscard]] bool has_inputs_of(const run::AcceptList& list);
    /// Computes the next state; has_inputs_of(list). `fresh` is the list if it is not in the chain yet.
    void apply(const run::AcceptList& list, std::shared_ptr<const CheckedList> fresh);
    /// Its payloads do not come; after a while a checkpoint is taken instead, if one is on offer.
    void wait_for_payloads(const run::AcceptList& list);

    /// A state was computed.
    void applied() { m_stuck_since.reset(); }
    /// A round has begun, or the run is over.
    void caught_up();
    /// The newest state could not be mended: any checkpoint is better than replaying.
    void fell_back() { m_fell_back = true; }
    /// The chain goes on far ahead, so that nothing that is under way is of use.
    void jumped();

    [[nodiscard]] run::Verdict on_history_request(const PeerId& from, const run::HistoryRequest& request);
    [[nodiscard]] run::Verdict on_history(const PeerId& from, const run::HistoryMessage& message);
    /// Picks the one of these to ask next: every other time one that the host vouches for.
    [[nodiscard]] PeerId history_source(const std::vector<PeerId>& ahead);

    /// A state is being fetched, or written.
    [[nodiscard]] bool fetching() const { return m_fetch.has_value(); }
    [[nodiscard]] bool adopting() const { return m_fetch && m_fetch->adopting; }
    [[nodiscard]] bool fetches(const BlobId& id) const { return m_fetch && m_fetch->ref.root == id; }
    /// 0..1 of the fetch under way.
    [[nodiscard]] std::optional<double> progress() const;
    void on_content(BlobPointer content);
    void on_fetch_failed(const BlobId& id, const Error& error);

    [[nodiscard]] const std::optional<Duration>& join_to_first_step() const { return m_join_to_first_step; }

private:
    struct Offer {
        RoundId round;
        run::BlobRef ref;
        bool trusted = false;
        std::vector<PeerId> sources;
    };
    struct Fetch {
        RoundId round;
        run::BlobRef ref;
        bool adopting = false;
        double progress = 0;
        TimePoint moved_at;
    };
    struct HistoryAsked {
        std::optional<PeerId> peer;
        TimePoint at;
        std::uint64_t turn = 0;
    };
    [[nodiscard]] bool is_checkpoint(const run::StatusMessage& status) const;
    [[nodiscard]] std::optional<Offer> best_checkpoint(std::uint64_t round_min) const;
    void choose_checkpoint();
    [[nodiscard]] bool gave_up_checkpoint();
    void forget_fetch();
    void fetch(RoundId round, const run::BlobRef& ref, std::vector<PeerId> sources);
    void adopted(RoundId round, const run::BlobRef& ref, const Status& outcome);
    [[nodiscard]] bool rolls_back_to(const StateStore::Held& state) const;
    void extend_chain(std::vector<CheckedList> lists);
    [[nodiscard]] Digest hash_of(const run::AcceptList& list) const;
    [[nodiscard]] bool takes_step(const run::AcceptList& list) const;
    [[nodiscard]] bool all_here(const run::AcceptList& list) const;
    [[nodiscard]] bool import_list(const CheckedList& checked, const StateDigest& result);

    const Parts m;
    TimePoint m_started_at;
    std::optional<Duration> m_join_to_first_step;
    HistoryAsked m_history;
    std::optional<TimePoint> m_behind_since;
    std::optional<TimePoint> m_stuck_since;  // payloads for the next state do not come nearer
    double m_stuck_progress = 0;
    std::optional<Fetch> m_fetch;
    std::set<BlobId> m_refused;
    std::set<run::BlobRef> m_references_failed;  // a true root may come with a false info-hash
    bool m_fell_back = false;
};

}  // namespace potluck::peer
