// Verbs that a data folder answers by itself, whether or not a node runs for it: the name, the runs that lie in it, the
// end of its log. A question makes nothing, not even the folder.
//
// Threads: the caller's.
#pragma once

#include "app/node/cli/command_line.h"
#include "app/node/exit_code.h"

namespace potluck::node {

[[nodiscard]] ExitCode name_verb(const Command& command);
[[nodiscard]] ExitCode list_runs(const Command& command);
[[nodiscard]] ExitCode print_log(const Command& command);

}  // namespace potluck::node
