// The window of a round, pure: values in, actions out, `now` passed in. It knows when the window closes, whose
// contributions are in, when there is enough for a list, and what must be said again. What becomes L[r] is decided by
// the committee (core/run/agreement).
//
//            window over (proposer) / Close / patience        everybody in, or late: decide
//   open ---------------------------------------------> closed ----------------------------> open of the next (enter)
//     ^                                                   |
//     '--------------- late, and nothing is held ---------'
//
// Does not: verify signatures, hold payloads or states, vote, or talk to anybody; core/peer does.
// Threads: one at a time. Owns: values only.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/run/accept_list.h"
#include "core/run/message.h"
#include "core/run/offers.h"

namespace potluck::run {

inline constexpr std::size_t members_max = 4096;
inline constexpr int heartbeats_to_live = 4;    // silence after which a member is believed dead
inline constexpr int heartbeats_to_repeat = 2;  // between repetitions of what may have been lost
/// One round in so many waits for members that no list knows yet. A member that is slower or further away than the
/// others is accepted then, and waited for from then on; one that only pretends to train delays every other round at
/// most.
inline constexpr std::uint64_t newcomers_awaited_every = 2;
/// Contributors that no list knows and that are remembered without a session: as many as have places in a round.
inline constexpr std::size_t unknown_contributors_max = newcomers_max;

struct RoundSettings {
    PeerId self;
    Role role = Role::volunteer;
    Duration window{0}, collect{0}, heartbeat{0};
};

/// What the machine is told of another member's status.
struct RoundMember {
    Role role = Role::volunteer;
    Phase phase = Phase::joining;
    RoundId round;
    TokenCount window_tokens;
    bool vouched = false;  // the host vouches for its person
};

/// What the round before was, for those who are late with their contributions to it.
struct RoundBefore {
    StateDigest base;
    std::vector<PeerId> accepted;  // whose contributions to it stand in its list; sorted
};

/// What the lists say of those that take part.
struct RoundHistory {
    Digest previous;                           // hash of the list before: decides the lottery of newcomers
    std::optional<std::vector<PeerId>> known;  // whose contributions stand in the last lists, sorted; nothing: no list
};

struct RoundActions {
    bool close_window = false;  // contribute; answer with offered() or nothing_offered()
    std::optional<CloseMessage> announce_close;
    bool decide = false;  // there is enough for a list; said at every tick from then on
    bool repeat_contribution = false;
    std::vector<PeerId> send_list_to;  // L[round - 1]
};

class RoundMachine {
public:
    explicit RoundMachine(RoundSettings settings);

    /// theta[round] is held and nothing newer is known: the round begins. `committee` decides it. Its list may hold
    /// late contributions to the round before if that is named.
    void enter(RoundId round, const StateDigest& base, std::vector<PeerId> committee, TimePoint now,
               std::optional<RoundBefore> before = std::nullopt, RoundHistory history = {});
    /// Catching up or repairing: no round is being played.
    void leave();
    /// The run is over with theta[round]: nothing is played, but the last list is still passed on.
    void end(RoundId round, TimePoint now);
    [[nodiscard]] bool playing() const { return m_playing; }
    [[nodiscard]] RoundId round() const { return m_round; }
    [[nodiscard]] bool closed() const { return m_closed_at.has_value(); }
    [[nodiscard]] TimePoint opened_at() const { return m_opened_at; }
    /// The last window passed without a contribution and was opened again.
    [[nodiscard]] bool reopened() const { return m_reopened; }
    /// The window was open for at least half its length: a list before that would shut out who is not that fast.
    [[nodiscard]] bool open_long_enough(TimePoint now) const;

    void heard(const PeerId& peer, const RoundMember& member, TimePoint now);
    void lost(const PeerId& peer);
    [[nodiscard]] bool alive(const PeerId& peer, TimePoint now) const;

    using Signature = SignedContribution::Signature;
    /// Whether a newcomer's contribution would find a place if its signature were good; true of all others.
    [[nodiscard]] bool has_place_for(const PeerId& peer, const ContributionMessage& message,
                                     const OfferOrigin& origin) const;
    /// Verdict of a contribution for this round, or a late one for the round before, whose signature was checked and
    /// whose sender the run admits; `accepted` means: fetch its payload.
    [[nodiscard]] Verdict contribution(const PeerId& peer, const ContributionMessage& message,
                                       const Signature& signature, const OfferOrigin& origin = {});
    /// Payloads of newcomers' contributions that gave way to others since the last call; nobody wants them any more.
    [[nodiscard]] std::vector<BlobId> take_displaced();
    /// Whether this very contribution was accepted before, so that its signature need not be checked again.
    [[nodiscard]] bool holds(const PeerId& peer, const ContributionMessage& message, const Signature& signature) const;
    /// The contribution for this list that names `payload`, as its author signed it.
    [[nodiscard]] std::optional<SignedContribution> contribution_of(const BlobId& payload) const;
    /// The payload is here and was made by `author`: anyone else who has offered it is out for this round, and named.
    std::vector<PeerId> payload_held(const BlobId& payload, const PeerId& author);
    /// The payload does not parse: all who have offered it are out for this round. Names one who was not out before.
    std::optional<PeerId> payload_bad(const BlobId& payload);
    /// The contributions whose payloads are held, as a list names them; nobody is marked as a newcomer. Of who is late
    /// with one and in time with the next, the next.
    [[nodiscard]] std::vector<Accepted> held_entries() const;

    [[nodiscard]] Verdict on_close(const PeerId& sender, const CloseMessage& message, TimePoint now);
    /// The owner ends this window before its time.
    void close_early();
    void offered(const ContributionMessage& message, const Signature& signature, TimePoint now);
    void nothing_offered(TimePoint now);

    /// `proposes`: it is this member's turn to propose a list.
    [[nodiscard]] RoundActions tick(TimePoint now, bool proposes);

private:
    struct Known {
        RoundMember member;
        TimePoint last_seen;
        TimePoint list_sent;
        bool lost = false;
    };

    [[nodiscard]] bool window_over(bool proposes, TimePoint now) const;
    [[nodiscard]] bool everybody_in(TimePoint now) const;
    [[nodiscard]] bool is_known(const PeerId& peer) const;
    [[nodiscard]] bool is_awaited(const PeerId& peer) const;
    [[nodiscard]] bool is_late(const ContributionMessage& message) const;
    [[nodiscard]] std::size_t unknown_contributors() const;
    void note_contributor(const PeerId& peer, RoundId round);
    void collect(bool proposes, TimePoint now, RoundActions& out);
    void pass_lists_on(TimePoint now, RoundActions& out);

    RoundSettings m_settings;
    std::map<PeerId, Known> m_members;

    bool m_playing = false;
    bool m_over = false;
    RoundId m_round;
    StateDigest m_base;
    std::vector<PeerId> m_committee;
    TimePoint m_entered_at, m_opened_at;
    std::optional<TimePoint> m_closed_at;
    Offers m_offers;  // for this round
    Offers m_late;    // for the round before
    std::optional<RoundBefore> m_before;
    std::optional<std::vector<PeerId>> m_known;  // RoundHistory
    std::map<PeerId, RoundId> m_contributors;    // newest round that each was heard to contribute to, late or not
    bool m_ready = false;
    bool m_reopened = false;
    bool m_close_due = false;  // a Close or the owner asks for it
    bool m_own_due = false;    // between close_window and offered() or nothing_offered()
    bool m_own_empty = false;  // this window had nothing to offer
    TimePoint m_retry_at;
    TimePoint m_close_sent_at, m_contribution_sent_at;
};

}  // namespace potluck::run
