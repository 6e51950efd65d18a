// The store holds several states; this class says which one is the newest, and every path to a new one ends in hold()
// or on_computed() on the peer's thread. Jobs get a value of everything they read, the mapping of theta included, so
// that a state which is dropped meanwhile stays readable until its job has ended.
//
// Applying writes theta[r+1] first and appends L[r] to the ledger afterwards. A kill in between leaves a state that the
// chain does not lead to, which restore() drops; the other order would leave a chain whose state is nowhere. If the
// append fails the new state is dropped as well, and the list is applied again after a pause.
//
// restore() and fall_back() recompute digests from the bytes, because a disk that went wrong is the reason they exist.
#include "core/peer/states/state_keeper.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/merkle.h"
#include "core/numerics/outer/step_code.h"
#include "core/peer/states/weighted_list.h"
#include "core/proof/true_step.h"

namespace potluck::peer {

struct StateKeeper::ApplyInput {
    StateStore& store;
    State theta;
    Vector next;
    std::vector<PayloadPointer> payloads;
    run::AcceptList list;
    numerics::OuterStep outer;
    unsigned threads = 1;
    RoundId round;
    bool checks_payloads = false;
    StepPointer step;
};

/// theta[r+1] of the list's payloads, by their step if the recipe codes it.
void StateKeeper::move(const ApplyInput& in, std::span<const numerics::WeightedPayload> list, Computed& out) {
    const std::span<const float> theta = in.theta.parameters;
    if (in.outer.form == numerics::StepForm::exact) {
        return numerics::apply_outer_step(theta, in.next.values, list, in.outer, in.threads);
    }
    out.step = numerics::apply_coded_step(theta, in.next.values, list, in.outer, in.threads);
}

StateKeeper::Computed StateKeeper::compute(const ApplyInput& in) {
    Computed out{StateDigest{}, true, {}};
    if (in.step) {
        out.whole_payloads =
            !in.checks_payloads || merkle_root(in.step->blob->bytes(), in.threads) == in.step->ref.root;
        numerics::apply_step(in.theta.parameters, in.next.values, in.step->view, in.outer.alpha, in.threads);
        out.digest = in.store.commit_state(in.round);
        return out;
    }
    for (std::size_t i = 0; in.checks_payloads && i < in.payloads.size(); ++i) {
        out.whole_payloads = out.whole_payloads &&
                             merkle_root(in.payloads[i]->blob->bytes(), in.threads) == in.list.entries[i].payload.root;
    }
    const std::vector<numerics::WeightedPayload> weighted = weighted_list(in.list, in.payloads);
    if (weighted.empty()) {
        // A list that hands a seat over leaves the model as it is; one that takes it back begins with what it was.
        std::copy(in.theta.parameters.begin(), in.theta.parameters.end(), in.next.values.begin());
    } else {
        move(in, weighted, out);
    }
    out.digest = in.store.commit_state(in.round);
    return out;
}

namespace {

struct AdoptInput {
    StateStore& store;
    StateStore::Held wanted;
    BlobPointer content;
};

}  // namespace

std::optional<StateStore::Held> StateKeeper::newest() const {
    if (!m_round) return std::nullopt;
    return StateStore::Held{*m_round, m_digest};
}

bool StateKeeper::holds(RoundId round) const {
    const std::vector<StateStore::Held> held = m.store.held();
    return std::any_of(held.begin(), held.end(), [&](const StateStore::Held& one) { return one.round == round; });
}

bool StateKeeper::fits(const StateStore::Held& held) const {
    // An older one has lost the list that led to it, or those that lead on from it.
    const RoundId kept = m.chain.kept_from();
    const bool is_in_chain = (held.round > kept || kept.value == 0) && held.round <= m.chain.height();
    return is_in_chain && held.digest == m.chain.digest_at(held.round);
}

StateKeeper::VerifyInput StateKeeper::verify_input(const std::vector<StateStore::Held>& states) const {
    VerifyInput input{{}, m.context.settings.threads};
    for (const StateStore::Held& one : states) input.states.push_back({one, m.store.state(one.round)});
    return input;
}

std::vector<RoundId> StateKeeper::damaged_of(const VerifyInput& in) {
    std::vector<RoundId> damaged;
    for (const auto& [held, state] : in.states) {
        if (merkle_root(state.file, in.threads) != held.digest) damaged.push_back(held.round);
    }
    return damaged;
}

void StateKeeper::verify(const std::vector<StateStore::Held>& states,
                         std::function<void(const std::vector<RoundId>& damaged)> done) const {
    m.jobs.run([in = verify_input(states)] { return damaged_of(in); }, std::move(done));
}

void StateKeeper::restore(std::function<void(bool sound)> done) {
    std::optional<StateStore::Held> newest;
    for (const StateStore::Held& one : m.store.held()) {
        if (!fits(one)) {
            m.store.drop_state(one.round);
        } else if (!newest || newest->round < one.round) {
            newest = one;
        }
    }
    if (!newest) return;
    m_checking = true;
    m.jobs.run([in = verify_input({*newest})] { return damaged_of(in); },
               [this, held = *newest, finished = std::move(done)](const std::vector<RoundId>& damaged) {
                   m_checking = false;
                   hold(held);
                   finished(damaged.empty());
               });
}

void StateKeeper::apply(const run::AcceptList& list, std::vector<PayloadPointer> payloads,
                        std::shared_ptr<const CheckedList> fresh, StepPointer step) {
    const RoundId next = m_round->next();
    Result<Vector> target = m.store.begin_state(next);
    if (!target.ok()) {
        m.errors.report(target.error().message);
        retry_later();
        return;
    }
    m_applying = true;
    m.mediator.status_changed();
    const run::HostAction* back = list.roll_back();
    const bool goes_back = back != nullptr && m.chain.leads_back_to(*back);
    const RoundId from = goes_back ? back->round : *m_round;
    const StepOrigin origin{list.round, fresh ? fresh->hash : m.chain.hash_at(list.round), list.committee};
    const numerics::OuterStep outer =
        proof::outer_step_of({m.context.manifest.recipe, m.context.layout.parameters}, list);
    // A false step costs a seat for good, so what it is made of is hashed before it is signed.
    const bool signs = outer.form == numerics::StepForm::coded && m.context.seated_in(list.committee);
    const bool checks_payloads = fresh == nullptr || signs;
    m.jobs.run(
        [in = ApplyInput{m.store, m.store.state(from), std::move(*target), std::move(payloads), list, outer,
                         m.context.settings.threads, next, checks_payloads, step}] { return compute(in); },
        [this, fresh, origin, step](Computed computed) { on_computed(fresh, origin, step, std::move(computed)); });
}

void StateKeeper::on_computed(const std::shared_ptr<const CheckedList>& fresh, const StepOrigin& origin,
                              const StepPointer& taken, Computed computed) {
    m_applying = false;
    if (taken && computed.digest.ok() && *computed.digest != taken->result) {
        m.store.drop_state(m_round->next());
        return m.mediator.step_refused(origin.list);
    }
    m_whole_payloads = computed.whole_payloads;
    Result<StateDigest>& outcome = computed.digest;
    if (outcome.ok() && fresh) {
        const Status kept = m.mediator.append(*fresh, *outcome);
        if (!kept.ok()) outcome = kept.error();
    }
    if (!outcome.ok()) {
        m.store.drop_state(m_round->next());
        m.errors.report(outcome.error().message);
        retry_later();
        return;
    }
    m_round = m_round->next();
    m_digest = *outcome;
    if (!computed.step.empty() && m_whole_payloads) m.mediator.step_computed(origin, computed.step, m_digest);
    m.mediator.on_applied(fresh.get());
}

void StateKeeper::adopt(const StateStore::Held& wanted, BlobPointer content, std::function<void(Status)> done) const {
    m.jobs.run(
        [in = AdoptInput{m.store, wanted, std::move(content)}] {
            return in.store.adopt_state(in.wanted.round, in.wanted.digest, in.content->bytes());
        },
        std::move(done));
}

void StateKeeper::hold(const StateStore::Held& held) {
    m_round = held.round;
    m_digest = held.digest;
}

void StateKeeper::drop(RoundId round) {
    m.store.drop_state(round);
    m.mediator.on_state_dropped(round);
}

void StateKeeper::fall_back(std::function<void()> done) {
    m_round.reset();
    m_checking = true;
    std::vector<StateStore::Held> fitting;
    for (const StateStore::Held& one : m.store.held()) {
        if (fits(one)) fitting.push_back(one);
    }
    m.jobs.run([in = verify_input(fitting)] { return damaged_of(in); },
               [this, fitting, finished = std::move(done)](const std::vector<RoundId>& damaged) {
                   m_checking = false;
                   std::optional<StateStore::Held> best;
                   for (const StateStore::Held& one : fitting) {
                       if (std::find(damaged.begin(), damaged.end(), one.round) == damaged.end() && holds(one.round))
                           best = one;
                   }
                   for (const StateStore::Held& one : fitting) {
                       if (!best || one.round > best->round) m.store.drop_state(one.round);
                   }
                   if (best) hold(*best);
                   finished();
               });
}

void StateKeeper::check_invariants() const {
    POTLUCK_CHECK(!m_applying || m_round);
    POTLUCK_CHECK(!m_round || holds(*m_round));
}

}  // namespace potluck::peer
