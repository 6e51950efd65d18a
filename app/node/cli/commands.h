// The verbs that ask a running node and print what it says. Those about the identity work without one, too.
#pragma once

#include "app/node/cli/command_line.h"

namespace potluck::node {

[[nodiscard]] ExitCode ask_running_node(const Command& command);

}  // namespace potluck::node
