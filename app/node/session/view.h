// From what the parts of a node know to what people see. Pure functions of values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/node/session/settings.h"
#include "core/control/node_protocol.h"
#include "core/ledger/ledger.h"
#include "core/peer/peer.h"
#include "net/session.h"

namespace potluck::node {

/// Everything that the activity and its reason follow from.
struct Situation {
    bool paused = false;
    std::int64_t paused_until = 0;  // unix seconds, 0: until resumed
    bool trainer_alive = false;
    std::string trainer_failure;                // not empty: it will not start again by itself
    std::string trainer_notice;                 // what it changed by itself a moment ago
    std::string trouble;                        // why the last join failed; empty if it did not
    std::optional<net::ManifestSearch> search;  // looking for a run's manifest
    std::optional<run::Phase> phase;            // in a run
    std::string phase_reason;
    double progress = -1;
    bool volunteer = true;
};
struct Mood {
    control::Activity activity = control::Activity::idle;
    std::string reason;
    double progress = -1;
};
[[nodiscard]] Mood mood_of(const Situation& situation);

[[nodiscard]] const char* name_of(run::Phase phase);
/// "GPT-2 shape, 4 layers, width 128: 0.8 M parameters"; the family is the model's.
[[nodiscard]] std::string describe(const model::ModelSpec& model);
/// Mean training loss of the members' last windows, weighted by their speed; 0 if nobody has one.
[[nodiscard]] double swarm_loss(const peer::PeerView& view);

/// The part of a snapshot that tells of the run; totals and credit are added by whoever has the ledger.
[[nodiscard]] control::RunSnapshot run_snapshot(const RunId& run, const run::Manifest& manifest,
                                                const peer::PeerView& view);

/// "18:05" in this computer's time zone.
[[nodiscard]] std::string clock_text(std::int64_t unix_time);
/// Last local midnight before `unix_time`.
[[nodiscard]] std::int64_t midnight_before(std::int64_t unix_time);

}  // namespace potluck::node
