// Lets another program do the rest of this one's work: same arguments, same standard streams, and its exit code is
// ours.
//
// Does not: search for the program, or look at what it does.
// Threads: one; elsewhere than on Windows nothing of this process remains.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/node/exit_code.h"
#include "core/base/result.h"

namespace potluck::node {

/// Returns only if `program` cannot be started, with a sentence; or where there is no exec, with its exit code.
[[nodiscard]] Result<ExitCode> hand_over(const std::filesystem::path& program,
                                         const std::vector<std::string>& arguments);

}  // namespace potluck::node
