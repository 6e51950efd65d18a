// Answers for other programs: one JSON object with the protocol's version, errors included.
// Threads: the caller's.
#pragma once

#include <nlohmann/json.hpp>

#include "app/node/exit_code.h"
#include "core/base/result.h"

namespace potluck::node {

/// Whom an answer is for.
enum class Output { people, json };

/// A node's answer for scripts: with the protocol's version, and without a progress that nobody knows.
[[nodiscard]] nlohmann::json answer_json(nlohmann::json answer);
/// To standard output, as an answer.
void print_json(nlohmann::json object);
/// Complains; a program that asked for JSON reads why from standard output, too.
[[nodiscard]] ExitCode refuse(Output output, const Error& error);

}  // namespace potluck::node
