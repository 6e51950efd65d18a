// `potluck-node trainer ...`, `updates` and `release-index`: through the node that runs for the data folder, else with
// a network of their own for as long as it takes.
// Threads: the caller's.
#pragma once

#include "app/node/cli/command_line.h"

namespace potluck::node {

/// "Potluck 0.3.0 is out (2030-01-01): It is faster.", and where to get it.
[[nodiscard]] std::string news_text(const control::NewerRelease& newer);

[[nodiscard]] ExitCode run_release_verb(const Command& command);

}  // namespace potluck::node
