// The decisions of a round, pure: values in, actions out, `now` passed in. It knows who leads, when the window closes,
// when a list can be signed, which list counts and what must be said again.
//
//            window over (leader) / Close / patience            list applied
//   open ------------------------------------------> closed ------------------> open of the next round (enter)
//     ^                                                 |
//     '------------- nobody contributed ----------------'
//
// Leading: the candidates of leader_order() in turn. Who is believed dead, is joining or repairs is skipped at once;
// who is alive has until close + collect + one grace per candidate waited for. Past the end of the order the members
// lead by SHA-256(round, key), each for one grace.
//
// Does not: verify signatures, hold payloads or states, or talk to anybody; core/peer does.
// Threads: one at a time. Owns: values only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/run/accept_list.h"
#include "core/run/message.h"

namespace potluck::run {

inline constexpr std::size_t members_max = 4096;
inline constexpr int heartbeats_to_live = 4;        // silence after which a member is believed dead
inline constexpr int heartbeats_to_repeat = 2;      // between repetitions of what may have been lost
inline constexpr std::uint64_t fork_depth_max = 2;  // rounds up to which the better list beats the longer chain

/// What is the same for the whole run.
struct RunRules {
    RunId run;
    PeerId host;
    std::vector<PeerId> backbones;
    std::vector<PeerId> allowed;  // sorted; empty: anybody
    [[nodiscard]] bool admits(const PeerId& peer) const;
};

/// Whether `list` may follow `previous` (null for round 0): link, leader of its view, admitted contributors. Base and
/// signature are the caller's to check.
[[nodiscard]] Verdict check_link(const AcceptList& list, const AcceptList* previous, const RunRules& rules);

/// One side of a fork: its first list after the last common one, and how many lists follow that common one.
struct Branch {
    std::uint32_t view = 0;
    Digest first;
    std::uint64_t length = 0;
};
/// Up to fork_depth_max rounds deep the lower view wins, then the lower hash; deeper, the longer branch.
[[nodiscard]] bool other_branch_wins(const Branch& ours, const Branch& theirs);

struct RoundSettings {
    RunRules rules;
    PeerId self;
    Role role = Role::volunteer;
    Duration window{0}, collect{0}, grace{0}, heartbeat{0};
};

/// What the machine is told of another member's status.
struct RoundMember {
    Role role = Role::volunteer;
    Phase phase = Phase::joining;
    RoundId round;
    Digest list;
    TokenCount window_tokens;
};

struct RoundActions {
    bool close_window = false;  // contribute; answer with offered() or nothing_offered()
    std::optional<CloseMessage> announce_close;
    std::optional<AcceptList> sign;
    bool repeat_contribution = false;
    std::vector<PeerId> send_list_to;  // L[round - 1]
};

struct Leadership {
    std::uint32_t view = 0;
    PeerId leader;
};

class RoundMachine {
public:
    explicit RoundMachine(RoundSettings settings);

    /// theta[round] is held and nothing newer is known: the round begins. `previous` is L[round - 1].
    void enter(RoundId round, const StateDigest& base, const AcceptList* previous, TimePoint now);
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

    void heard(const PeerId& peer, const RoundMember& member, TimePoint now);
    void lost(const PeerId& peer);
    [[nodiscard]] bool alive(const PeerId& peer, TimePoint now) const;

    /// Verdict of a contribution for this round; `accepted` means: fetch its payload.
    [[nodiscard]] Verdict contribution(const PeerId& peer, const ContributionMessage& message);
    void payload_held(const BlobId& payload);
    /// The payload does not parse: who announced it, that contribution is out for this round.
    std::optional<PeerId> payload_bad(const BlobId& payload);

    [[nodiscard]] Verdict on_close(const PeerId& sender, const CloseMessage& message, TimePoint now);
    /// The owner ends this window before its time.
    void close_early();
    void offered(const ContributionMessage& message, TimePoint now);
    void nothing_offered(TimePoint now);

    /// Whether a list that continues this chain may be applied now: its leader's turn has come, or most of the others
    /// have moved on with it.
    [[nodiscard]] bool is_eligible(const AcceptList& list, TimePoint now) const;
    /// A list of `view` was given up (payloads unobtainable or wrong): only later views count in this round.
    void advance_view(std::uint32_t view);
    [[nodiscard]] std::uint32_t view_min() const { return m_view_min; }

    [[nodiscard]] Leadership leader_at(TimePoint now) const;
    [[nodiscard]] RoundActions tick(TimePoint now);

private:
    struct Contribution {
        ContributionMessage message;
        bool held = false;
        bool bad = false;
    };
    struct Known {
        RoundMember member;
        TimePoint last_seen;
        TimePoint list_sent;
        bool lost = false;
    };

    [[nodiscard]] bool can_lead(const PeerId& peer, TimePoint now) const;
    [[nodiscard]] std::vector<PeerId> ranked_members(TimePoint now) const;
    [[nodiscard]] bool window_over(bool leading, TimePoint now) const;
    [[nodiscard]] bool everybody_in(TimePoint now) const;
    [[nodiscard]] bool any_contribution() const;
    void lead(const Leadership& leadership, TimePoint now, RoundActions& out);
    void pass_lists_on(TimePoint now, RoundActions& out);
    [[nodiscard]] AcceptList make_list(std::uint32_t view) const;

    RoundSettings m_settings;
    std::map<PeerId, Known> m_members;

    bool m_playing = false;
    bool m_over = false;
    RoundId m_round;
    StateDigest m_base;
    Digest m_previous;
    std::vector<PeerId> m_order;
    TimePoint m_entered_at, m_opened_at;
    std::optional<TimePoint> m_closed_at;
    std::map<PeerId, Contribution> m_contributions;
    std::uint32_t m_view_min = 0;
    std::optional<std::uint32_t> m_signed_view;
    bool m_reopened = false;
    bool m_close_due = false;  // a Close or the owner asks for it
    bool m_own_due = false;    // between close_window and offered() or nothing_offered()
    bool m_own_empty = false;  // this window had nothing to offer
    TimePoint m_retry_at;
    TimePoint m_close_sent_at, m_contribution_sent_at;
};

}  // namespace potluck::run
