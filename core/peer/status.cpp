#include "core/peer/peer_view.h"

#include <algorithm>

#include "core/peer/presence/members.h"

namespace potluck::peer {

namespace {

std::string training_reason(const StatusFacts& facts) {
    const auto seconds = std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(facts.window_left).count());
    std::string sentence = "Round " + std::to_string(facts.state->value) + " is open for " + std::to_string(seconds) +
                           (seconds == 1 ? " more second" : " more seconds");
    if (facts.training.tokens_per_second >= 1) {
        sentence += "; this computer trains at " +
                    std::to_string(static_cast<std::uint64_t>(facts.training.tokens_per_second)) + " tokens per second";
    }
    return sentence + ".";
}

std::string stateless_reason(const StatusFacts& facts) {
    if (facts.checking) return "Checking the model on disk.";
    if (!facts.members_known) return "Looking for other members of the run.";
    return facts.fetching_state ? "Fetching the model." : "Fetching the history of the run.";
}

}  // namespace

run::Phase phase_of(const StatusFacts& facts) {
    const StatusFacts::Training& training = facts.training;
    if (!facts.state) return run::Phase::joining;
    if (facts.repairing) return run::Phase::repairing;
    if (facts.leaving) return run::Phase::leaving;
    if (facts.run_complete) return run::Phase::finished;
    if (*facts.state < facts.chain_height) return run::Phase::joining;
    if (facts.applying) return run::Phase::applying;
    const bool is_paused = training.paused || training.pausing || facts.calculates_differently;
    if (facts.volunteer && is_paused) return run::Phase::paused;
    if (facts.volunteer && training.finished) return run::Phase::finished;
    if (facts.window_closed) return run::Phase::collecting;
    if (facts.volunteer && !training.loaded) return run::Phase::joining;
    return run::Phase::training;
}

run::StatusMessage status_message_of(const StatusFacts& facts) {
    const StatusFacts::Training& training = facts.training;
    run::StatusMessage status;
    status.sequence = facts.sequence;
    status.role = facts.volunteer ? run::Role::volunteer : run::Role::backbone;
    status.phase = phase_of(facts);
    status.round = facts.state.value_or(RoundId{0});
    status.digest = facts.state ? facts.digest : StateDigest{};
    if (facts.state && facts.state->value > 0) status.list = facts.list;
    status.window_tokens = training.window_tokens;
    if (status.phase == run::Phase::collecting) {
        // While collecting this says what is offered, so that others know whom to wait for.
        status.window_tokens = training.pending_tokens;
        if (training.contributing) status.window_tokens += std::max(training.window_tokens, TokenCount{1});
    }
    const auto speed_max = static_cast<double>(tokens_per_second_max);
    status.tokens_per_second = static_cast<std::uint32_t>(std::clamp(training.tokens_per_second, 0.0, speed_max));
    status.loss = static_cast<float>(training.loss);
    if (facts.checkpoint) {
        status.checkpoint_round = facts.checkpoint->round;
        status.checkpoint = facts.checkpoint->blob;
    }
    status.port = facts.port;
    status.name = facts.name.substr(0, run::name_bytes_max);
    return status;
}

std::string reason_of(const StatusFacts& facts) {
    const StatusFacts::Training& training = facts.training;
    if (training.failed) return facts.last_error;
    if (facts.own_key_elsewhere) {
        return "Another computer uses this identity; only what one of them does counts. Stop Potluck on one of them, "
               "or give it a data folder of its own.";
    }
    if (facts.calculates_differently) {
        return "This computer calculates differently; its memory may be faulty. It contributes nothing more until "
               "Potluck is started again; test its memory first.";
    }
    if (facts.repairing) return "Repairing a damaged copy of the model.";
    if (!facts.unadmitted_id.empty()) {
        return "This run admits only people its host has listed; send the host your id " + facts.unadmitted_id + ".";
    }
    if (facts.leaving) return "Leaving; another member takes this computer's place in the committee.";
    if (!facts.state) return stateless_reason(facts);
    if (facts.run_complete) return "The run is complete; the finished model is being shared.";
    if (*facts.state < facts.chain_height) return "Catching up with the others.";
    if (training.paused) return "Paused; this computer stays a member and relays.";
    if (training.finished) return "Finished training; this computer stays a member and relays.";
    if (facts.error_recent) return facts.last_error;
    if (facts.volunteer && !training.has_data) return "Fetching training data.";
    if (facts.volunteer && !training.loaded) return "Starting the trainer.";
    if (facts.seats_here < facts.seats_needed) {
        return "Waiting for the run's committee: " + std::to_string(facts.seats_here) + " of the " +
               std::to_string(facts.seats_needed) + " needed are here. Training goes on, and nothing is lost.";
    }
    if (facts.window_reopened) return "Nobody contributed to this round yet; its window stays open.";
    if (facts.window_closed) {
        return facts.volunteer ? "Exchanging this round's contributions; training goes on meanwhile."
                               : "Collecting this round's contributions.";
    }
    return facts.volunteer ? training_reason(facts) : "Keeping the rounds and passing on what others need.";
}

}  // namespace potluck::peer
