// How L[height] comes to be: this member's part in the agreement of the run's committee (core/run/agreement), whose
// messages it takes, checks against what it holds itself, and passes on. Members without a seat do all but vote.
//
//   enter (theta[height] known) --decide: the window is over, enough is in--> proposes or waits for the proposal
//        ^                                                                                |
//        '--- the list enters the chain <--- decision(): a quorum has committed it <------'
//
// A list gets this member's vote only if its base is the digest that this member has computed, its entries are signed
// by their contributors, their payloads are here and parse, newcomers are marked, suspensions have their verdicts,
// losses are of members past their probation, the next committee is one it would choose or can accept, and the window
// was open for half its length. Votes, and the lists that they bind this member to, are on disk before they are sent.
//
// Does not: apply a list, or fetch states. Threads: the peer's. Owns: the agreement of this round and its lists.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/peer/chain/awaited_lists.h"
#include "core/peer/chain/chain_log.h"
#include "core/peer/chain/moderation.h"
#include "core/peer/chain/seats.h"
#include "core/peer/jury/losses.h"
#include "core/peer/jury/verdicts.h"
#include "core/peer/payloads/payloads.h"
#include "core/peer/states/state_keeper.h"
#include "core/peer/states/steps.h"
#include "core/run/agreement/agreement.h"
#include "core/run/density.h"
#include "core/run/round_machine.h"

namespace potluck::peer {

inline constexpr std::size_t ballot_lists_max = 16;        // of one round, one a view; older ones may be proposed again
inline constexpr std::uint32_t views_to_change_seats = 2;  // later ones of a round leave the committee as it is
inline constexpr Duration save_votes_again_after{1'000};

/// A statement with the list that it names, if that is short; members that lack a longer one ask for it.
[[nodiscard]] run::BallotMessage ballot_with(Bytes statement, const Bytes& list);

class Ballots final : private run::ListSource {
public:
    class Mediator {
    public:
        virtual ~Mediator() = default;
        /// Whether the state that this member holds is theta[height], and not in doubt.
        [[nodiscard]] virtual bool may_judge() const = 0;
    };
    struct Parts {
        const Context& context;
        const ChainLog& chain;
        const StateKeeper& keeper;
        const run::RoundMachine& machine;
        const run::Exchange& exchange;
        const run::Keyring& keyring;
        StateStore& store;
        Payloads& payloads;
        const Steps& steps;
        Seats& seats;
        const Moderation& moderation;
        const Verdicts& verdicts;
        const Losses& losses;
        ErrorReport& errors;
        Mediator& mediator;
    };
    explicit Ballots(Parts parts) : m(parts) {}

    /// At start: who lied in an earlier life of this process has no seat in this one.
    void load_evidence();
    /// The chain has a new height, or was read: its list is to be decided.
    void enter();
    /// There is enough for a list.
    void decide();
    /// What does not wait for contributions: a seat changes hands, the host takes the model back, or lets members in
    /// after a window without any.
    void decide_early();
    void tick();
    /// A payload came, or the state: what could not be judged may be now.
    void reconsider();
    [[nodiscard]] run::Verdict receive(const PeerId& from, const run::BallotMessage& message);
    [[nodiscard]] run::Verdict on_list_request(const PeerId& from, const run::ListRequest& request);
    [[nodiscard]] run::Verdict on_list(const run::ListMessage& message);
    /// A committed list for this height from elsewhere.
    void learn(CheckedList committed);

    /// L[height], once a quorum has committed it and it is here.
    [[nodiscard]] const CheckedList* decision() const { return m_decision ? &*m_decision : nullptr; }
    /// Whose turn it is to propose, and whether it is this member's.
    [[nodiscard]] PeerId proposer() const;
    [[nodiscard]] bool proposes() const;
    /// Votes that a list of this round needs; 0 before enter().
    [[nodiscard]] std::size_t quorum() const { return m_settings ? m_settings->committee.quorum() : 0; }
    /// Views that passed without a decision, over all rounds.
    [[nodiscard]] std::uint64_t views_lost() const { return m_views_lost; }
    /// What is on disk, by the key that lied.
    [[nodiscard]] const std::map<PeerId, run::Evidence>& evidence() const { return m_evidence; }
    void check_invariants() const;

private:
    struct KnownList {
        CheckedList checked;
        std::uint64_t named = 0;  // when it was named last, counted in lists
        bool valid = false;       // stays so
        bool invalid = false;
    };
    [[nodiscard]] run::Validity validity(const Digest& list) override;
    [[nodiscard]] std::optional<Digest> list_to_propose() override;

    [[nodiscard]] run::Validity judge(const run::AcceptList& list);
    [[nodiscard]] run::Validity judge_empty(const run::AcceptList& list) const;
    [[nodiscard]] bool lets_in_without_entries(const std::vector<run::SignedAction>& actions) const;
    [[nodiscard]] std::vector<run::Accepted> entries_to_propose() const;
    [[nodiscard]] std::optional<run::Bounds> bounds_of(const run::AcceptList& list,
                                                       const std::vector<PayloadPointer>& payloads) const;
    [[nodiscard]] bool is_worth_fetching(const run::AcceptList& list) const;
    [[nodiscard]] PeerId owner_at(const PeerId& key, RoundId round) const;
    void add_contributions(run::AcceptList& list) const;
    void add_suspensions(run::AcceptList& list) const;
    void add_losses(run::AcceptList& list) const;
    [[nodiscard]] std::uint32_t next_k() const;
    [[nodiscard]] bool bears_out_density(std::uint32_t next) const;
    [[nodiscard]] bool is_far_ahead(const run::AgreementMessage& message) const;
    [[nodiscard]] bool may_pass_on(ByteSpan statement);
    void make_room();
    void remember(const Digest& hash, ByteSpan bytes);
    [[nodiscard]] Bytes list_here(const Digest& hash) const;
    void carry_out(const run::Actions& actions);
    void keep(const run::Evidence& evidence);
    void save();
    void say(const run::AgreementMessage& message) const;
    [[nodiscard]] run::BallotMessage ballot_of(const run::AgreementMessage& message) const;
    [[nodiscard]] Bytes encode_votes(const run::VoteRecord& record) const;
    [[nodiscard]] std::optional<run::VoteRecord> load_votes();
    void conclude();
    void log_transition(const run::VoteRecord& next);
    void log_decision(const run::Certificate& decided) const;

    const Parts m;
    std::optional<run::AgreementSettings> m_settings;
    std::optional<run::Agreement> m_agreement;
    std::map<Digest, KnownList> m_lists;
    AwaitedLists m_awaited;
    std::uint64_t m_lists_named = 0;
    std::vector<Digest> m_bound;                     // lists that this member's votes bind it to
    std::optional<run::Actions::Persist> m_unsaved;  // that could not be written
    std::optional<run::VoteRecord> m_logged;         // the newest
    TimePoint m_save_again;
    std::optional<RoundId> m_unreadable_at;  // the file of votes was damaged when this round was entered
    bool m_may_propose = false;
    bool m_is_early = false;                        // a list without contributions, if there is not enough for another
    std::optional<run::Certificate> m_certificate;  // its list may still be unknown
    std::optional<CheckedList> m_decision;
    std::uint64_t m_views_lost = 0;
    std::map<PeerId, run::Evidence> m_evidence;
    std::set<Digest> m_passed_on;  // hashes of statements, since then
    TimePoint m_passed_on_since;
};

}  // namespace potluck::peer
