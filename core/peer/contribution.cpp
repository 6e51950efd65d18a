// What a volunteer makes: windows of training turned into payloads. The error feedback e holds all movement that has
// not been sent and accepted; tokens follow it, so that work is credited once or still waits, and is never lost.
//
//   snapshot -> e = decay e + (mark - snapshot) -> payload = encode(e) -> publish -> record -> announce
//            -> trainer rebased to theta[r] - alpha payload, where it goes on at once
//            -> theta[r+1] arrives: trainer rebased to it
// A list without our payload: e += payload, its tokens are carried to the next one.

#include <algorithm>
#include <utility>

#include "core/peer/impl.h"
#include "core/run/sample_order.h"

namespace potluck::peer {

bool Peer::Impl::trainer_wanted() const {
    return volunteer() && in_step() && !over() && machine.playing() && !training.paused && !training.stopping &&
           !training.finishing && !training.finished && !training.gave_up;
}

void Peer::Impl::tend_trainer() {
    if (training.stopping && now >= training.stop_asked + pause_patience && !training.encoding) stop_trainer();
    const bool at_work = training.encoding || training.purpose != SnapshotPurpose::none || !machine.closed();
    if (training.finishing && (!at_work || !machine.playing())) {
        training.finishing = false;
        training.finished = true;
        if (training.running) world.trainer->idle();
    }
    if (training.running || !trainer_wanted() || training.encoding || now < training.retry_at) return;
    if (!plan_for(*state)) return;
    training.running = true;
    training.loaded = false;
    training.mark = {Mark::Kind::state, *state};
    world.trainer->start(manifest, world.store.state_place(*state));
}

/// Asks for this round's shard and the next one's; lets go of those not used for long.
void Peer::Impl::tend_shards() {
    if (!trainer_wanted()) return;
    for (const RoundId round : {*state, state->next()}) {
        const std::size_t index =
            run::shard_of(manifest.recipe.seed, round, world.identity.id(), manifest.shards.size());
        if (!training.shards_wanted.insert(index).second) continue;
        training.shards_order.push_back(index);
        world.swarm.fetch(manifest.shards[index].blob,
                          {.sources = {}, .deadline = now, .damaged_copy = {}, .layer = {}});
    }
    while (training.shards_order.size() > shards_kept) {
        const std::size_t old = training.shards_order.front();
        training.shards_order.pop_front();
        training.shards_wanted.erase(old);
        training.shards.erase(old);
        world.swarm.forget(manifest.shards[old].blob.root);
    }
}

/// The window of `round` on its shard, or on another that is here while that one is fetched.
std::optional<WindowPlan> Peer::Impl::plan_for(RoundId round) const {
    if (training.shards.empty()) return std::nullopt;
    const std::size_t wanted =
        run::shard_of(manifest.recipe.seed, round, world.identity.id(), manifest.shards.size());
    auto found = training.shards.find(wanted);
    if (found == training.shards.end()) found = training.shards.begin();
    return WindowPlan{round, run::learning_rate_at(manifest.recipe, round.value), found->second->path(),
                      manifest.shards[found->first].records};
}

void Peer::Impl::train_or_idle(RoundId round) {
    if (!training.running || training.stopping) return;
    const auto plan = plan_for(round);
    if (round.value >= manifest.recipe.total_rounds || training.finishing || training.finished || !plan) {
        world.trainer->idle();
        return;
    }
    world.trainer->train(*plan);
}

/// theta[state] is new: the trainer moves over, keeping what it has trained since its mark.
void Peer::Impl::rebase_to_state() {
    if (!training.running || training.stopping) return;
    world.trainer->rebase(world.store.state_place(*state));
    training.mark = {Mark::Kind::state, *state};
    train_or_idle(*state);
}

void Peer::Impl::close_window() {
    const bool ready = training.running && training.loaded && !training.stopping && !training.encoding &&
                       training.purpose == SnapshotPurpose::none;
    if (!ready) {
        machine.nothing_offered(now);
        return;
    }
    training.purpose = SnapshotPurpose::contribution;
    training.snapshot_mark = training.mark;
    training.snapshot_round = *state;
    training.mark = {Mark::Kind::snapshot, *state};
    say_status_soon = true;
    world.trainer->snapshot(world.store.scratch_place(Scratch::snapshot));
}

std::optional<std::span<const float>> Peer::Impl::vector_of(const Mark& mark) {
    if (mark.kind == Mark::Kind::state) {
        const std::vector<StateStore::Held> held = world.store.held();
        const auto wanted = [&](const StateStore::Held& one) { return one.round == mark.round; };
        const bool here = std::any_of(held.begin(), held.end(), wanted);
        return here ? std::optional(world.store.state(mark.round)) : std::nullopt;
    }
    const Result<std::span<float>> vector =
        world.store.scratch(mark.kind == Mark::Kind::look_ahead ? Scratch::look_ahead : Scratch::snapshot);
    if (!vector.ok()) return std::nullopt;
    return std::span<const float>(*vector);
}

void Peer::Impl::snapshot_here(const SnapshotResult& result) {
    const SnapshotPurpose purpose = std::exchange(training.purpose, SnapshotPurpose::none);
    if (purpose == SnapshotPurpose::none) return;
    record.carried += result.tokens;
    if (result.steps > 0) training.loss = result.loss;
    training.window_tokens = {};
    const bool current = purpose == SnapshotPurpose::contribution && machine.playing() &&
                         training.snapshot_round == machine.round() && !repair;
    if (!current || training.stopping) {
        fold(training.snapshot_mark, purpose == SnapshotPurpose::pause ? 1.0F : manifest.recipe.error_decay);
    } else if (record.carried.value == 0) {
        machine.nothing_offered(now);
        rebase_to_state();
    } else {
        encode_window(training.snapshot_round);
    }
}

/// Movement without a payload: into the error feedback, with its tokens carried over.
void Peer::Impl::fold(const Mark& mark, float decay) {
    if (training.mark.kind == Mark::Kind::snapshot && !training.stopping && state) rebase_to_state();
    const auto from = vector_of(mark);
    const auto to = vector_of({Mark::Kind::snapshot, {}});
    const Result<std::span<float>> error = world.store.scratch(Scratch::error);
    const bool stop = training.stopping;
    training.encoding = true;
    const auto work = [this, from, to, decay, target = error.ok() ? *error : std::span<float>()] {
        if (from && to && !target.empty()) numerics::accumulate_error(target, *from, *to, decay, settings.threads);
    };
    offload(work, [this, stop] {
        training.encoding = false;
        save_record();
        if (stop) stop_trainer();
    });
}

void Peer::Impl::encode_window(RoundId round) {
    const auto from = vector_of(training.snapshot_mark);
    const auto to = vector_of({Mark::Kind::snapshot, {}});
    const Result<std::span<float>> error = world.store.scratch(Scratch::error);
    if (!error.ok() || !from || !to) {
        trouble(error.ok() ? "The window's start is gone; its training is skipped." : error.error().message);
        machine.nothing_offered(now);
        rebase_to_state();
        return;
    }
    training.encoding = true;
    auto payload = std::make_shared<Bytes>();
    const auto work = [this, from = *from, to = *to, target = *error, payload] {
        numerics::accumulate_error(target, from, to, manifest.recipe.error_decay, settings.threads);
        *payload = numerics::encode(target, manifest.recipe.k, settings.threads);
    };
    offload(work, [this, round, base = digest, payload] { encoded(round, base, payload); });
}

void Peer::Impl::encoded(RoundId round, const StateDigest& base, std::shared_ptr<Bytes> payload) {
    const bool current = machine.playing() && machine.round() == round && digest == base && !applying;
    const Result<run::BlobRef> published = current && record.pending.size() < own_contributions_max
                                               ? world.swarm.publish(*payload)
                                               : Error{ErrorCode::cancelled, "The round is over."};
    if (!published.ok()) {
        // The payload was taken out of e already; it goes back, and its tokens stay carried.
        if (current) trouble(published.error().message);
        const Result<std::span<float>> error = world.store.scratch(Scratch::error);
        const auto work = [this, payload, target = error.ok() ? *error : std::span<float>()] {
            numerics::PayloadView view;
            const auto fault =
                numerics::PayloadView::parse(*payload, layout.parameters, manifest.recipe.k, view);
            if (fault == numerics::PayloadFault::none && !target.empty()) {
                numerics::add_decoded(target, view, 1.0F, settings.threads);
            }
        };
        offload(work, [this] {
            training.encoding = false;
            machine.nothing_offered(now);
            if (training.mark.kind == Mark::Kind::snapshot && state) rebase_to_state();
            save_record();
            if (training.stopping) stop_trainer();
        });
        return;
    }
    const TokenCount tokens{std::min(record.carried.value, run::tokens_max)};
    const run::ContributionMessage own{round, base, *published, tokens};
    record.carried = record.carried - tokens;
    record.pending.push_back(own);
    save_record();
    payload_bytes_sent += published->size;
    ++payloads_sent;
    payloads.want(own.payload, round, {}, now);
    machine.offered(own, now);
    broadcast(own);
    say_status_soon = true;
    look_ahead(round, std::move(payload));
}

/// Training goes on from what the next state will be but for the others: theta - alpha * own payload.
void Peer::Impl::look_ahead(RoundId round, std::shared_ptr<Bytes> payload) {
    const Result<std::span<float>> target = world.store.scratch(Scratch::look_ahead);
    const auto theta = vector_of({Mark::Kind::state, round});
    const bool possible = target.ok() && theta && training.mark.kind == Mark::Kind::snapshot;
    const auto work = [this, possible, theta, out = target.ok() ? *target : std::span<float>(), payload] {
        if (!possible) return;
        std::copy(theta->begin(), theta->end(), out.begin());
        numerics::PayloadView view;
        const auto fault = numerics::PayloadView::parse(*payload, layout.parameters, manifest.recipe.k, view);
        if (fault == numerics::PayloadFault::none) {
            numerics::add_decoded(out, view, -manifest.recipe.alpha, settings.threads);
        }
    };
    offload(work, [this, possible, round] {
        training.encoding = false;
        if (training.stopping) {
            stop_trainer();
        } else if (training.running && training.mark.kind == Mark::Kind::snapshot && state) {
            if (possible && *state == round) {
                world.trainer->rebase(world.store.scratch_place(Scratch::look_ahead));
                training.mark = {Mark::Kind::look_ahead, round};
                train_or_idle(round.next());
            } else {
                rebase_to_state();
            }
        }
    });
}

void Peer::Impl::give_back(const run::ContributionMessage& own) {
    record.carried += own.tokens;
    if (record.returned.size() >= own_contributions_max) record.returned.erase(record.returned.begin());
    record.returned.push_back(own);
    move_error(own.payload.root, 1.0F);
}

void Peer::Impl::take_again(const run::ContributionMessage& own) {
    record.carried = record.carried - std::min(record.carried, own.tokens);
    move_error(own.payload.root, -1.0F);
}

/// e += scale * payload, as soon as the payload is here.
void Peer::Impl::move_error(const BlobId& id, float scale) {
    const PayloadPointer payload = payloads.find(id);
    const Result<std::span<float>> error = world.store.scratch(Scratch::error);
    if (!payload || !error.ok()) {
        const auto [owed, added] = movement_owed.try_emplace(id, scale);
        if (!added) owed->second += scale;
        return;
    }
    const auto work = [this, payload, scale, target = *error] {
        numerics::add_decoded(target, payload->view, scale, settings.threads);
    };
    offload(work, [] {});
}

void Peer::Impl::save_record() {
    const Status saved = world.store.save_record(record.encode());
    if (!saved.ok()) trouble(saved.error().message);
}

void Peer::Impl::stop_trainer() {
    if (training.running) world.trainer->stop();
    training.running = training.loaded = training.stopping = false;
    training.purpose = SnapshotPurpose::none;
    training.window_tokens = {};
    training.tokens_per_second = 0;
    say_status_soon = true;
}

void Peer::Impl::trainer_lost(const Error& error) {
    if (!training.running) return;
    trouble(error.message);
    if (training.purpose == SnapshotPurpose::contribution) machine.nothing_offered(now);
    training.running = training.loaded = training.stopping = false;
    training.purpose = SnapshotPurpose::none;
    training.window_tokens = {};
    training.tokens_per_second = 0;
    training.gave_up = error.code == ErrorCode::unavailable;
    training.retry_at = now + training.retry_wait;
    training.retry_wait = std::min(2 * training.retry_wait, trainer_retry_max);
    say_status_soon = true;
}

// The owner's wishes and the trainer's answers.

void Peer::pause(TimePoint now) {
    Impl& impl = *m_impl;
    impl.now = now;
    Training& training = impl.training;
    if (training.paused) return;
    training.paused = true;
    impl.say_status_soon = true;
    if (!training.running) return;
    training.stopping = true;
    training.stop_asked = now;
    if (training.purpose != SnapshotPurpose::none || training.encoding) return;
    if (!training.loaded || training.mark.kind == Mark::Kind::snapshot) {
        impl.stop_trainer();
        return;
    }
    training.purpose = SnapshotPurpose::pause;
    training.snapshot_mark = training.mark;
    training.mark = {Mark::Kind::snapshot, {}};
    impl.world.trainer->snapshot(impl.world.store.scratch_place(Scratch::snapshot));
}

void Peer::resume(TimePoint now) {
    m_impl->now = now;
    m_impl->training.paused = m_impl->training.gave_up = false;
    m_impl->training.retry_at = now;
    m_impl->say_status_soon = true;
}

void Peer::finish(TimePoint now) {
    Impl& impl = *m_impl;
    impl.now = now;
    if (impl.training.finished || impl.training.finishing) return;
    if (!impl.training.running || impl.machine.closed() || !impl.machine.playing()) {
        impl.training.finished = true;
        if (impl.training.running) impl.world.trainer->idle();
        return;
    }
    impl.training.finishing = true;
    impl.machine.close_early();
}

void Peer::set_name(const std::string& name) {
    m_impl->settings.name = name;
    m_impl->say_status_soon = true;
}

void Peer::on_trainer_started() {
    Impl& impl = *m_impl;
    if (!impl.training.running || !impl.state) return;
    impl.training.loaded = true;
    impl.training.retry_wait = trainer_retry_first;
    impl.say_status_soon = true;
    impl.train_or_idle(*impl.state);
}

void Peer::on_first_step() {
    if (!m_impl->join_to_first_step) m_impl->join_to_first_step = m_impl->now - m_impl->started_at;
}

void Peer::on_progress(TokenCount window_tokens, double tokens_per_second, double loss) {
    m_impl->training.window_tokens = window_tokens;
    m_impl->training.tokens_per_second = tokens_per_second;
    if (loss > 0) m_impl->training.loss = loss;
}

}  // namespace potluck::peer
