// What this member says of itself, and when: at every heartbeat, at once where something has changed, and at every
// third heartbeat while nothing is new (gossip.h). Statuses are numbered by the computer's clock, so that numbers go on
// growing over restarts, and end in a mark of this process, by which another one with the same key shows.
//
// Does not: know what the parts do; Peer gathers that (StatusFacts).
// Threads: the peer's. Owns: the numbers, name and team, whether this member is about to go, and since when it is
// alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "core/peer/chain/chain_log.h"
#include "core/peer/presence/members.h"
#include "core/peer/status_facts.h"
#include "core/run/agreement/keyring.h"
#include "core/run/round_machine.h"

namespace potluck::peer {

/// A status's sequence is milliseconds since 1970 times this, and what tells this process from another with its key.
inline constexpr std::uint64_t process_marks = 1U << 20U;
/// How far beyond an earlier life's statuses a computer goes whose clock was set back: 50 days, in milliseconds.
inline constexpr std::uint64_t clock_jump = 1ULL << 32U;
inline constexpr Duration asleep_min{2'000};          // without a tick, which comes ten times a second
inline constexpr Duration status_age_max{3'600'000};  // an older one does not show that its author is here
inline constexpr Duration elsewhere_for{60'000};      // another process of ours keeps showing itself while it runs

class OwnStatus {
public:
    class Mediator {
    public:
        virtual ~Mediator() = default;
        /// All that is to be said, with what facts() fills in.
        [[nodiscard]] virtual StatusFacts all_facts() const = 0;
    };
    struct Parts {
        const Context& context;
        const ChainLog& chain;
        const run::RoundMachine& machine;
        Members& members;
        const run::Verifier& verifier;
        const std::function<std::int64_t()>& unix_clock;  // milliseconds since 1970
        Mediator& mediator;
    };
    explicit OwnStatus(Parts parts) : m(parts), m_name(m.context.settings.name), m_team(m.context.settings.team) {}

    void start() { m_company_at = m.context.now(); }
    /// Notices sleep, and company.
    void tick();
    /// The clock on the wall goes on while a computer sleeps; the one that only grows may not. What others have said
    /// meanwhile is no flood then.
    void notice_sleep();

    /// The next status says something new: it does not wait for its turn.
    void changed() { m_due = true; }
    [[nodiscard]] bool due() const;
    /// To all neighbours. The network hears on this occasion whom this member looks for, and who decides.
    void broadcast();
    /// With the next number.
    [[nodiscard]] run::StatusMessage next();
    /// A neighbour shows this member a status in its own name.
    [[nodiscard]] run::Verdict on_own(const run::Envelope& envelope);
    /// Another process speaks with our key.
    void key_is_elsewhere();

    /// What this part knows; the rest is left as it is.
    [[nodiscard]] StatusFacts facts() const;

    /// Another computer of this member's person says a name, or did so once: it becomes this one's, with the team, if
    /// this one has no name.
    void adopt_name(const run::StatusMessage& said);
    /// Whether a status that others show was signed longer than status_age_max ago. It tells what its author called
    /// itself, not that it is here.
    [[nodiscard]] bool is_long_ago(const run::StatusMessage& said) const;
    [[nodiscard]] const std::string& name() const { return m_name; }
    [[nodiscard]] const std::string& team() const { return m_team; }
    void set_name(const std::string& name);
    void set_team(const std::string& team);
    /// This member is about to go for good.
    void leave() { m_leaves = true; }
    [[nodiscard]] bool leaves() const { return m_leaves; }
    /// The computer is about to sleep, until wake().
    void fall_asleep() { m_sleepy = true; }
    [[nodiscard]] bool sleepy() const { return m_sleepy; }
    /// False if it was not about to sleep.
    [[nodiscard]] bool wake() { return std::exchange(m_sleepy, false); }

private:
    [[nodiscard]] Duration pause() const;  // between own statuses
    void take_number();

    const Parts m;
    std::string m_name, m_team;
    std::uint64_t m_sequence = 0, m_first_sequence = 0;  // the newest, and where this process began
    bool m_clock_was_behind = false;
    std::optional<TimePoint> m_elsewhere_at;
    bool m_due = false;
    TimePoint m_sent_at;
    run::Phase m_phase_sent = run::Phase::joining;
    bool m_leaves = false, m_sleepy = false;
    TimePoint m_company_at;                  // when another member was heard of last
    std::optional<std::int64_t> m_awake_at;  // milliseconds since 1970
};

}  // namespace potluck::peer
