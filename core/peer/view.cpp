// What the node shows of this member, and what it tells the others.

#include <algorithm>
#include <limits>

#include "core/peer/impl.h"

namespace potluck::peer {

run::StatusMessage Peer::Impl::own_status() const {
    run::StatusMessage status;
    status.sequence = sequence;
    status.role = volunteer() ? run::Role::volunteer : run::Role::backbone;
    status.phase = phase();
    status.round = state.value_or(RoundId{0});
    status.digest = state ? digest : StateDigest{};
    if (state && state->value > 0) status.list = list_hash(RoundId{state->value - 1});
    status.window_tokens = training.window_tokens;
    if (status.phase == run::Phase::collecting) {
        // While collecting this says what is offered, so that the leader knows whom to wait for.
        const bool under_way = training.encoding || training.purpose == SnapshotPurpose::contribution;
        status.window_tokens = record.pending_tokens();
        if (under_way) status.window_tokens += std::max(training.window_tokens, TokenCount{1});
    }
    const double speed = std::clamp(training.tokens_per_second, 0.0,
                                    static_cast<double>(std::numeric_limits<std::uint32_t>::max()));
    status.tokens_per_second = static_cast<std::uint32_t>(speed);
    status.loss = static_cast<float>(training.loss);
    if (!checkpoints.empty()) {
        status.checkpoint_round = checkpoints.rbegin()->first;
        status.checkpoint = checkpoints.rbegin()->second.blob;
    }
    status.port = world.swarm.port();
    status.name = settings.name.substr(0, run::name_bytes_max);
    return status;
}

std::string Peer::Impl::reason() const {
    const bool recent_trouble = !last_trouble.empty() && now - trouble_at < Duration{30'000};
    if (training.gave_up) return last_trouble;
    if (repair) return "Repairing a damaged copy of the model.";
    if (!state) {
        if (checking_start) return "Checking the model on disk.";
        if (members.all().empty()) return "Looking for other members of the run.";
        return checkpoint_fetch ? "Fetching the model." : "Fetching the history of the run.";
    }
    if (over()) return "The run is complete; the finished model is being shared.";
    if (*state < chain) return "Catching up with the others.";
    if (training.paused) return "Paused; this computer stays a member and relays.";
    if (training.finished) return "Finished training; this computer stays a member and relays.";
    if (recent_trouble) return last_trouble;
    if (volunteer() && training.shards.empty()) return "Fetching training data.";
    if (volunteer() && !training.loaded) return "Starting the trainer.";
    if (machine.reopened()) return "Nobody contributed to this round yet; its window stays open.";
    if (machine.closed()) {
        return volunteer() ? "Exchanging this round's contributions; training goes on meanwhile."
                           : "Collecting this round's contributions.";
    }
    return volunteer() ? training_reason() : "Keeping the rounds and passing on what others need.";
}

std::string Peer::Impl::training_reason() const {
    const Duration left = machine.opened_at() + manifest.recipe.window - now;
    const auto seconds = std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(left).count());
    std::string sentence = "Round " + std::to_string(state->value) + " is open for " + std::to_string(seconds) +
                           (seconds == 1 ? " more second" : " more seconds");
    if (training.tokens_per_second >= 1) {
        sentence += "; this computer trains at " +
                    std::to_string(static_cast<std::uint64_t>(training.tokens_per_second)) + " tokens per second";
    }
    return sentence + ".";
}

PeerView Peer::Impl::view() const {
    PeerView view;
    view.phase = phase();
    view.reason = reason();
    if (!state && checkpoint_fetch) view.progress = world.swarm.progress(checkpoint_fetch->ref.root);
    if (state && volunteer() && training.shards.empty() && !training.shards_wanted.empty()) {
        view.progress = world.swarm.progress(manifest.shards[*training.shards_wanted.begin()].blob.root);
    }
    if (repair) view.progress = world.swarm.progress(repair->digest);
    view.round = state.value_or(RoundId{0});
    view.digest = state ? digest : StateDigest{};
    if (machine.playing()) view.leader = machine.leader_at(now).leader;
    view.members.push_back({world.identity.id(), own_status(), true});
    for (const auto& [peer, member] : members.all()) view.members.push_back({peer, member.status, false});
    view.window_tokens = training.window_tokens;
    view.tokens_per_second = training.tokens_per_second;
    view.loss = training.loss;
    view.digests_compared = digests_compared;
    view.digests_equal = digests_equal;
    view.repairs = repairs;
    view.rounds_lost = rounds_lost;
    view.payload_bytes_sent = payload_bytes_sent;
    view.payloads_sent = payloads_sent;
    view.last_round_overhead = last_round_overhead;
    view.join_to_first_step = join_to_first_step;
    for (const auto& [round, checkpoint] : checkpoints) view.checkpoints.push_back(checkpoint);
    return view;
}

Accounting Peer::accounting() const {
    const Impl& impl = *m_impl;
    Accounting books;
    books.settled = impl.jobs == 0 && !impl.training.encoding && impl.training.purpose == SnapshotPurpose::none;
    if (const auto error = impl.world.store.scratch(Scratch::error); error.ok()) {
        books.error_feedback.assign(error->begin(), error->end());
    }
    books.pending = impl.record.pending;
    for (const auto& [payload, scale] : impl.movement_owed) books.deferred.push_back({payload, scale});
    books.carried = impl.record.carried;
    return books;
}

}  // namespace potluck::peer
