// The part of the command line that names a proxy. Threads: the caller's.
#pragma once

#include "app/node/cli/command_line.h"

namespace CLI {
class App;
}

namespace potluck::node {

/// --proxy, read strictly; a wrong one is refused without being repeated, because it may hold a password.
void add_proxy_option(CLI::App& app, Command& command);

}  // namespace potluck::node
