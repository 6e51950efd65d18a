// Looks for runs where no node is running: on the board with a network session of its own, in a folder that goes with
// it. Of the data folder only proxy and followed lists are read; nothing is written there.
// Threads: the caller's, which runs a loop until the answer is there.
#pragma once

#include <chrono>
#include <functional>

#include "app/node/session/node_options.h"
#include "core/base/result.h"
#include "core/control/find_methods.h"

namespace potluck::node {

/// What was heard when `is_enough` says so, or after `patience`.
[[nodiscard]] Result<control::FoundRuns> find_alone(const NodeOptions& options, std::chrono::seconds patience,
                                                    const std::function<bool(const control::FoundRuns&)>& is_enough);

}  // namespace potluck::node
