// The newest state theta[round] that this member holds, and the only writer of it: applying a list, adopting a fetched
// state, falling back to a sound one, dropping what is damaged.
//
//   restore --> (none) --adopt--> theta[r] --apply--> theta[r+1]
//                  ^                 |
//                  '--fall_back-----'
//
// Order of effects, so that a kill at any point leaves a state that restore() understands:
//   payloads on disk -> theta[r+1] on disk (commit_state) -> L[r] in the ledger (append) -> announced (status)
//
// Does not: know which list should be applied or who has a state.
// Threads: the peer's, except the work of its jobs. Owns: which state is the newest; the store owns the states.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/peer/chain/chain_log.h"
#include "core/peer/payloads/payloads.h"
#include "core/peer/seams/jobs.h"
#include "core/peer/seams/state_store.h"
#include "core/peer/states/steps.h"

namespace potluck::peer {

class StateKeeper {
public:
    class Mediator {
    public:
        virtual ~Mediator() = default;
        /// Takes `fresh`, which has led to `result`, into the chain.
        [[nodiscard]] virtual Status append(const CheckedList& fresh, const StateDigest& result) = 0;
        /// theta[round()] is new. `fresh` is the list that led to it if it was not in the chain before.
        virtual void on_applied(const CheckedList* fresh) = 0;
        virtual void on_state_dropped(RoundId round) = 0;
        virtual void status_changed() = 0;
        /// The list of `origin` has led to `result` by this step, made here of its payloads.
        virtual void step_computed(const StepOrigin& /*origin*/, ByteSpan /*step*/, const StateDigest& /*result*/) {}
        /// The step of that list does not lead where its signers say; the state is as it was.
        virtual void step_refused(const Digest& /*list*/) {}
    };
    struct Parts {
        const Context& context;
        const ChainLog& chain;
        StateStore& store;
        Jobs& jobs;
        ErrorReport& errors;
        Mediator& mediator;
    };
    explicit StateKeeper(Parts parts) : m(parts) {}

    /// Round and digest of the newest state; the digest is undefined without a round.
    [[nodiscard]] const std::optional<RoundId>& round() const { return m_round; }
    [[nodiscard]] const StateDigest& digest() const { return m_digest; }
    /// The newest state is the run's last.
    [[nodiscard]] bool holds_last() const { return m_round && m.context.is_last(*m_round); }
    [[nodiscard]] std::optional<StateStore::Held> newest() const;
    [[nodiscard]] bool holds(RoundId round) const;
    /// Whether `held` is what the chain leads to.
    [[nodiscard]] bool fits(const StateStore::Held& held) const;
    [[nodiscard]] bool applying() const { return m_applying; }
    /// States on disk are being verified; which is the newest is not known yet.
    [[nodiscard]] bool checking() const { return m_checking; }
    [[nodiscard]] bool may_apply() const { return !m_applying && m.context.now() >= m_apply_after; }
    /// Whether the payloads of which the newest state was computed had the bytes that its list names. Looked at where
    /// the list was in the chain before, since a payload may have lain on the disk for long then.
    [[nodiscard]] bool whole_payloads() const { return m_whole_payloads; }

    /// At start: drops what does not fit the chain and verifies the newest of the rest. `done(sound)` follows unless
    /// there is none.
    void restore(std::function<void(bool sound)> done);
    /// Starts computing theta[round + 1]; `payloads` are those of the list's entries, in order, and a state that the
    /// list goes back to is held. `fresh` is the list if it is not in the chain yet. With `step`, which is the list's,
    /// no payloads are needed.
    void apply(const run::AcceptList& list, std::vector<PayloadPointer> payloads,
               std::shared_ptr<const CheckedList> fresh, StepPointer step = nullptr);
    /// Writes a fetched file as theta[round]; it becomes the newest only by hold().
    void adopt(const StateStore::Held& wanted, BlobPointer content, std::function<void(Status)> done) const;
    /// What the store holds of this round is the newest state from now on.
    void hold(const StateStore::Held& held);
    void drop(RoundId round);
    /// Verifies all states that fit the chain, keeps the newest sound one and drops the newer ones.
    void fall_back(std::function<void()> done);
    /// Recomputes the digests of `states`, all held, from their bytes. `done` is told which differ.
    void verify(const std::vector<StateStore::Held>& states,
                std::function<void(const std::vector<RoundId>& damaged)> done) const;
    /// A disk or a peer failed: the next attempt waits.
    void retry_later() { m_apply_after = m.context.now() + fetch_again_after; }

    void check_invariants() const;

private:
    struct Computed {
        Result<StateDigest> digest;
        bool whole_payloads = true;
        std::vector<std::byte> step{};  // made of the payloads, in a run of coded steps
    };
    struct ApplyInput;
    [[nodiscard]] static Computed compute(const ApplyInput& in);
    struct VerifyInput {
        std::vector<std::pair<StateStore::Held, State>> states;
        unsigned threads = 1;
    };
    [[nodiscard]] VerifyInput verify_input(const std::vector<StateStore::Held>& states) const;
    [[nodiscard]] static std::vector<RoundId> damaged_of(const VerifyInput& in);
    static void move(const ApplyInput& in, std::span<const numerics::WeightedPayload> list, Computed& out);
    void on_computed(const std::shared_ptr<const CheckedList>& fresh, const StepOrigin& origin,
                     const StepPointer& taken, Computed computed);

    const Parts m;
    std::optional<RoundId> m_round;
    StateDigest m_digest;
    bool m_applying = false;
    bool m_whole_payloads = true;
    bool m_checking = false;
    TimePoint m_apply_after;
};

}  // namespace potluck::peer
