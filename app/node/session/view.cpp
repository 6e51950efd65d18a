#include "app/node/session/view.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "core/model/state_layout.h"

namespace potluck::node {

using control::Activity;

namespace {

std::tm local_time(std::int64_t unix_time) {
    const auto time = static_cast<std::time_t>(unix_time);
    std::tm parts{};
#ifdef _WIN32
    localtime_s(&parts, &time);
#else
    localtime_r(&time, &parts);
#endif
    return parts;
}

Mood search_mood(const net::ManifestSearch& search) {
    if (search.stage == net::SearchStage::fetching) {
        return {Activity::downloading, "Downloading the run's description.", search.progress};
    }
    if (search.peers > 0) return {Activity::connecting, "Connected to a peer; asking for the run's description.", -1};
    if (search.dht_nodes > 0) return {Activity::connecting, "Looking for a peer that is in this run.", -1};
    return {Activity::connecting, "Connecting to the network.", -1};
}

std::string paused_reason(const Situation& situation) {
    const std::string memory =
        situation.trainer_alive ? "the trainer is ending." : "the trainer has ended and its memory is free.";
    if (situation.paused_until == 0) return "Paused until you resume; " + memory;
    return "Paused until " + clock_text(situation.paused_until) + "; " + memory;
}

Activity activity_of(run::Phase phase, const Situation& situation) {
    switch (phase) {
        case run::Phase::joining: return situation.progress >= 0 ? Activity::downloading : Activity::preparing;
        case run::Phase::paused: return Activity::paused;
        case run::Phase::finished: return Activity::finished;
        default: return situation.volunteer ? Activity::training : Activity::sharing;
    }
}

}  // namespace

Mood mood_of(const Situation& situation) {
    if (situation.phase && *situation.phase == run::Phase::finished) {
        return {Activity::finished, situation.phase_reason, -1};
    }
    if (situation.paused) return {Activity::paused, paused_reason(situation), -1};
    if (!situation.trainer_failure.empty()) return {Activity::failed, situation.trainer_failure, -1};
    if (situation.phase && *situation.phase != run::Phase::joining && !situation.trainer_notice.empty()) {
        return {activity_of(*situation.phase, situation), situation.trainer_notice, situation.progress};
    }
    if (situation.phase) return {activity_of(*situation.phase, situation), situation.phase_reason, situation.progress};
    if (situation.search) return search_mood(*situation.search);
    if (!situation.trouble.empty()) return {Activity::failed, situation.trouble, -1};
    return {Activity::idle, "Not in a run; paste an invite to join one.", -1};
}

const char* name_of(run::Phase phase) {
    switch (phase) {
        case run::Phase::joining: return "joining";
        case run::Phase::training: return "training";
        case run::Phase::collecting: return "collecting";
        case run::Phase::applying: return "applying";
        case run::Phase::repairing: return "repairing";
        case run::Phase::paused: return "paused";
        case run::Phase::finished: return "finished";
    }
    return "unknown";
}

std::string describe(const model::ModelSpec& model) {
    const char* family = model.family == model::Family::opt ? "OPT" : "GPT-2";
    char text[120];
    std::snprintf(text, sizeof text, "%s shape, %u layers, width %u: %.1f M parameters", family, model.layers,
                  model.width, static_cast<double>(model.parameters()) / 1e6);
    return text;
}

double swarm_loss(const peer::PeerView& view) {
    double sum = 0, weight = 0;
    for (const peer::MemberView& member : view.members) {
        if (member.status.loss <= 0) continue;
        const double tokens = std::max(1.0, static_cast<double>(member.status.tokens_per_second));
        sum += tokens * static_cast<double>(member.status.loss);
        weight += tokens;
    }
    return weight > 0 ? sum / weight : 0;
}

control::RunSnapshot run_snapshot(const RunId& run, const run::Manifest& manifest, const peer::PeerView& view) {
    control::RunSnapshot snapshot;
    snapshot.id = run.hex();
    snapshot.name = manifest.name;
    snapshot.purpose = manifest.purpose;
    snapshot.licence = manifest.licence;
    snapshot.model = describe(manifest.model);
    snapshot.parameters = model::state_layout(manifest.model).parameters;
    snapshot.round = view.round.value;
    snapshot.total_rounds = manifest.recipe.total_rounds;
    snapshot.phase = name_of(view.phase);
    if (view.leader) snapshot.leader = view.leader->hex();
    snapshot.window_seconds = std::chrono::duration<double>(manifest.recipe.window).count();
    snapshot.loss = swarm_loss(view);
    snapshot.bigram_loss = manifest.bigram_loss;
    snapshot.rounds_lost = view.rounds_lost;
    snapshot.digests_compared = view.digests_compared;
    snapshot.digests_equal = view.digests_equal;
    snapshot.repairs = view.repairs;
    snapshot.last_round_overhead_seconds = std::chrono::duration<double>(view.last_round_overhead).count();
    if (view.join_to_first_step)
        snapshot.join_seconds = std::chrono::duration<double>(*view.join_to_first_step).count();
    snapshot.digest = view.digest.hex();
    for (const peer::MemberView& member : view.members) {
        const run::StatusMessage& status = member.status;
        const bool relays = status.role == run::Role::backbone && status.phase == run::Phase::training;
        const char* phase = relays ? "relaying" : name_of(status.phase);
        snapshot.swarm_tokens_per_second += status.tokens_per_second;
        snapshot.members.push_back({member.id.hex(), status.name,
                                    status.role == run::Role::backbone ? "backbone" : "volunteer", phase,
                                    status.round.value, status.window_tokens.value, status.tokens_per_second,
                                    static_cast<double>(status.loss), member.is_self});
    }
    return snapshot;
}

std::string clock_text(std::int64_t unix_time) {
    const std::tm parts = local_time(unix_time);
    char text[16];
    std::snprintf(text, sizeof text, "%02d:%02d", parts.tm_hour % 24, parts.tm_min % 60);
    return text;
}

std::int64_t midnight_before(std::int64_t unix_time) {
    std::tm parts = local_time(unix_time);
    parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
    parts.tm_isdst = -1;
    return static_cast<std::int64_t>(std::mktime(&parts));
}

}  // namespace potluck::node
