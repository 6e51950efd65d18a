// How a committee decides the list of one round: algorithm 1 of Tendermint (Buchman, Kwon, Milosevic, "The latest
// gossip on BFT consensus", arXiv 1807.04938). Its height is our round, its round our view, its value a list, named by
// hash.
//
//             proposal, valid             q prevotes for it                q precommits for it, in any view
//   propose ------------------> prevote -------------------> precommit ----------------------------------> decided
//      |        time-out: nil      |    nil or time-out: nil      |
//      '<------------------------- next view: time-out of precommits, or f + 1 members are there already
//
// A member that precommits a list is locked on it: in later views it prevotes another one only if a newer polka (q
// prevotes) shows that the lock's list cannot have been committed. Durability: messages leave this class only once the
// record that holds them is on disk (`persist`, then `persisted`); restored from that record it never votes twice.
//
// Does not: send, write, read a clock, or hold lists; whether a list is valid is asked of a ListSource. Non-members use
// it as well: they never vote, and learn what was decided.
// Threads: one at a time. Owns: values only; borrows keyring and source, which must outlive it.
#pragma once

#include <array>
#include <deque>

#include "core/base/clock.h"
#include "core/run/agreement/vote_book.h"
#include "core/run/agreement/vote_record.h"

namespace potluck::run {

enum class Validity { valid, invalid, unknown };  // unknown: not all of it is here yet

/// Where lists are: the caller's side.
class ListSource {
public:
    virtual ~ListSource() = default;
    /// Whether the list of this hash may follow this member's chain. What was valid stays valid in this round.
    [[nodiscard]] virtual Validity validity(const Digest& list) = 0;
    /// The hash of a list of one's own, valid and ready to be sent beside the proposal; none if there is none yet.
    [[nodiscard]] virtual std::optional<Digest> list_to_propose() = 0;
};

/// Time-outs of view 0; each view's are longer by `growth`, so that some view is long enough for any network.
struct AgreementTimes {
    Duration propose{3'000}, prevote{1'000}, precommit{1'000};
    Duration growth{500};
    Duration repeat{2'000};  // between repetitions of what may have been lost
};

struct AgreementSettings {
    Instance instance;
    Committee committee;
    Digest previous;  // hash of L[round - 1]
    AgreementTimes times;
};

struct Actions {
    VoteVerdict verdict = VoteVerdict::accepted;  // of the message received
    /// Write this durably, in place of the record before it; then call persisted(number) for the messages that wait.
    struct Persist {
        std::uint64_t number = 0;
        VoteRecord record;
    };
    std::optional<Persist> persist;
    std::vector<AgreementMessage> send;  // to everybody; what they say is on disk
    std::vector<Evidence> evidence;
    std::optional<Certificate> decided;  // once
};

class Agreement {
public:
    /// `saved` is the last record on disk. If it is of a later instance (the chain was lost and the record was not),
    /// this member does not know how it voted here, and abstains.
    Agreement(AgreementSettings settings, const Keyring& keyring, ListSource& lists, std::optional<VoteRecord> saved);

    /// This member is ready for the round to be decided. Until then it only listens, unless f + 1 others have begun.
    [[nodiscard]] Actions start(TimePoint now);
    [[nodiscard]] Actions receive(const AgreementMessage& message, TimePoint now);
    /// Record `number` is on disk, and with it all before it.
    [[nodiscard]] Actions persisted(std::uint64_t number, TimePoint now);
    /// The source has an answer that it did not have: a list became known, or its own is ready.
    [[nodiscard]] Actions reconsider(TimePoint now);
    [[nodiscard]] Actions tick(TimePoint now);
    /// When tick() has something to do next.
    [[nodiscard]] std::optional<TimePoint> wake_at() const;

    [[nodiscard]] std::uint32_t view() const { return m_record.view; }
    [[nodiscard]] const std::optional<Certificate>& decision() const { return m_decision; }
    [[nodiscard]] const PeerId& proposer(std::uint32_t view) const { return m_book.proposer(view); }
    /// Whether this member votes in this round.
    [[nodiscard]] bool votes() const { return m_votes; }
    [[nodiscard]] std::uint64_t count(VoteVerdict verdict) const { return m_counts[static_cast<std::size_t>(verdict)]; }

private:
    enum class Phase { idle, propose, prevote, precommit };
    struct Unsaved {
        std::uint64_t number = 0;
        AgreementMessage message;
    };

    [[nodiscard]] VoteVerdict take(const AgreementMessage& message, TimePoint now, Actions& out);
    [[nodiscard]] VoteVerdict take_certificate(const Certificate& certificate, TimePoint now, Actions& out);
    void restore(const VoteRecord& saved);
    void apply_rules(TimePoint now, Actions& out);
    void decide(TimePoint now, Actions& out);
    void commit(const Certificate& certificate, TimePoint now, Actions& out);
    bool follow(TimePoint now);
    void begin(TimePoint now);
    void enter(std::uint32_t view, std::vector<AgreementMessage> entry, TimePoint now);
    bool propose();
    bool prevote_proposal();
    bool adopt_polka();
    bool precommit();
    void note_polka(const Certificate& polka);
    void schedule(TimePoint now, Actions& out);
    void repeat(TimePoint now, Actions& out);
    void vote(Step step, const std::optional<Digest>& list);
    void abstain();
    [[nodiscard]] Duration long_for(Duration first) const { return first + m_settings.times.growth * m_record.view; }

    AgreementSettings m_settings;
    const Keyring& m_keyring;
    ListSource& m_lists;
    VoteBook m_book;
    bool m_votes;
    bool m_restored = false;  // the record's view may be one in which nothing was said yet

    Phase m_phase = Phase::idle;
    VoteRecord m_record;                 // view, lock, valid list and own messages live here
    std::optional<Certificate> m_polka;  // the newest seen; its list may still be unknown
    std::optional<TimePoint> m_propose_due, m_prevote_due, m_precommit_due;
    TimePoint m_repeat_at;
    std::deque<Unsaved> m_unsaved;
    std::uint64_t m_last_number = 0, m_asked_number = 0;
    std::optional<Certificate> m_decision;
    std::array<std::uint64_t, vote_verdicts> m_counts{};
};

}  // namespace potluck::run
