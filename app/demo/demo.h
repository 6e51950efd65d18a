// `potluck-node demo`: the main job on one computer. Hosts a run from real text, lets a backbone and volunteers train
// it as separate processes with data folders and identities of their own, over BitTorrent on loopback with a private
// DHT; one volunteer joins late, one is killed and comes back. Shows a live table and ends with a report; the model and
// all data folders stay. Threads: the caller's becomes the loop's.
#pragma once

#include "app/node/cli/options/demo_options.h"
#include "app/node/exit_code.h"
#include "app/node/session/node.h"

namespace potluck::node {

/// Uses the data folder and the trainer of `node`.
[[nodiscard]] ExitCode run_demo(const DemoOptions& options, const NodeOptions& node);

}  // namespace potluck::node
