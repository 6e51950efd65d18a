// `potluck-node verify FOLDER|FILE`: prints what a proof proves about a model. Needs neither node nor data folder.
//
//   0   the model is what the run's committee agreed on        5   the proof does not parse
//   14  it is not: bytes differ, or the proof is forged         1   a file is missing or cannot be read
// Threads: one.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "app/node/cli/command_line.h"
#include "app/node/models/verify_model.h"

namespace potluck::node {

[[nodiscard]] std::string verified_text(const VerifiedModel& verified);
[[nodiscard]] nlohmann::json verified_json(const VerifiedModel& verified);
/// One sentence on the bytes that differ; empty if none do.
[[nodiscard]] std::string damage_text(const VerifiedModel& verified);

[[nodiscard]] ExitCode run_verify(const Command& command);

}  // namespace potluck::node
