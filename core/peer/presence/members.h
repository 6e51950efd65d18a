// Who is in the run: the newest status of everybody heard, over a session of its own or passed on by others; how often
// each verdict fell; and how much one session may say. Bounded, whatever strangers do.
//
// A status counts if its sequence is higher than every one that was heard of its author before, also before it was
// silent or away: nobody can bring back a member by saying again what it once said. While a member's own session
// speaks, what others pass on of it is not needed.
//
// Does not: verify signatures or pass anything on (gossip.h); it keeps the score of those who do.
// Threads: one (the peer's).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/run/message.h"
#include "core/run/recipe.h"
#include "core/run/round_machine.h"

namespace potluck::peer {

/// How many messages a session may bring: `at_once` after a silence, `per_second` for ever.
struct MessageBudget {
    double per_second = 0, at_once = 0;
};

/// All kinds together. A signature takes some 0.1 ms to check, so this is at most 2 % of a core for a session.
inline constexpr MessageBudget session_budget{200, 1'200};

/// The share of one kind: what an honest session needs at its worst, and never more than half of all, so that a flood
/// of one kind leaves room for the others.
[[nodiscard]] constexpr MessageBudget budget_of(run::MessageKind kind) {
    switch (kind) {
        // Its own at every heartbeat and change, and others' at the pace of gossip.h.
        case run::MessageKind::status: return {50, 300};
        case run::MessageKind::close:
            return {10, 60};  // rounds of a tenth of a second, each closed once
        // Everybody's of a round, within seconds, where the session is with the hub of a star.
        case run::MessageKind::contribution:
        case run::MessageKind::payload_request: return {100, 600};
        // Seven members with four messages a view each, rounds of a tenth of a second, and repetitions.
        case run::MessageKind::ballot: return {100, 600};
        // Asked one by one, and who wakes up asks at once for all that it has missed; each answer is up to 900 KiB.
        case run::MessageKind::history_request:
        case run::MessageKind::committee_request: return {2, 24};
        case run::MessageKind::history:
        case run::MessageKind::committee: return {2, 8};
        // Seven seats a round, and all rounds that are kept at once for who has asked.
        case run::MessageKind::step: return {70, 300};
        case run::MessageKind::step_request: return {4, 32};
        // Seven jurors, a few persons each; and all that no list holds yet, when a session begins.
        case run::MessageKind::verdict: return {10, 300};
        // Fourteen members measure a state; and all that no list holds yet (losses_of_state_max), when a session
        // begins.
        case run::MessageKind::loss: return {20, 300};
        // One list a view, also where rounds of many members are short.
        case run::MessageKind::list_request:
        case run::MessageKind::list: return {4, 16};
        case run::MessageKind::layer_request: return {4, 32};  // six tries of a repair, in parts of 16,384 hashes
        case run::MessageKind::layer: return {4, 32};
        case run::MessageKind::goodbye: return {1, 4};
        // All that no list holds yet (actions_waiting_max), when a session begins or a host bans many at once.
        case run::MessageKind::host_action: return {10, 300};
    }
    return {1, 4};  // a number that no kind has
}

inline constexpr std::size_t message_kinds = static_cast<std::size_t>(run::last_message_kind) + 1;
inline constexpr std::uint32_t offences_max = 50;  // malformed, forged or flooding messages of one session
inline constexpr Duration offender_refused_for{600'000};
inline constexpr Duration backlog_max{120'000};  // a session that nobody answers for longer has ended
/// Members that are known only from what others pass on, and that the host does not vouch for. Of a larger run that is
/// a sample: nothing that members agree on is decided by who is in it, so what a member hears, keeps and looks through
/// at every tick need not grow with the run. Anybody can make keys, so they must not take the room of those with a
/// session either.
inline constexpr std::size_t relayed_members_max = 512;
/// Highest sequences that are kept of members who are not here, so that nobody can replay their statuses.
inline constexpr std::size_t sequences_max = 2 * run::members_max;

/// Tokens per second of one computer. The fastest that trains the smallest model has some millions.
inline constexpr std::uint32_t tokens_per_second_max = 100'000'000;
/// Windows whose tokens may be on offer at once, those of earlier rounds that no list accepted included.
inline constexpr std::uint64_t windows_offered_max = 16;

/// Whether a status names figures that a computer in this run can have.
[[nodiscard]] bool is_credible(const run::StatusMessage& status, const run::Recipe& recipe);

/// Whether who says this takes part in the round that the chain of this height has reached, or in the one before.
[[nodiscard]] bool is_in_step(const run::StatusMessage& status, RoundId height);

struct Member {
    run::StatusMessage status;
    TimePoint last_seen;                    // when its sequence grew last
    std::optional<RoundId> compared;        // newest round whose digest was compared with ours
    std::optional<TimePoint> heard_itself;  // over its own session; only then can it be asked for anything
    std::optional<PeerId> through;          // the neighbour that told of it first, of those that are neighbours still
};

/// Over whose session a status came.
enum class Source { itself, others };

struct Refusal {
    run::MessageKind kind = run::MessageKind::status;
    run::Verdict verdict = run::Verdict::accepted;
    std::uint64_t count = 0;
};

class Members {
public:
    /// `trusted` are persons that the host vouches for, sorted; there is always room for them, each with up to
    /// devices_per_person_max computers.
    explicit Members(std::vector<PeerId> trusted = {}) : m_trusted(std::move(trusted)) {}

    void joined(const PeerId& peer);
    void left(const PeerId& peer);
    /// False if `peer` has used up what a session may say, of this kind or of all.
    [[nodiscard]] bool admit_message(const PeerId& peer, run::MessageKind kind, TimePoint now);

    /// This computer slept or stood still for `silence`: what neighbours said meanwhile comes at once and is no flood.
    void was_away(Duration silence);

    /// accepted; stale or repeated for a sequence that is not new; repeated for what its own session tells, too;
    /// no_room beyond members_max or relayed_members_max. The certificate was verified. `silence`: after which a
    /// session does not speak for itself.
    [[nodiscard]] run::Verdict take(const PeerId& peer, const run::StatusMessage& status, Source source, TimePoint now,
                                    Duration silence = run::heartbeats_to_live * Duration{1'000});
    /// Whether a status of `peer`, a computer of `person`, would be kept if it is news.
    [[nodiscard]] bool has_room_for(const PeerId& peer, const PeerId& person, Source source) const;
    /// `neighbour` has brought `peer`'s newest status. While another one that did so is a neighbour, that one stays the
    /// one through which it is heard.
    void heard_through(const PeerId& peer, const PeerId& neighbour);
    /// It is not here any more. Its sequence is kept.
    void remove(const PeerId& peer) {
        m_members.erase(peer);
        m_is_sample.reset();
    }
    [[nodiscard]] Member* find(const PeerId& peer);
    [[nodiscard]] const std::map<PeerId, Member>& all() const { return m_members; }
    /// Those with a session of their own, who can be asked.
    [[nodiscard]] std::vector<PeerId> neighbours() const;
    /// There is no room for more of those that only others tell of: the run may have many more members.
    [[nodiscard]] bool is_sample() const;
    /// Who is here and has no session with this member.
    [[nodiscard]] std::vector<PeerId> heard_through_others() const;
    [[nodiscard]] bool is_neighbour(const PeerId& peer) const { return m_sessions.contains(peer); }
    /// The host vouches for others now; `trusted` is sorted.
    void trust(std::vector<PeerId> trusted) {
        m_trusted = std::move(trusted);
        m_is_sample.reset();
    }
    [[nodiscard]] bool trusts(const PeerId& peer) const;
    /// Whose computer `peer` is, as it has said and its person has signed; its own person if nothing was heard of it.
    [[nodiscard]] run::DeviceCertificate certificate_of(const PeerId& peer) const;
    [[nodiscard]] PeerId person_of(const PeerId& peer) const;
    /// The team that the person of `peer` claims: what that computer says, or else another of them that is here.
    [[nodiscard]] std::string team_of(const PeerId& peer) const;
    /// Highest sequence that was ever heard of `peer`.
    [[nodiscard]] std::optional<std::uint64_t> sequence_of(const PeerId& peer) const;
    /// Drops those of whom nothing new was heard for longer than `patience` allows each.
    template <class Patience>
    void expire(TimePoint now, const Patience& patience) {
        std::erase_if(m_members, [&](const auto& one) { return now - one.second.last_seen > patience(one.first); });
        m_is_sample.reset();
    }

    /// Counts a verdict; true if the neighbour has now offended often enough to be refused. What it passed on for
    /// others may be too much without being its fault.
    [[nodiscard]] bool count(const PeerId& peer, run::MessageKind kind, run::Verdict verdict, Source source);
    [[nodiscard]] std::vector<std::pair<run::Verdict, std::uint64_t>> verdicts() const;
    /// Everything that was not accepted.
    [[nodiscard]] std::vector<Refusal> refusals() const;

private:
    struct Bucket {
        double tokens = 0;
        TimePoint filled;
        void fill(const MessageBudget& budget, TimePoint now);
    };
    struct Session {
        Bucket all;
        std::array<Bucket, message_kinds> kinds;
        std::uint32_t offences = 0;
    };
    static constexpr std::size_t verdict_kinds = static_cast<std::size_t>(run::Verdict::flood) + 1;
    struct Heard {
        std::uint64_t sequence = 0;
        run::DeviceCertificate certificate;
    };
    using HeardOf = std::map<PeerId, Heard>;
    [[nodiscard]] bool is_relayed(const PeerId& peer) const;
    [[nodiscard]] HeardOf::iterator oldest_absent();
    void keep(const PeerId& peer, const run::StatusMessage& status);

    std::vector<PeerId> m_trusted;
    std::map<PeerId, Member> m_members;
    HeardOf m_heard;
    std::map<PeerId, Session> m_sessions;
    /// Counted anew once members, sessions or trust have changed: what a stranger says under a key that finds no room
    /// costs less than to look at its signature.
    mutable std::optional<bool> m_is_sample;
    std::array<std::array<std::uint64_t, verdict_kinds>, message_kinds> m_verdicts{};
};

}  // namespace potluck::peer
