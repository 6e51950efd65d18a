// What the run's host has signed and no list holds yet. Every member keeps it, passes it on to those who join, and puts
// it into the lists that it proposes; so the host need not be there when it comes into force.
//
// Does not: hold what is in force (ChainLog::rules). Threads: the peer's. Owns: the actions that wait.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/peer/chain/chain_log.h"
#include "core/peer/presence/members.h"

namespace potluck::peer {

inline constexpr std::uint32_t actions_waiting_max = 256;  // a host that shuts out many keys at once, not a flood
static_assert(actions_waiting_max < budget_of(run::MessageKind::host_action).at_once);

/// Keys are free, and telling why one is shut out reads all that the host has ever signed.
inline constexpr Duration shut_out_told_apart{1'000};

/// Whether these let a person contribute. Where nobody else may, no contribution ends the round that they wait for: a
/// list without any brings them into force.
[[nodiscard]] bool lets_somebody_in(const std::vector<run::SignedAction>& actions);

class Moderation {
public:
    Moderation(const Context& context, ChainLog& chain, ledger::Ledger& ledger, ErrorReport& errors);

    /// Reads what the ledger holds; the chain was loaded.
    void load();
    /// `action` is the host's, and its signature was checked. `accepted` if it was not known: it is on disk then.
    [[nodiscard]] run::Verdict receive(const run::SignedAction& action);
    /// L[height] is in the chain, with these actions.
    void settle() { m_waiting.erase(m_waiting.begin(), m_waiting.upper_bound(m_chain.rules().actions)); }

    /// What the next list should hold: the next numbers without a gap. A roll-back comes alone.
    [[nodiscard]] std::vector<run::SignedAction> due() const;
    [[nodiscard]] bool roll_back_due() const;
    /// All that are not in force, and the newest replacement of the committee: what others may not know.
    [[nodiscard]] std::vector<run::SignedAction> pending() const;
    /// These may not know what is pending(); a message may be lost.
    void tell(const std::vector<PeerId>& to) const;
    /// Whether the run admits `person` now, and will once what waits is in force.
    [[nodiscard]] bool will_admit(const PeerId& person) const;
    /// What the host has signed against `person`, for its computer `to`: it was away then, or its session ended before
    /// it had the list, and nobody will answer its questions. Not more often than shut_out_told_apart; it tries again.
    void tell_why_shut_out(const PeerId& to, const PeerId& person);
    /// Number of the action that the host signs next.
    [[nodiscard]] std::uint32_t next_number() const;

private:
    [[nodiscard]] bool keep(const run::SignedAction& action);
    [[nodiscard]] run::Verdict receive_replacement(const run::SignedAction& action);

    const Context& m_context;
    ChainLog& m_chain;
    ledger::Ledger& m_ledger;
    ErrorReport& m_errors;
    std::map<std::uint32_t, run::SignedAction> m_waiting;
    std::optional<TimePoint> m_told_at;
};

}  // namespace potluck::peer
