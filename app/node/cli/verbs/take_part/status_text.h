// What `status` shows to people, line by line: state, run, network, trainer, energy. Text of other members passes
// through printable() before it reaches a terminal. Threads: pure functions.
#pragma once

#include "core/control/node_protocol.h"

namespace potluck::node {

void print_status(const control::NodeSnapshot& node);

}  // namespace potluck::node
