// `potluck-node demo`: the main job on one computer. Hosts a run from real text, lets a backbone and volunteers train
// it as separate processes with data folders and identities of their own, over BitTorrent on loopback with a private
// DHT; one volunteer joins late, one is killed and comes back. Shows a live table and ends with a report; the model and
// all data folders stay. Threads: the caller's becomes the loop's.
#pragma once

#include "app/node/cli/command_line.h"

namespace potluck::node {

[[nodiscard]] ExitCode run_demo(const Command& command);

}  // namespace potluck::node
