// `potluck-node page FOLDER [--every 1m]`: a run's public page, written once or again and again until a signal ends it.
// Asks the node that runs for the data folder, or reads the folder if none does. What it writes: the page, its style,
// script and icon, samples.json with what the model wrote so far, and a proof for each checkpoint.
// Threads: the caller's becomes the loop's.
#pragma once

#include "app/node/cli/command_line.h"

namespace potluck::node {

[[nodiscard]] ExitCode run_page(const Command& command);

}  // namespace potluck::node
