// A member whose trainer measures what others' contributions are worth. Once a round has begun, it draws a few of the
// newest list's entries (core/run/jury/jury_lot.h), has the trainer compute losses with and without each, and weighs
// what comes out; a person whose evidence crosses the threshold it accuses, if it has a seat (verdicts.h).
//
//   L[r] known --lot, theta[r], payloads, shards here--> judge() --on_judged--> sequential tests --enough--> verdict
//
// Each is measured as F takes it, clipped: the whole of what a fast computer does in a window may overshoot where the
// part of it that moves the model helps.
//
// It takes the recipe's share of its trainer's time at most: what measuring took before says how much it may do now. A
// round is measured with at least a few contributions or not at all, and what that took too much is saved up again
// first. A member without a seat measures itself and a few others now and then, so that it learns first that its own
// work is none. While its trainer is away (a pause, no memory) it measures nothing.
//
// What it knows of persons is kept over a restart: homes restart daily, and enough measurements may take days. Verdicts
// come again from others.
// Threads: the peer's. Owns: what it has measured, and its file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/peer/chain/chain_log.h"
#include "core/peer/jury/verdicts.h"
#include "core/peer/payloads/payloads.h"
#include "core/peer/seams/state_store.h"
#include "core/peer/seams/trainer.h"
#include "core/run/jury/jury_lot.h"
#include "core/run/jury/sequential_test.h"

namespace potluck::peer {

/// How many contributions of a round are measured. One more than must agree, so that one among them that does not work
/// is seen for what it is.
inline constexpr std::size_t subjects_min = run::measured_for_agreement + 1, subjects_max = 16;
inline constexpr std::uint64_t own_check_every = 10;        // rounds: of what this member contributes itself
inline constexpr std::size_t own_check_others = 3;          // measured beside it by who has no seat
inline constexpr int windows_to_save_up = 10;               // unused time of a juror that counts
inline constexpr int windows_to_judge = 3;                  // patience for the trainer
inline constexpr std::uint64_t verdict_renewed_after = 25;  // rounds: it may count for that much longer again

class Juror {
public:
    class Mediator {
    public:
        virtual ~Mediator() = default;
        /// Whether the trainer is loaded, and the owner lets it compute.
        [[nodiscard]] virtual bool may_measure() const = 0;
        /// Indexes of shards that are whole on this disk.
        [[nodiscard]] virtual const std::set<std::size_t>& shards_here() const = 0;
    };
    struct Parts {
        const Context& context;
        const ChainLog& chain;
        const Payloads& payloads;
        StateStore& store;
        Trainer* trainer;  // null for a backbone
        Verdicts& verdicts;
        Mediator& mediator;
    };
    explicit Juror(Parts parts) : m(parts) {}

    void load();
    /// theta[height] is held and its round begins: the newest list may be judged.
    void round_begins();
    void on_judged(const JudgeReport& report);
    /// The trainer has ended; what it was asked is void.
    void trainer_ended() { m_asked.reset(); }
    /// A list has entered the chain: who is suspended begins anew.
    void settle(const run::AcceptList& list);
    /// Whether theta[round] is still needed.
    [[nodiscard]] bool in_use(RoundId round) const { return m_asked && m_asked->round == round; }

    [[nodiscard]] const run::SequentialTests& tests() const { return m_tests; }
    [[nodiscard]] std::uint64_t measured() const { return m_measured; }
    [[nodiscard]] Duration time_taken() const { return m_time_taken; }

private:
    struct Asked {
        RoundId round;
        TimePoint at;
        std::map<PeerId, run::Measurement> subjects;  // own and other still to come
    };
    [[nodiscard]] bool has_seat() const;
    [[nodiscard]] std::size_t affordable();
    [[nodiscard]] double norm_max(const run::AcceptList& list) const;
    [[nodiscard]] run::Turn turn_of(const run::AcceptList& list, const run::Accepted& entry) const;
    [[nodiscard]] std::vector<std::size_t> draw(const run::AcceptList& list, const Digest& hash) const;
    [[nodiscard]] std::optional<JudgePlan::Subject> subject_of(const run::AcceptList& list, const run::Accepted& entry,
                                                               const Digest& hash) const;
    void ask(const run::AcceptList& list);
    void accuse();
    void save() const;

    const Parts m;
    run::SequentialTests m_tests;
    std::optional<Asked> m_asked;
    std::optional<TimePoint> m_saved_up_at;
    Duration m_savings{0};         // time that measuring may take now
    Duration m_time_taken{0};      // by all so far
    std::uint64_t m_measured = 0;  // contributions
};

}  // namespace potluck::peer
