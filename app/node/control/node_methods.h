// The methods of core/control/node_protocol.h, each a few lines that read parameters and ask the node.
// Threads: the loop's.
#pragma once

#include <functional>

#include "app/node/control/dispatcher.h"
#include "app/node/hosting/export_model.h"
#include "app/node/session/node.h"
#include "app/node/hosting/sampler.h"

namespace potluck::node {

/// `node`, `sampler` and `exporter` outlive the dispatcher; `stop` ends the program.
void add_node_methods(Dispatcher& dispatcher, Node& node, Sampler& sampler, ModelExporter& exporter,
                      std::function<void()> stop);

}  // namespace potluck::node
