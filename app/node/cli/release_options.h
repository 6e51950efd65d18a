// The part of the command line that is about releases: trainers to download, newer versions, the maker's index.
// Threads: the caller's.
#pragma once

#include "app/node/cli/command_line.h"

namespace CLI {
class App;
}

namespace potluck::node {

/// What a start may say about releases.
void add_release_options(CLI::App& app, Command& command);
/// `trainer list|install|remove`, `updates`, `release-index`.
void add_release_verbs(CLI::App& app, Command& command);

}  // namespace potluck::node
