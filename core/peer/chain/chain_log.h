// The accept lists that this member has taken, in order, and the digests of the states they led to. Lists are committed
// by the run's committee, so there is one chain, which only grows. It is the only writer of the run's part of the
// ledger.
//
// Does not: decide which list is next, or know whether the states are on disk.
// Threads: the peer's. Owns: height, newest list and a cache of hashes; the ledger belongs to the node.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/peer/presence/context.h"
#include "core/run/agreement/keyring.h"
#include "core/run/density.h"
#include "core/run/round_machine.h"

namespace potluck::peer {

/// A list whose link and layout are good. A committed one has its certificate.
struct CheckedList {
    run::CommittedList committed;
    run::AcceptList list;
    Digest hash;
};

/// Drops from the end what one message does not hold.
void keep_what_fits(std::vector<run::CommittedList>& lists);

class ChainLog {
public:
    ChainLog(const Context& context, ledger::Ledger& ledger, const run::Verifier& verifier);

    /// Reads what the ledger holds.
    void load();

    /// How many lists are held that lead to a state: L[0] .. L[height - 1].
    [[nodiscard]] RoundId height() const { return m_height; }
    /// The closing list, which has no entries and certifies the last state of the run, is held as well.
    [[nodiscard]] bool closed() const { return m_closed; }
    [[nodiscard]] const run::AcceptList* head() const { return m_head ? &*m_head : nullptr; }
    /// What holds for L[height]: the manifest, and what the host has changed since.
    [[nodiscard]] const run::RunRules& rules() const { return m_rules; }
    /// How often the host had replaced the committee when L[height] is decided.
    [[nodiscard]] std::uint32_t term() const;
    /// The newest replacement of the committee that is known, in force or not.
    [[nodiscard]] const std::optional<run::SignedAction>& last_replacement() const { return m_replacement; }
    /// By which L[height] is another committee's to decide; null if it is not.
    [[nodiscard]] const run::HostAction* replacement() const;
    /// The host has replaced the committee further back: the lists from this round on are to be retracted.
    [[nodiscard]] std::optional<RoundId> retracted_from() const;
    /// Who decides L[height], sorted.
    [[nodiscard]] std::vector<PeerId> committee() const;
    /// Certificates of those of them whose keys are not persons' own.
    [[nodiscard]] run::Owners committee_owners() const;
    /// The most of every 4,096 entries that contributions to L[height] send.
    [[nodiscard]] std::uint32_t k() const;
    /// And those that were made for the round before and are late.
    [[nodiscard]] std::uint32_t k_late() const { return run::k_before_max(m_context.manifest.recipe, k()); }
    /// What a late contribution to L[height] is measured by; nothing if none may be.
    [[nodiscard]] std::optional<run::RoundBefore> before() const;
    /// Whose contributions stand in the last three lists that have any, sorted; nothing if there is none.
    [[nodiscard]] std::optional<std::vector<PeerId>> recent_contributors() const;
    /// For how many rounds no list has said less than the one before it; counted up to run::rounds_after_fall.
    [[nodiscard]] std::uint64_t rounds_since_k_fell() const;
    /// Digest of theta[round]; nothing beyond the height. That of theta[height] is what this member has computed; the
    /// others are the base of the list that follows.
    [[nodiscard]] std::optional<StateDigest> digest_at(RoundId round) const;
    /// Whether a roll-back goes to a state that was. Of a round before all lists that are held the host's word is
    /// taken: what a quorum makes of it is the base of the next list.
    [[nodiscard]] bool leads_back_to(const run::HostAction& back) const;
    [[nodiscard]] std::optional<run::AcceptList> list_at(RoundId round) const;
    [[nodiscard]] std::optional<run::CommittedList> committed_at(RoundId round) const;
    [[nodiscard]] std::vector<run::CommittedList> committed_from(RoundId first, std::size_t count_max) const;
    /// From this round on no list is missing.
    [[nodiscard]] RoundId kept_from() const { return m_ledger.kept_from(m_context.run); }
    /// Up to `count_max` lists of the rounds from `first` to before `end` that changed the committee.
    [[nodiscard]] std::vector<run::CommittedList> committee_changes(RoundId first, RoundId end,
                                                                    std::size_t count_max) const;
    /// What L[height] names as the table of the lists before it; nothing if it names none.
    [[nodiscard]] std::optional<run::BlobRef> table() const;
    /// The newest list with a table whose bytes are kept here, of rounds up to `round_max`.
    [[nodiscard]] std::optional<RoundId> newest_table(RoundId round_max) const;
    [[nodiscard]] std::vector<ledger::KeptTable> tables() const { return m_ledger.tables(m_context.run); }
    /// Zero for a list that is not held.
    [[nodiscard]] Digest hash_at(RoundId round) const;
    /// Hash of the list before `round`, which a status names; zero for round 0.
    [[nodiscard]] Digest hash_before(RoundId round) const;
    /// In how many lists a computer of `person` stands.
    [[nodiscard]] std::uint64_t rounds_accepted(const PeerId& person) const;
    /// Whether entries of `person` in the next list are a newcomer's: also of whom the jury suspended a while ago.
    [[nodiscard]] bool is_newcomer(const PeerId& person) const;
    /// Whether the next list marks them as of a person that the host trusts.
    [[nodiscard]] bool is_vouched(const PeerId& person) const;
    /// The newest suspension of each person that the lists held here tell of, with its round.
    struct Judged {
        RoundId round;
        run::Suspension suspension;
    };
    [[nodiscard]] const std::map<PeerId, Judged>& suspensions() const { return m_suspensions; }

    /// `accepted` if the bytes are a list of this run that may follow `previous` (null for round 0) under `rules`, with
    /// actions that the host has signed, and names payloads that can exist. Base, votes and contributors' signatures
    /// are for the caller to check.
    [[nodiscard]] run::Verdict read(ByteSpan list, const run::AcceptList* previous, const run::RunRules& rules,
                                    CheckedList& out) const;
    /// The same, and a quorum of the committee that `previous` names has committed it.
    [[nodiscard]] run::Verdict check(const run::CommittedList& committed, const run::AcceptList* previous,
                                     const run::RunRules& rules, CheckedList& out) const;
    /// The bounds that L[height] names if it has the entries of `list` and a median norm of `norm`, 0 where no norm has
    /// a say; nothing if the run's lists have none.
    [[nodiscard]] std::optional<run::Bounds> bounds_after(const run::AcceptList& list, double norm) const;
    /// What the contributor of an entry of L[height] has signed.
    [[nodiscard]] run::ContributionMessage contribution_of(const run::AcceptList& list,
                                                           const run::Accepted& entry) const;
    [[nodiscard]] bool is_signed_by_contributor(const run::AcceptList& list, const run::Accepted& entry) const;
    /// Whether every entry is what its contributor has signed.
    [[nodiscard]] bool is_signed_by_contributors(const run::AcceptList& list) const;
    [[nodiscard]] bool is_signed_by_host(const run::SignedAction& action) const;

    /// Takes the list for round `height`, which led to `result`; the closing list leads to its own base. Nothing has
    /// changed if it fails.
    [[nodiscard]] Status append(const CheckedList& checked, const StateDigest& result);
    /// Goes on far ahead of the newest list (Shortcut).
    [[nodiscard]] Status begin_at(const ledger::Beginning& beginning);
    /// Takes note of what is in the ledger already.
    void replace(const run::SignedAction& replacement);
    /// Drops L[first] and all that follows.
    [[nodiscard]] Status retract(RoundId first);
    /// The newest list led to `result`, not to what is on record.
    [[nodiscard]] Status correct_result(const StateDigest& result);

private:
    struct NamedTable {
        RoundId round;
        Bytes content;
        run::BlobRef ref;
    };
    [[nodiscard]] const NamedTable* due_table() const;
    [[nodiscard]] ByteSpan content_of(const run::AcceptList& list) const;
    void prune(RoundId table);
    void note_suspensions(const run::AcceptList& list);

    const Context& m_context;
    ledger::Ledger& m_ledger;
    const run::Verifier& m_verifier;
    RoundId m_height;
    bool m_closed = false;
    run::RunRules m_rules;
    std::map<PeerId, Judged> m_suspensions;
    std::optional<run::SignedAction> m_replacement;  // the one of the highest term
    std::optional<run::AcceptList> m_head;           // L[height - 1]
    mutable std::map<RoundId, Digest> m_hashes;      // of recent lists
    mutable std::optional<NamedTable> m_table;       // that L[height] names, if it was asked for
};

}  // namespace potluck::peer
