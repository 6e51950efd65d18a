// From one round to the next. The committee commits L[height] (ballots.h); once its payloads are here F is run, and
// only when theta[height + 1] is on disk does the list enter the ledger (state_keeper.h) and the next round begin.
//
//   entered --window, payloads, votes--> decided --F--> applied --> appended --> entered
//      ^                                                   |
//      |--- repaired <--- mended: computed anew, or its pieces fetched <--- not the certified state
//      '--- caught up <--- gone back: retracted, unrepairable, or far behind (catch_up.h, shortcut.h)
//
// The base of a committed list is what a quorum has computed for theta[height]. If this member has computed something
// else, it is this member that is wrong: its record is corrected and its state repaired before it goes on.
//
// Two numbers tell where this member stands: chain.height(), how many lists it has taken, and keeper.round(), the
// newest state it holds. They are equal while it plays along; the state is behind while it catches up.
//
// Does not: judge, fetch or compute anything itself; each part does its own, and asks here what the others know.
// Threads: the peer's. Owns: whether this member takes part, when it entered the round, and what its own results say of
// this computer (self_check.h).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/peer/ballots.h"
#include "core/peer/catch_up.h"
#include "core/peer/chain/moderation.h"
#include "core/peer/chain/seats.h"
#include "core/peer/contributor.h"
#include "core/peer/jury/juror.h"
#include "core/peer/own_status.h"
#include "core/peer/payload_post.h"
#include "core/peer/shortcut.h"
#include "core/peer/states/repairer.h"
#include "core/peer/states/seeder.h"
#include "core/peer/states/self_check.h"
#include "core/run/round_machine.h"

namespace potluck::peer {

inline constexpr int heartbeats_to_compare = 3;  // digests of the last state, before it is certified

class Rounds final : public StateKeeper::Mediator,
                     public Contributor::Mediator,
                     public Seeder::Mediator,
                     public Repairer::Mediator,
                     public Ballots::Mediator,
                     public CatchUp::Mediator,
                     public Shortcut::Mediator {
public:
    struct Parts {
        const Context& context;
        StateStore& store;
        const Members& members;
        run::RoundMachine& machine;
        ChainLog& chain;
        Payloads& payloads;
        PayloadPost& payload_post;
        OwnStatus& own_status;
        Steps& steps;
        StateKeeper& keeper;
        Contributor& contributor;
        Verdicts& verdicts;
        Losses& losses;
        Juror& juror;
        Seeder& seeder;
        Repairer& repairer;
        Seats& seats;
        Moderation& moderation;
        Ballots& ballots;
        CatchUp& catch_up;
        Shortcut& shortcut;
        ErrorReport& errors;
    };
    /// The parts may be constructed later; nothing is asked of them before start().
    explicit Rounds(const Parts& parts) : m(parts) {}

    /// Picks up what survived the last time: the chain, the record, and the newest state that fits the chain.
    void start();
    /// Nothing happens from now on.
    void leave() { m_left = true; }
    [[nodiscard]] bool running() const { return m_started && !m_left; }

    /// Lets time pass for the round machine and the committee.
    void tick();
    /// A payload is here that the round machine or a list may have waited for.
    void look_at_offers();
    /// Does whatever can be done next. Events that arrive meanwhile ask for another turn instead of nesting.
    void advance() override;
    /// The host has replaced the committee: if L[height] is another one's to decide now, it is decided anew.
    void replaced();

    /// The newest state is theta[height], and not under repair.
    [[nodiscard]] bool in_step() const;
    /// The newest state is the run's last.
    [[nodiscard]] bool over() const;
    [[nodiscard]] bool calculates_differently() const { return m_self_check.calculates_differently(); }
    /// How long the last round took from its window's end to the next state.
    [[nodiscard]] Duration last_overhead() const { return m_last_overhead; }
    void check_invariants() const;

private:
    void act(const run::RoundActions& actions);
    void retract();
    void go_back();
    void apply_decision();
    void close_run();
    [[nodiscard]] bool agrees_with_base(const CheckedList& decided);
    [[nodiscard]] std::optional<StateDigest> certified(RoundId round) const;
    void mend(const StateDigest& right);
    void judge_arithmetic(const StateDigest& right);
    void enter_round();
    void scrub();

    // What the parts ask. status_changed() is asked by several.
    void status_changed() override { m.own_status.changed(); }
    Status append(const CheckedList& fresh, const StateDigest& result) override;
    void on_applied(const CheckedList* fresh) override;
    void step_computed(const StepOrigin& origin, ByteSpan step, const StateDigest& result) override {
        m.steps.computed(origin, step, result);
    }
    void step_refused(const Digest& list) override { m.steps.refuse(list); }
    void on_state_dropped(RoundId round) override { m.seeder.state_dropped(round); }
    bool may_train() const override;
    bool repairing() const override { return m.repairer.active(); }
    void offered(const run::ContributionMessage& own) override;
    void nothing_offered() override { m.machine.nothing_offered(m.context.now()); }
    void close_early() override { m.machine.close_early(); }
    bool make_room() override { return m.seeder.forget_oldest_payloads(0); }
    std::optional<StateStore::Held> newest_state() const override { return m.keeper.newest(); }
    bool in_use(RoundId round) const override { return m.contributor.in_use(round) || m.juror.in_use(round); }
    void drop_state(RoundId round) override { m.keeper.drop(round); }
    void on_repair_begun() override;
    void on_repaired(const StateStore::Held& done) override;
    void on_unrepairable(RoundId broken) override;
    void publish_for_repair(RoundId round, const StateDigest& digest) override;
    bool may_judge() const override { return in_step() && !m.repairer.checks_own(); }
    bool takes_shortcut() const override { return m.shortcut.active(); }
    void appended(const CheckedList& checked) override;
    void entered() override;
    bool may_jump() const override;
    RoundId checkpoint_offered() const override;
    PeerId history_source(const std::vector<PeerId>& ahead) override { return m.catch_up.history_source(ahead); }
    void jumped(std::uint64_t accepted) override;

    const Parts m;
    SelfCheck m_self_check;
    bool m_started = false, m_left = false;
    bool m_advancing = false, m_advance_again = false;
    TimePoint m_entered_at;
    std::optional<TimePoint> m_window_closed_at, m_enough_at;  // for a list
    Duration m_last_overhead{0};
};

}  // namespace potluck::peer
