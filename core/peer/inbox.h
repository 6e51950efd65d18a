// Messages in: each is checked from cheap to dear (run, size, sender, admission, layout, then its signature, then its
// meaning), handed to the part that it is for, and passed on to the other neighbours if it is everybody's. Statuses,
// contributions, actions of the host and the end of a window may come from another member than the one that signed
// them. Every verdict is counted against the member that delivered the message, which is dropped for a while after too
// many bad ones.
//
// Does not: hold what a message says; the parts do.
// Threads: the peer's. Owns: which round's end was passed on, and whose word the members' list was told to trust.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/ledger/ledger.h"
#include "core/peer/presence/gossip.h"
#include "core/peer/presence/spoken_names.h"
#include "core/peer/rounds.h"

namespace potluck::peer {

inline constexpr Duration unadmitted_refused_for{60'000};  // or for a window, if that is shorter

class Inbox {
public:
    struct Parts {
        const Context& context;
        const run::Verifier& verifier;
        ledger::Ledger& ledger;
        run::RoundMachine& machine;
        const ChainLog& chain;
        Members& members;
        Gossip& gossip;
        PayloadPost& payload_post;
        Steps& steps;
        OwnStatus& own_status;
        Repairer& repairer;
        Moderation& moderation;
        Verdicts& verdicts;
        Losses& losses;
        Ballots& ballots;
        CatchUp& catch_up;
        Shortcut& shortcut;
        Rounds& rounds;
    };
    explicit Inbox(const Parts& parts) : m(parts), m_names(parts.context, parts.members, parts.ledger) {}

    void receive(const PeerId& from, const run::Envelope& envelope);
    /// Members that fell silent are dropped, and what waited to be passed on is.
    void tick();

private:
    [[nodiscard]] run::Verdict handle(const PeerId& from, const run::Envelope& envelope);
    [[nodiscard]] run::Verdict dispatch(const PeerId& from, const run::Envelope& envelope, const run::Message& message);
    [[nodiscard]] bool admits(const PeerId& person) const;
    [[nodiscard]] run::Verdict judge_author(const PeerId& from, const run::Envelope& envelope,
                                            const run::Message& message) const;
    [[nodiscard]] bool has_room_for(const PeerId& from, const PeerId& author, const run::StatusMessage& status) const;
    void pass_on(const run::Envelope& envelope, const PeerId& from) const;
    [[nodiscard]] run::Verdict on_verdict(const PeerId& from, const run::Envelope& envelope,
                                          const run::JurorVerdict& verdict);
    [[nodiscard]] run::Verdict on_loss(const PeerId& from, const run::Envelope& envelope,
                                       const run::MeasuredLoss& loss);
    [[nodiscard]] run::Verdict on_status(const PeerId& from, const run::Envelope& envelope,
                                         const run::StatusMessage& status);
    [[nodiscard]] run::Verdict on_close(const PeerId& from, const run::Envelope& envelope,
                                        const run::CloseMessage& message);
    [[nodiscard]] run::Verdict on_contribution(const PeerId& from, const run::Envelope& envelope,
                                               const run::ContributionMessage& message);
    [[nodiscard]] run::Verdict on_host_action(const PeerId& from, const run::Envelope& envelope,
                                              const run::HostAction& action);
    [[nodiscard]] run::Verdict on_step(const PeerId& from, const run::Envelope& envelope,
                                       const run::StepMessage& message);
    [[nodiscard]] run::Verdict on_goodbye(const PeerId& from);

    const Parts m;
    SpokenNames m_names;
    std::optional<RoundId> m_close_passed_on;
    TimePoint m_expired_at;                                   // those that had fallen silent
    std::pair<std::uint32_t, std::uint32_t> m_trusted_since;  // term and number of actions that the members' list knows
};

}  // namespace potluck::peer
