// The run that this node is in, and the one that it is leaving: their sessions, and what is kept about the first
// beside it (its size, its curve, what becomes of it without its host).
//
//   enter --> in a run --retire--> leaving, until it has handed over what others need --> gone
//               | close: gone at once
//
// Does not: say when to enter or to leave, or what to train (the node).
// Threads: the loop's. Owns: both sessions.
#pragma once

#include <memory>
#include <optional>

#include "app/node/member/own_keys.h"
#include "app/node/member/run_session.h"
#include "app/node/member/view.h"
#include "core/base/thread_owner.h"
#include "core/ledger/ledger.h"

namespace potluck::node {

class Membership {
public:
    /// Who would carry on a run without its host is worked out from the credit of everybody whom the host trusts.
    static constexpr Duration succession_every{2'000};

    /// Both outlive it.
    Membership(ledger::Ledger& ledger, const OwnKeys& keys) : m_ledger(ledger), m_keys(keys) {}

    void enter(std::unique_ptr<RunSession> session, TimePoint now);
    /// Goodbye at once, to both runs.
    void close();
    /// The run that this node is in has things to hand over, and goes when it has.
    void retire(TimePoint now);
    void tick(TimePoint now);
    /// The end of the node: call tick_stopping() until it returns true, then drop().
    void stop(TimePoint now);
    [[nodiscard]] bool tick_stopping(TimePoint now);
    void drop();

    /// Null outside a run.
    [[nodiscard]] RunSession* session() const;
    /// Null while no run is being left.
    [[nodiscard]] RunSession* retiring() const;
    /// The trainer of the run; null for a backbone, and outside a run.
    [[nodiscard]] TrainerProcess* trainer() const;
    /// Whether the run is one's own by more than an invite.
    [[nodiscard]] bool is_member() const;
    /// Whether a list has what was trained before it was to end; where no list comes, two rounds later. What was not
    /// accepted waits on disk. Asked at every tick from then on.
    [[nodiscard]] bool has_settled(TimePoint now);
    /// The run is not to be left; the two rounds begin anew.
    void stay();

    /// What the run's members download first; all zeros before the first run.
    [[nodiscard]] const Beginning& beginning() const;
    /// What becomes of a run that this node hosts without it.
    [[nodiscard]] const std::optional<peer::Succession>& succession() const;

private:
    void record_curve();
    void look_at_succession(TimePoint now);

    ThreadOwner m_owner;
    ledger::Ledger& m_ledger;
    const OwnKeys& m_keys;
    std::unique_ptr<RunSession> m_retiring;  // of the run that was left
    std::unique_ptr<RunSession> m_session;
    Beginning m_beginning;  // of the session's run
    RoundId m_curve_round;
    std::optional<peer::Succession> m_succession;
    std::optional<TimePoint> m_succession_at;
    std::optional<TimePoint> m_go_by;  // finished, and to leave: by then at the latest
};

}  // namespace potluck::node
