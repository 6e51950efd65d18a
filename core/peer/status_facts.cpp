#include "core/peer/status_facts.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/text.h"
#include "core/peer/presence/members.h"

namespace potluck::peer {

namespace {

using status::Reason;
using status::Why;

Why training_why(const StatusFacts& facts) {
    const auto seconds = std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(facts.window.left).count());
    return {.reason = Reason::training,
            .round = facts.state->value,
            .seconds = static_cast<std::uint64_t>(seconds),
            .tokens_per_second = static_cast<std::uint64_t>(std::max(0.0, facts.training.tokens_per_second))};
}

/// Round 0 where only the host can end it.
Why shut_out_why(const JuryView::Shut& shut) {
    Why why{.reason = Reason::suspended, .round = 0};
    if (shut.state.until != run::until_lifted) why.round = shut.state.until.value;
    if (shut.figures) why.detail = formatted("%.4f / %.4f", shut.figures->own / 1e6, shut.figures->median / 1e6);
    return why;
}

/// What its host can put right; training goes on.
Why diverging_why(const StatusFacts::Training& training) {
    return {.reason = Reason::diverging,
            .detail = formatted("%.3f / %.3f", run::nats_of(training.newest_loss), run::nats_of(training.best->loss)),
            .round = training.best->round.value};
}

std::int64_t alone_since(const StatusFacts& facts) {
    return facts.unix_time - std::chrono::floor<std::chrono::seconds>(facts.alone_for).count();
}
bool is_alone(const StatusFacts& facts) { return !facts.members_known && facts.alone_for > facts.round_length; }

Why stateless_why(const StatusFacts& facts) {
    if (facts.checking) return {Reason::checking_model};
    if (is_alone(facts)) return {.reason = Reason::members_unreachable, .since = alone_since(facts)};
    if (!facts.members_known) return {Reason::searching_members};
    if (facts.disk_full) return {Reason::hindered, facts.last_error};
    return {facts.fetching_state ? Reason::fetching_model : Reason::fetching_history};
}

/// What keeps a member from its work, or from being told that all is well; nothing if nothing does.
std::optional<Why> obstacle(const StatusFacts& facts) {
    const StatusFacts::Training& training = facts.training;
    const bool trains = training.has_data && training.loaded;
    if (facts.error_recent) {
        const bool stands_still = facts.volunteer && !trains;
        return Why{stands_still ? Reason::hindered : Reason::trouble, facts.last_error};
    }
    if (facts.volunteer && !training.has_data) return Why{Reason::fetching_data};
    if (facts.volunteer && !training.loaded) return Why{Reason::starting_trainer};
    const bool quorum = facts.seats_here >= facts.seats_needed;
    if (is_alone(facts)) {
        return Why{.reason = quorum ? Reason::alone : Reason::alone_waiting,
                   .here = facts.seats_here,
                   .needed = facts.seats_needed,
                   .since = alone_since(facts)};
    }
    if (quorum) return std::nullopt;
    return Why{.reason = Reason::waiting_for_committee, .here = facts.seats_here, .needed = facts.seats_needed};
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
    const bool is_shut_out = training.shut_out.has_value();
    const bool is_paused = training.paused || training.pausing || is_shut_out || facts.calculates_differently;
    if (facts.volunteer && is_paused) return run::Phase::paused;
    if (facts.volunteer && training.finished) return run::Phase::finished;
    if (facts.window.closed) return run::Phase::collecting;
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
    status.team = facts.team.substr(0, run::team_bytes_max);
    status.certificate = facts.certificate;
    status.light = facts.light;
    return status;
}

status::Why why_of(const StatusFacts& facts) {
    const StatusFacts::Training& training = facts.training;
    if (training.failed) return {Reason::trainer_failed, training.failure};
    if (facts.own_key_elsewhere) return {Reason::identity_in_use};
    if (facts.calculates_differently) return {Reason::calculates_differently};
    if (facts.repairing) return {Reason::repairing_model};
    if (!facts.unadmitted_id.empty()) return {Reason::not_admitted, facts.unadmitted_id};
    if (facts.leaving) return {Reason::leaving};
    if (!facts.state) return stateless_why(facts);
    if (facts.run_complete) return {Reason::run_complete};
    if (*facts.state < facts.chain_height) return {Reason::catching_up};
    if (training.shut_out) return shut_out_why(*training.shut_out);
    if (training.paused) return {Reason::paused};
    if (training.finished) return {Reason::finished};
    if (training.finishing) return {Reason::finishing};
    if (auto found = obstacle(facts)) return *std::move(found);
    if (training.best) return diverging_why(training);
    if (facts.window.reopened) return {Reason::window_reopened};
    if (facts.window.closed) return {facts.volunteer ? Reason::exchanging : Reason::collecting};
    return facts.volunteer ? training_why(facts) : Why{Reason::keeping};
}

}  // namespace potluck::peer
