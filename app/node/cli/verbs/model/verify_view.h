// What a proof proves about a model, for people and as JSON.
// Threads: pure functions.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "app/node/models/verify_model.h"

namespace potluck::node {

[[nodiscard]] std::string verified_text(const VerifiedModel& verified);
[[nodiscard]] nlohmann::json verified_json(const VerifiedModel& verified);
/// One sentence on the bytes that differ; empty if none do.
[[nodiscard]] std::string damage_text(const VerifiedModel& verified);

}  // namespace potluck::node
