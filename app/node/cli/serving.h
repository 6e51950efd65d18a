// A node as a running program: the loop, the control server, signals, and the order in which it all ends.
// Ends when its parent closes standard input (serve), when asked to, on SIGINT, SIGTERM or SIGHUP; a second signal ends
// it at once.
// Threads: the caller's becomes the loop's.
#pragma once

#include "app/node/cli/command_line.h"

namespace potluck::node {

/// host, join, backbone and serve.
[[nodiscard]] ExitCode serve(const Command& command);

}  // namespace potluck::node
