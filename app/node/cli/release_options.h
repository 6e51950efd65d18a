// The part of the command line that is about releases: trainers to download, newer versions, the maker's index.
// Threads: the caller's.
#pragma once

#include "app/node/cli/command_line.h"

namespace CLI {
class App;
}

namespace potluck::node {

/// `trainer list|install|remove`, `updates`, `release-index`.
void add_release_verbs(CLI::App& app, Command& command);

}  // namespace potluck::node
