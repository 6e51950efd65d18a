// What members have measured of agreed states (core/run/curve): who is to measure, the signed losses until a list has
// them, and which of them a list takes.
//
//   theta[r], r due, in step --lot--> due() --the node's trainer--> sign() --passed on--> to_propose() --> a list
//
// Measuring costs time, so only seats and, by lot, a few others that are past their probation do it. More may: a member
// past its probation is heard, the lowest lots first, and three liars of seven move nothing. A loss is everybody's: it
// is passed on, told to those who join, and said again every round by its author until a list has it.
//
// Does not: compute a loss. Threads: the peer's. Owns: the losses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/peer/chain/chain_log.h"
#include "core/peer/presence/members.h"
#include "core/peer/seams/state_store.h"

namespace potluck::peer {

/// Members without a seat that measure a state, by lot.
inline constexpr std::size_t measurers_by_lot = 7;
/// Losses of one state that are held: seats', and the lowest lots of the others.
inline constexpr std::size_t losses_of_state_max = 32;
/// A loss may be of a state that is agreed on here a little later.
inline constexpr std::uint64_t loss_rounds_ahead = 2;
/// Rounds for which a list waits for more losses than it has.
inline constexpr std::uint64_t rounds_to_gather = 2;

class Losses {
public:
    struct Parts {
        const Context& context;
        const ChainLog& chain;
        const Members& members;
        const StateStore& store;
    };
    explicit Losses(Parts parts) : m(parts) {}

    /// Whether this may be held if its signature is good: else why not. Asked before the signature is checked.
    [[nodiscard]] run::Verdict judge(const PeerId& sender, const run::MeasuredLoss& loss) const;
    /// Judged, and its signature was checked. It is to be passed on then.
    void take(const run::Envelope& envelope, const run::MeasuredLoss& loss);

    /// The round whose state this member is to measure now; nothing if none is.
    [[nodiscard]] std::optional<RoundId> due();
    /// What this member has measured, to everybody. A loss that nobody may sign is a gap.
    void sign(RoundId round, double nats);

    /// A list has entered the chain, or was taken back: what no list can carry any more goes.
    void settle();
    /// Own losses that no list has yet, once more.
    void repeat() const;
    /// These may not know what is held here.
    void tell(const std::vector<PeerId>& to) const;

    /// The run's last state is held here.
    void last_is_here() { m_last_since = m.context.now(); }
    /// Whether trainer and closing list wait until those who may have measured it, this member or others.
    [[nodiscard]] bool measures_last() const;
    /// What L[height] takes; nothing while there is none, or more are to come.
    [[nodiscard]] std::optional<run::Measured> to_propose() const;
    /// Whether all of a list's losses are by seats and by persons that are no newcomers.
    [[nodiscard]] bool are_established(const run::AcceptList& list) const;

    [[nodiscard]] std::size_t held(RoundId round) const;

private:
    using OfState = std::map<PeerId, run::SignedLoss>;  // by member
    [[nodiscard]] bool has_seat(const PeerId& member) const;
    [[nodiscard]] bool may_measure(const PeerId& member) const;
    [[nodiscard]] bool can_be_listed(RoundId round) const;
    [[nodiscard]] run::DeviceCertificate certificate_of(const PeerId& member) const;
    [[nodiscard]] bool is_drawn(RoundId round) const;
    [[nodiscard]] std::size_t measurers() const;
    [[nodiscard]] std::vector<PeerId> by_rank(RoundId round, const OfState& of_state) const;
    void keep(RoundId round, const run::SignedLoss& loss);
    [[nodiscard]] bool are_complete() const;

    const Parts m;
    std::map<RoundId, OfState> m_losses;
    std::optional<TimePoint> m_last_since;
    std::optional<std::pair<RoundId, bool>> m_drawn;  // the newest round that was due, and whether the lot fell here
};

}  // namespace potluck::peer
