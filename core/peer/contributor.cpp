// Windows of training turned into contributions: see the header for the order. Invariants: tokens credited + pending +
// carried are those of all snapshots; movement is in the chain, pending, in the error feedback or in a job, once.
//
// Slow work is a job that owns its inputs, and m_work names the one that is under way, so that a snapshot, an encoding
// and a pause never overlap. A job that comes back to a changed branch or a stopping trainer still accounts for its
// movement: a payload which is not published returns to the error feedback it was taken out of.
//
// Error feedback as in Karimireddy et al., "Error Feedback Fixes SignSGD" (2019), section 3; anchor and pseudo-gradient
// as in DiLoCo (Douillard et al., 2023).

#include "core/peer/contributor.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/run/sample_order.h"

namespace potluck::peer {

namespace {

struct AccumulateInput {
    Vector error;
    ReadVector anchor, snapshot;
    float decay = 1;
    unsigned threads = 1;
};

bool accumulate(const AccumulateInput& in) {
    if (in.error.values.empty() || in.anchor.values.empty() || in.snapshot.values.empty()) return false;
    numerics::accumulate_error(in.error.values, in.anchor.values, in.snapshot.values, in.decay, in.threads);
    return true;
}

struct AddInput {
    Vector target;
    Bytes payload;
    std::uint64_t parameters = 0;
    std::uint32_t k_max = 0;
    float scale = 1;
    unsigned threads = 1;
};

bool add(const AddInput& in) {
    numerics::PayloadView view;
    const auto fault = numerics::PayloadView::parse(in.payload, in.parameters, in.k_max, view);
    if (fault != numerics::PayloadFault::none || in.target.values.empty()) return false;
    numerics::add_decoded(in.target.values, view, in.scale, in.threads);
    return true;
}

struct LookAheadInput {
    ReadVector theta;
    AddInput own;
};

/// theta - alpha * own payload: what the next state will be but for the others.
bool write_look_ahead(const LookAheadInput& in) {
    std::copy(in.theta.values.begin(), in.theta.values.end(), in.own.target.values.begin());
    return add(in.own);
}

/// A member whose last contribution was accepted has a way to seats; else all its neighbours hear of the next.
Routes::Reach reach_after(unsigned in_time) {
    return in_time > 0 ? Routes::Reach::seats : Routes::Reach::all_neighbours;
}

/// What a member made itself counts more than what it keeps for others.
Result<run::BlobRef> publish_own(Swarm& swarm, Contributor::Mediator& mediator, ByteSpan blob) {
    for (;;) {
        Result<run::BlobRef> published = swarm.publish(blob, run::Retention::kept);
        const bool is_full = !published.ok() && published.error().code == ErrorCode::no_space;
        if (!is_full || !mediator.make_room()) return published;
    }
}

Vector vector_or_none(const Result<Vector>& vector) { return vector.ok() ? *vector : Vector{}; }

}  // namespace

bool Contributor::volunteer() const { return m.context.settings.role == run::Role::volunteer && m.trainer != nullptr; }

TrainerPhase Contributor::phase() const {
    if (m_process == Process::failed) return TrainerPhase::failed;
    if (stopping()) return TrainerPhase::pausing;
    if (m_finish == Finish::finished) return TrainerPhase::done;
    if (m_process == Process::off) return TrainerPhase::off;
    if (m_process == Process::starting) return TrainerPhase::starting;
    if (snapshotting()) return TrainerPhase::snapshotting;
    if (m_work == Work::encoding) return TrainerPhase::encoding;
    return m_anchor.kind == Anchor::Kind::look_ahead ? TrainerPhase::ahead : TrainerPhase::training;
}

bool Contributor::snapshotting() const {
    return m_work == Work::contribution_snapshot || m_work == Work::pause_snapshot;
}

bool Contributor::anchored_at(RoundId round) const {
    return m_anchor.kind == Anchor::Kind::state && m_anchor.round == round;
}

bool Contributor::in_use(RoundId round) const {
    const bool measured = snapshotting() && m_snapshot_anchor.round == round;
    return running() && (anchored_at(round) || measured);
}

// The trainer and its data.

bool Contributor::trainer_wanted() const {
    return volunteer() && m.mediator.may_train() && !m_paused && !stopping() && m_finish == Finish::no &&
           m_process != Process::failed;
}

/// Its memory is the owner's then, as in a pause.
bool Contributor::training_is_over() const {
    return m_finish == Finish::finished || (m.keeper.holds_last() && !m.losses.measures_last());
}

void Contributor::update_trainer() {
    if (stopping() && m.context.now() >= m_stop_asked + pause_patience && m_work != Work::encoding) stop_trainer();
    const bool at_work = busy() || !m.machine.closed();
    if (m_finish == Finish::after_this_window && (!at_work || !m.machine.playing())) m_finish = Finish::finished;
    if (training_is_over() && running() && !busy()) stop_trainer();
    forget_old_moments();
    if (m_process == Process::loaded && m_waits_for_data && plan_for(*m_waits_for_data)) {
        train_or_idle(*m_waits_for_data);
    }
    if (running() || !trainer_wanted() || m_work == Work::encoding || m.context.now() < m_retry_at) return;
    if (!plan_for(*m.keeper.round())) return;
    start_trainer();
}

std::size_t Contributor::shard_of(RoundId round) const {
    const run::Manifest& manifest = m.context.manifest;
    return run::shard_of(manifest.recipe.seed, round, m.context.self(), manifest.shards.size());
}

std::vector<std::size_t> Contributor::shards_needed() const {
    if (!trainer_wanted()) return {};
    return {shard_of(*m.keeper.round()), shard_of(m.keeper.round()->next())};
}

/// The window of `round` on its shard, or on another that is here while that one is fetched.
std::optional<WindowPlan> Contributor::plan_for(RoundId round) const {
    const std::set<std::size_t>& whole = m.shards.whole();
    if (whole.empty()) return std::nullopt;
    auto found = whole.find(shard_of(round));
    if (found == whole.end()) found = whole.begin();
    const run::Shard& shard = m.context.manifest.shards[*found];
    const BlobPointer content = m.context.swarm.blob(shard.blob.root);
    if (!content) return std::nullopt;
    return WindowPlan{round, run::learning_rate_at(m.context.manifest.recipe, round.value), content->path(),
                      shard.records};
}

void Contributor::train_or_idle(RoundId round) {
    if (!running() || stopping()) return;
    const auto plan = plan_for(round);
    m_waits_for_data = plan ? std::nullopt : std::optional(round);
    if (m.context.is_last(round) || m_finish != Finish::no || !plan) {
        m.trainer->idle();
        return;
    }
    m.trainer->train(*plan);
}

void Contributor::rebase_to_state() {
    if (!running() || stopping()) return;
    const RoundId round = *m.keeper.round();
    m.trainer->rebase(m.store.state_place(round));
    m_anchor = {Anchor::Kind::state, round};
    train_or_idle(round);
}

void Contributor::reload() {
    if (!running() || stopping()) return;
    start_trainer();
}

void Contributor::start_trainer() {
    const RoundId round = *m.keeper.round();
    m_process = Process::starting;
    m_anchor = {Anchor::Kind::state, round};
    m_moments_wait = false;  // taken, or too old
    m.trainer->start(m.context.manifest, m.store.state_place(round), round);
}

void Contributor::stop_trainer() {
    if (running()) {
        const auto moments = moments_to_keep();
        m_moments_wait = m_moments_wait || moments.has_value();
        if (moments) m_moments_round = moments->round;
        m.trainer->stop(moments);
        m_process = Process::off;
    }
    clear_progress();
}

/// Nothing where nobody will train on them. What a pause has already taken of its time is not there for the disk.
std::optional<MomentsToKeep> Contributor::moments_to_keep() const {
    if (!m.keeper.round() || m_finish != Finish::no || m.context.is_last(*m.keeper.round())) return std::nullopt;
    const Duration gone = stopping() ? m.context.now() - m_stop_asked : Duration{0};
    if (gone >= moments_patience) return std::nullopt;
    return MomentsToKeep{*m.keeper.round(), moments_patience - gone};
}

/// A pause may last for weeks: a file that no trainer will take goes before its end.
void Contributor::forget_old_moments() {
    if (!volunteer() || running() || !m_moments_wait || !m.keeper.round()) return;
    const RoundId round = *m.keeper.round();
    if (!m_moments_round) m_moments_round = round;
    if (round.value <= m_moments_round->value + moments_rounds_max) return;
    m_moments_wait = false;
    m.trainer->forget_moments();
}

/// The trainer has ended: a snapshot that it was asked for does not come.
void Contributor::clear_progress() {
    if (snapshotting()) m_work = Work::none;
    m_window_tokens = {};
    m_tokens_per_second = 0;
    m.mediator.status_changed();
}

// A window: snapshot, payload, contribution, look-ahead.

void Contributor::take_snapshot(Work purpose, RoundId round) {
    m_work = purpose;
    m_snapshot_anchor = m_anchor;
    m_anchor = {Anchor::Kind::snapshot, round};
    m.trainer->snapshot(m.store.scratch_place(Scratch::snapshot));
}

void Contributor::close_window() {
    if (m_process != Process::loaded || busy()) {
        m.mediator.nothing_offered();
        return;
    }
    m_snapshot_round = *m.keeper.round();
    m.mediator.status_changed();
    take_snapshot(Work::contribution_snapshot, m_snapshot_round);
}

std::optional<ReadVector> Contributor::vector_of(const Anchor& anchor) const {
    if (anchor.kind == Anchor::Kind::state) {
        if (!m.keeper.holds(anchor.round)) return std::nullopt;
        const State state = m.store.state(anchor.round);
        return ReadVector{state.parameters, state.mapping};
    }
    const Result<Vector> vector =
        m.store.scratch(anchor.kind == Anchor::Kind::look_ahead ? Scratch::look_ahead : Scratch::snapshot);
    if (!vector.ok()) return std::nullopt;
    return ReadVector{vector->values, vector->mapping};
}

void Contributor::on_snapshot(const SnapshotResult& result) {
    if (!snapshotting()) return;
    const Work purpose = std::exchange(m_work, Work::none);
    m_record.carried += result.tokens;
    pay_debt();
    if (result.steps > 0) m_loss = result.loss;
    m_window_tokens = {};
    const bool current = purpose == Work::contribution_snapshot && m.machine.playing() &&
                         m_snapshot_round == m.machine.round() && !m.mediator.repairing();
    if (!current || stopping()) {
        const float decay = purpose == Work::pause_snapshot ? 1.0F : m.context.manifest.recipe.error_decay;
        accumulate_into_error_feedback(m_snapshot_anchor, decay);
    } else if (m_record.carried.value == 0) {
        m.mediator.nothing_offered();
        rebase_to_state();
    } else {
        encode_window(m_snapshot_round);
    }
}

/// Movement without a payload: its tokens are carried over.
void Contributor::accumulate_into_error_feedback(const Anchor& anchor, float decay) {
    if (m_anchor.kind == Anchor::Kind::snapshot && !stopping() && m.keeper.round()) rebase_to_state();
    m_work = Work::encoding;
    m.jobs.run(
        [in = AccumulateInput{vector_or_none(m.store.scratch(Scratch::error)), vector_of(anchor).value_or(ReadVector{}),
                              vector_of({Anchor::Kind::snapshot, {}}).value_or(ReadVector{}), decay,
                              m.context.settings.threads}] { return accumulate(in); },
        [this, stop = stopping()](bool) {
            m_work = Work::none;
            save_record();
            if (stop) stop_trainer();
        });
}

void Contributor::encode_window(RoundId round) {
    const auto from = vector_of(m_snapshot_anchor);
    const auto to = vector_of({Anchor::Kind::snapshot, {}});
    const Result<Vector> error = m.store.scratch(Scratch::error);
    if (!error.ok() || !from || !to) {
        m.errors.report(error.ok() ? "The window's start is gone; its training is skipped." : error.error().message);
        m.mediator.nothing_offered();
        rebase_to_state();
        return;
    }
    const run::Recipe& recipe = m.context.manifest.recipe;
    m_work = Work::encoding;
    m.jobs.run(
        [in = AccumulateInput{*error, *from, *to, recipe.error_decay, m.context.settings.threads}, k = k()] {
            (void)accumulate(in);
            return numerics::encode(in.error.values, k, in.threads);
        },
        [this, round, base = m.keeper.digest()](Bytes payload) { encoded(round, base, std::move(payload)); });
}

void Contributor::encoded(RoundId round, const StateDigest& base, Bytes payload) {
    const bool current = m.machine.playing() && is_due({round, base, {}, {}}) && !m.keeper.applying();
    const bool may_offer = current && m_record.pending.size() < own_contributions_max;
    const Bytes blob = may_offer ? payload_blob(m.context.self(), payload) : Bytes();
    const Result<run::BlobRef> published =
        may_offer ? publish_own(m.context.swarm, m.mediator, blob) : Error{ErrorCode::cancelled, "The round is over."};
    if (!published.ok()) {
        if (current) m.errors.report(published.error().message);
        unpublished(std::move(payload));
        return;
    }
    const TokenCount tokens{std::min(m_record.carried.value, run::tokens_max)};
    const run::ContributionMessage own{round, base, *published, tokens, m.context.certificate};
    m_record.carried = m_record.carried - tokens;
    m_record.pending.push_back(own);
    save_record();
    m_payload_bytes_sent += published->size;
    ++m_payloads_sent;
    m.payloads.want(own.payload, round, {});
    m.mediator.offered(own);
    m.routes.send(own, blob, m.chain.committee(), reach_after(m_in_time));
    m.mediator.status_changed();
    look_ahead(round, std::move(payload));
}

/// The payload was taken out of the error feedback already; it goes back, and its tokens stay carried.
void Contributor::unpublished(Bytes payload) {
    m.jobs.run(
        [in = AddInput{vector_or_none(m.store.scratch(Scratch::error)), std::move(payload), m.context.layout.parameters,
                       m.context.manifest.recipe.k_max, 1.0F, m.context.settings.threads}] { return add(in); },
        [this](bool) {
            m_work = Work::none;
            m.mediator.nothing_offered();
            if (m_anchor.kind == Anchor::Kind::snapshot && m.keeper.round()) rebase_to_state();
            save_record();
            if (stopping()) stop_trainer();
        });
}

/// Training goes on from what the next state will be but for the others.
void Contributor::look_ahead(RoundId round, Bytes payload) {
    const Result<Vector> target = m.store.scratch(Scratch::look_ahead);
    const auto theta = vector_of({Anchor::Kind::state, round});
    const bool possible = target.ok() && theta && m_anchor.kind == Anchor::Kind::snapshot;
    const run::Recipe& recipe = m.context.manifest.recipe;
    LookAheadInput input;
    if (possible) {
        input = {*theta,
                 {*target, std::move(payload), m.context.layout.parameters, recipe.k_max, -recipe.outer.alpha,
                  m.context.settings.threads}};
    }
    m.jobs.run([in = std::move(input), possible] { return possible && write_look_ahead(in); },
               [this, round, possible](bool) { looked_ahead(round, possible); });
}

void Contributor::looked_ahead(RoundId round, bool possible) {
    m_work = Work::none;
    if (stopping()) {
        stop_trainer();
    } else if (running() && m_anchor.kind == Anchor::Kind::snapshot && m.keeper.round()) {
        if (possible && *m.keeper.round() == round) {
            m.trainer->rebase(m.store.scratch_place(Scratch::look_ahead));
            m_anchor = {Anchor::Kind::look_ahead, round};
            train_or_idle(round.next());
        } else {
            rebase_to_state();
        }
    }
}

// The record of own contributions.

void Contributor::restore() {
    if (const auto bytes = m.store.load_record()) {
        m_record = ContributionRecord::decode(*bytes).value_or(ContributionRecord{});
        for (run::ContributionMessage& own : m_record.pending) own.certificate = m.context.certificate;
    }
    // A jump that ended before it was settled.
    const auto is_skipped = [&](const run::ContributionMessage& own) { return own.round < m.chain.kept_from(); };
    if (std::any_of(m_record.pending.begin(), m_record.pending.end(), is_skipped)) skip(0);
    std::set<RoundId> rounds;
    for (const run::ContributionMessage& own : m_record.pending) {
        if (own.round >= m.chain.height()) continue;
        m.payloads.want(own.payload, own.round, {});
        rounds.insert({own.round, own.round.next()});
    }
    for (const RoundId round : rounds) {
        if (round >= m.chain.height()) continue;
        if (const auto list = m.chain.list_at(round)) settle(round, *list);
    }
}

void Contributor::settle(RoundId round, const run::AcceptList& list) {
    const auto is_accepted = [&](const run::ContributionMessage& own) {
        return std::any_of(list.entries.begin(), list.entries.end(), [&](const run::Accepted& entry) {
            return entry.peer == m.context.self() && entry.payload == own.payload;
        });
    };
    const std::vector<run::ContributionMessage> pending = std::exchange(m_record.pending, {});
    for (const run::ContributionMessage& own : pending) {
        const bool in_time = own.round == round;
        const bool late = own.round.next() == round;
        if (in_time) adapt_to_link(is_accepted(own));
        if ((in_time || late) && is_accepted(own)) continue;
        if (late || (in_time && !may_be_late(round, &list))) {
            return_contribution(own);
        } else {
            m_record.pending.push_back(own);
        }
    }
    settle_returned(list);
    if (m_record.pending.size() != pending.size()) save_record();
}

bool Contributor::may_be_late(RoundId round, const run::AcceptList* missed) const {
    return m.context.manifest.recipe.rounds_late_max > 0 && !m.context.is_last(round.next()) &&
           run::may_be_late(m.context.self(), missed);
}

/// A contribution that came back may be accepted after all, if the list that left it out was retracted: then it is
/// taken out of the error feedback again, and its tokens out of what is carried as soon as they are there.
void Contributor::settle_returned(const run::AcceptList& list) {
    for (const run::Accepted& entry : list.entries) {
        const auto found = std::find_if(m_returned.begin(), m_returned.end(),
                                        [&](const auto& own) { return own.payload == entry.payload; });
        if (entry.peer != m.context.self() || found == m_returned.end()) continue;
        m_debt += found->tokens;
        add_to_error_feedback(found->payload, -1);
        m_returned.erase(found);
    }
    pay_debt();
}

void Contributor::pay_debt() {
    const TokenCount paid = std::min(m_debt, m_record.carried);
    if (paid.value == 0) return;
    m_debt = m_debt - paid;
    m_record.carried = m_record.carried - paid;
    save_record();
}

/// Saved before the lists go: an offer that a list still holds is settled by it, whenever this process ends.
void Contributor::take_back(const std::vector<run::AcceptList>& lists) {
    for (const run::AcceptList& list : lists) {
        const auto before = list.round.value == 0 ? std::nullopt : m.chain.list_at(RoundId{list.round.value - 1});
        for (const run::Accepted& entry : list.entries) {
            if (entry.peer != m.context.self() || m_record.pending.size() >= own_contributions_max) continue;
            m_record.pending.push_back(run::contribution_of(list, entry, before ? before->base : StateDigest{}));
        }
    }
    save_record();
}

void Contributor::skip(std::uint64_t accepted) {
    for (const run::ContributionMessage& own : std::exchange(m_record.pending, {})) {
        if (accepted > 0) {
            --accepted;
        } else {
            return_contribution(own);
        }
    }
    save_record();
}

void Contributor::offer_again() {
    for (const run::ContributionMessage& own : m_record.pending) {
        if (!is_due(own)) continue;
        m.payloads.want(own.payload, own.round, {});
        const bool late = own.round < *m.keeper.round();
        const std::uint32_t k = late ? m.chain.k_late() : m.chain.k();
        // One that was taken back may have been forgotten here, or send more than another list allows; it returns with
        // its round.
        if (const PayloadPointer held = m.payloads.find(own.payload.root); held && held->view.k() > k) continue;
        const BlobPointer payload = m.context.swarm.blob(own.payload.root);
        if (payload == nullptr) continue;
        m.mediator.offered(own);
        // Most have a late one already; who does not asks for it.
        m.routes.send(own, late ? ByteSpan() : payload->bytes(), m.chain.committee(), reach_after(m_in_time));
    }
}

bool Contributor::is_due(const run::ContributionMessage& own) const {
    if (own.round == *m.keeper.round()) return own.base == m.keeper.digest();
    const run::AcceptList* missed = m.chain.head();
    return own.round.next() == *m.keeper.round() && may_be_late(own.round, missed) && own.base == missed->base;
}

void Contributor::repeat_contributions() {
    for (const run::ContributionMessage& own : m_record.pending) {
        const bool is_here = m.context.swarm.blob(own.payload.root) != nullptr;
        if (is_due(own) && is_here) m.routes.send(own, {}, m.chain.committee(), reach_after(m_in_time));
    }
}

/// Who joins between an offer and its list has not heard it.
void Contributor::offer_to(const PeerId& neighbour) const {
    for (const run::ContributionMessage& own : m_record.pending) {
        const BlobPointer payload = m.context.swarm.blob(own.payload.root);
        if (!m.machine.playing() || !is_due(own) || payload == nullptr) continue;
        m.context.swarm.send(neighbour, m.context.envelope_of(own, payload->bytes()));
    }
}

std::uint32_t Contributor::k() const {
    return std::max(m.chain.k() >> m_k_halvings, std::min(m.chain.k(), m.context.manifest.recipe.k));
}

/// Most are late because the link carries less than those of the others; less of the movement is better than none.
void Contributor::adapt_to_link(bool in_time) {
    m_in_time = in_time ? m_in_time + 1 : 0;
    if (!in_time && k() > m.context.manifest.recipe.k) ++m_k_halvings;
    if (m_in_time < in_time_to_double || m_k_halvings == 0) return;
    --m_k_halvings;
    m_in_time = 0;
}

void Contributor::return_contribution(const run::ContributionMessage& own) {
    m_record.carried += own.tokens;
    add_to_error_feedback(own.payload, 1);
    m_returned.push_back(own);
    if (m_returned.size() > own_contributions_max) m_returned.pop_front();
}

/// Notes e += scale * payload in the record, which the caller saves.
void Contributor::add_to_error_feedback(const run::BlobRef& payload, int scale) {
    std::vector<DeferredUpdate>& deferred = m_record.deferred;
    const auto same = [&](const DeferredUpdate& one) { return one.payload.root == payload.root; };
    auto found = std::find_if(deferred.begin(), deferred.end(), same);
    if (found == deferred.end()) {
        if (deferred.size() >= deferred_updates_max) {
            m.errors.report("Too many contributions came back without their content; some training is lost.");
            return;
        }
        found = deferred.insert(deferred.end(), {payload, 0});
    }
    found->scale = static_cast<std::int16_t>(found->scale + scale);
    if (found->scale == 0 && !m_updates_under_way.contains(payload.root)) deferred.erase(found);
    update_error_feedback();
}

void Contributor::update_error_feedback() {
    for (const DeferredUpdate& one : m_record.deferred) {
        if (m_updates_under_way.contains(one.payload.root)) continue;
        const PayloadPointer payload = m.payloads.find(one.payload.root);
        if (!payload) m.payloads.want(one.payload, m.chain.height(), {});
        const Result<Vector> error = m.store.scratch(Scratch::error);
        if (!payload || !error.ok()) continue;
        m_updates_under_way.insert(one.payload.root);
        m.jobs.run(
            [payload, scale = static_cast<float>(one.scale), target = *error, threads = m.context.settings.threads] {
                numerics::add_decoded(target.values, payload->view, scale, threads);
                return true;
            },
            [this, id = one.payload.root, scale = one.scale](bool) { added_to_error_feedback(id, scale); });
    }
}

void Contributor::update_start_over() {
    const bool is_used = busy() || !m_updates_under_way.empty();
    if (!m_starts_over || is_used || !m.keeper.round() || *m.keeper.round() < m.chain.height()) return;
    const Result<Vector> error = m.store.scratch(Scratch::error);
    if (!error.ok()) {
        m.errors.report(error.error().message);
        return;
    }
    m_starts_over = false;
    m_record.carried = {};
    m_record.deferred.clear();
    save_record();
    m_work = Work::encoding;
    m.jobs.run(
        [target = *error] {
            std::fill(target.values.begin(), target.values.end(), 0.0F);
            return true;
        },
        [this](bool) {
            m_work = Work::none;
            stopping() ? stop_trainer() : reload();
        });
}

void Contributor::added_to_error_feedback(const BlobId& id, int scale) {
    m_updates_under_way.erase(id);
    std::vector<DeferredUpdate>& deferred = m_record.deferred;
    const auto same = [&](const DeferredUpdate& one) { return one.payload.root == id; };
    const auto found = std::find_if(deferred.begin(), deferred.end(), same);
    POTLUCK_CHECK(found != deferred.end());
    found->scale = static_cast<std::int16_t>(found->scale - scale);
    const bool is_done = found->scale == 0;
    if (is_done) deferred.erase(found);
    save_record();
    if (is_done) m.payloads.forget(id);
    update_error_feedback();
}

void Contributor::save_record() {
    const Status saved = m.store.save_record(m_record.encode());
    if (!saved.ok()) m.errors.report(saved.error().message);
}

// The owner's wishes and the trainer's answers.

void Contributor::pause() {
    if (m_paused) return;
    m_paused = true;
    m.mediator.status_changed();
    if (!running()) return;
    const bool loaded = m_process == Process::loaded;
    m_process = Process::stopping;
    m_stop_asked = m.context.now();
    if (busy()) return;
    if (!loaded || m_anchor.kind == Anchor::Kind::snapshot) {
        stop_trainer();
        return;
    }
    take_snapshot(Work::pause_snapshot, {});
}

void Contributor::resume() {
    m_paused = false;
    if (m_process == Process::failed) m_process = Process::off;
    m_retry_at = m.context.now();
    m.mediator.status_changed();
}

/// What ends for good is not begun again, and what is paused already comes back by itself.
void Contributor::restart() {
    if (m_paused || m_finish != Finish::no) return;
    pause();
    resume();
}

void Contributor::finish() {
    if (m_finish != Finish::no) return;
    if (!running() || m.machine.closed() || !m.machine.playing()) {
        m_finish = Finish::finished;
        return;
    }
    m_finish = Finish::after_this_window;
    m.mediator.close_early();
}

void Contributor::on_started() {
    if (!running() || !m.keeper.round()) return;
    if (m_process == Process::starting) m_process = Process::loaded;
    m_retry_wait = trainer_retry_first;
    m.mediator.status_changed();
    train_or_idle(*m.keeper.round());
}

void Contributor::on_progress(TokenCount window_tokens, double tokens_per_second, double loss) {
    m_window_tokens = window_tokens;
    m_tokens_per_second = tokens_per_second;
    if (loss > 0) m_loss = loss;
}

void Contributor::on_lost(const Error& error) {
    if (!running()) return;
    m_failure = error.message;
    if (m_work == Work::contribution_snapshot) m.mediator.nothing_offered();
    m_process = error.code == ErrorCode::unavailable ? Process::failed : Process::off;
    m_retry_at = m.context.now() + m_retry_wait;
    m_retry_wait = std::min(2 * m_retry_wait, trainer_retry_max);
    clear_progress();
}

std::set<BlobId> Contributor::payloads_needed() const {
    std::set<BlobId> needed;
    for (const run::ContributionMessage& own : m_record.pending) needed.insert(own.payload.root);
    for (const DeferredUpdate& one : m_record.deferred) needed.insert(one.payload.root);
    return needed;
}

// What is shown.

StatusFacts::Training Contributor::facts() const {
    return {.paused = m_paused,
            .pausing = stopping(),
            .finishing = m_finish == Finish::after_this_window,
            .finished = m_finish == Finish::finished,
            .loaded = m_process == Process::loaded || stopping(),
            .failed = m_process == Process::failed,
            .failure = m_process == Process::failed ? m_failure : std::string(),
            .contributing = m_work == Work::encoding || m_work == Work::contribution_snapshot,
            .has_data = !m.shards.whole().empty(),
            .window_tokens = m_window_tokens,
            .pending_tokens = m_record.pending_tokens(),
            .tokens_per_second = m_tokens_per_second,
            .loss = m_loss};
}

std::optional<BlobId> Contributor::shard_waited_for() const {
    if (!trainer_wanted() || !m.shards.whole().empty()) return std::nullopt;
    return m.context.manifest.shards[shard_of(*m.keeper.round())].blob.root;
}

Accounting Contributor::accounting() const {
    Accounting books;
    books.settled = m.jobs.count() == 0 && !busy();
    if (const auto error = m.store.scratch(Scratch::error); error.ok()) {
        books.error_feedback.assign(error->values.begin(), error->values.end());
    }
    books.pending = m_record.pending;
    for (const DeferredUpdate& one : m_record.deferred) {
        books.deferred.push_back({one.payload.root, static_cast<float>(one.scale)});
    }
    books.carried = m_record.carried;
    return books;
}

void Contributor::check_invariants() const {
    POTLUCK_CHECK(m_record.pending.size() <= own_contributions_max);
    POTLUCK_CHECK(m_record.deferred.size() <= deferred_updates_max);
    for (const BlobId& id : m_updates_under_way) {
        const auto same = [&](const DeferredUpdate& one) { return one.payload.root == id; };
        POTLUCK_CHECK(std::any_of(m_record.deferred.begin(), m_record.deferred.end(), same));
    }
    POTLUCK_CHECK(volunteer() || m_process == Process::off);
    POTLUCK_CHECK(!snapshotting() || running());
}

}  // namespace potluck::peer
