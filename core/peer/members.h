// Who else is in the run: the last status of everybody heard, how often each verdict fell, and how much one neighbour
// may say in a second. Bounded, whatever strangers do.
// Does not: verify signatures or judge content; it keeps the score of those who do.
// Threads: one (the peer's).
#pragma once

#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/run/message.h"
#include "core/run/round_machine.h"

namespace potluck::peer {

inline constexpr double messages_per_second_max = 200;  // of one neighbour, sustained
inline constexpr double messages_burst_max = 600;
inline constexpr std::uint32_t offences_max = 50;  // malformed, forged or flooding messages of one session
inline constexpr Duration offender_refused_for{600'000};

struct Member {
    run::StatusMessage status;
    TimePoint last_seen;
    std::optional<RoundId> compared;  // newest round whose digest was compared with ours
};

class Members {
public:
    /// A session begins: its sequence numbers start anew.
    void joined(const PeerId& peer);
    void left(const PeerId& peer);
    /// False if `peer` has used up what one neighbour may say.
    [[nodiscard]] bool admit_message(const PeerId& peer, TimePoint now);

    /// accepted, or stale for a sequence number that is not new, or flood beyond members_max.
    [[nodiscard]] run::Verdict take(const PeerId& peer, const run::StatusMessage& status, TimePoint now);
    void remove(const PeerId& peer);
    [[nodiscard]] Member* find(const PeerId& peer);
    [[nodiscard]] const std::map<PeerId, Member>& all() const { return m_members; }
    [[nodiscard]] std::vector<PeerId> ids() const;
    /// Drops who was not heard for `silence`.
    void expire(TimePoint now, Duration silence);

    /// Counts a verdict; true if the neighbour has now offended often enough to be refused.
    [[nodiscard]] bool count(const PeerId& peer, run::Verdict verdict);
    [[nodiscard]] std::vector<std::pair<run::Verdict, std::uint64_t>> verdicts() const;

private:
    struct Session {
        double tokens = messages_burst_max;
        TimePoint filled;
        std::uint32_t offences = 0;
    };
    static constexpr std::size_t verdict_kinds = static_cast<std::size_t>(run::Verdict::flood) + 1;
    std::map<PeerId, Member> m_members;
    std::map<PeerId, Session> m_sessions;
    std::array<std::uint64_t, verdict_kinds> m_verdicts{};
};

}  // namespace potluck::peer
