// What a node keeps of a run that the demo measures with: its manifest, the states and the data that it cut.
// Threads: any. Owns: nothing.
#pragma once

#include <filesystem>
#include <vector>

#include "core/base/result.h"
#include "core/control/trainer_protocol.h"
#include "core/run/manifest.h"

namespace potluck::node {

[[nodiscard]] Result<run::Manifest> manifest_in(const std::filesystem::path& run_folder);
/// By number.
[[nodiscard]] std::vector<std::filesystem::path> shard_files(const std::filesystem::path& run_folder,
                                                             const run::Manifest& manifest);
/// The one of the latest round; empty if there is none.
[[nodiscard]] std::filesystem::path newest_state_in(const std::filesystem::path& run_folder);
/// On the records that the run's baseline and its curve are of. The state is to be filled in.
[[nodiscard]] control::EvaluateRequest validation_question(const std::filesystem::path& run_folder,
                                                           const run::Manifest& manifest);

}  // namespace potluck::node
