// Verbs that a data folder answers by itself, whether or not a node runs for it: the name, the runs that lie in it, the
// end of its log. A question makes nothing, not even the folder.
//
// Threads: the caller's.
#pragma once

#include <nlohmann/json.hpp>

#include "app/node/cli/command_line.h"
#include "app/node/exit_code.h"

namespace potluck::node {

/// To standard output, with the protocol's version.
void print_json(nlohmann::json object);
/// Complains; a program that asked for JSON reads why from standard output, too.
[[nodiscard]] ExitCode refuse(const Command& command, const Error& error);

[[nodiscard]] ExitCode name_verb(const Command& command);
[[nodiscard]] ExitCode team_verb(const Command& command);
[[nodiscard]] ExitCode list_runs(const Command& command);
[[nodiscard]] ExitCode print_log(const Command& command);

}  // namespace potluck::node
