// The verbs that ask a running node and print its answer. Those about the identity need none; status, leaderboard,
// checkpoints, export and sample are answered from the data folder if no node runs (status then exits with 3).
#pragma once

#include "app/node/cli/command_line.h"

namespace potluck::node {

[[nodiscard]] ExitCode ask_node(const Command& command);

}  // namespace potluck::node
