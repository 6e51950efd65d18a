// `potluck-demo worth FOLDER`: how many computers a run was worth that this computer has hosted, however far its
// members were. The newest state is measured, and one computer alone then trains on the run's data until it is better.
// Threads: the caller's becomes the loop's.
#pragma once

#include <filesystem>

#include "app/node/exit_code.h"
#include "app/node/session/node.h"

namespace potluck::node {

/// `data_folder` is the host's, whose node does not run; the trainer is that of `node`. Says what it found, or in one
/// sentence why it cannot be.
[[nodiscard]] ExitCode tell_worth(const std::filesystem::path& data_folder, const NodeOptions& node);

}  // namespace potluck::node
