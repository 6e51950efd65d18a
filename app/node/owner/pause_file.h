// The history of pauses on disk, one small JSON file in the data folder, written whenever a pause begins or ends.
#pragma once

#include <filesystem>

#include "core/activity/history.h"
#include "core/base/result.h"
#include "core/control/node_methods.h"

namespace potluck::node {

[[nodiscard]] control::PauseHistory pause_rows(const activity::History& history);
[[nodiscard]] Status save_pauses(const std::filesystem::path& data_folder, const activity::History& history);
/// Empty if there is no such file, or a damaged one: nothing depends on it.
[[nodiscard]] activity::History load_pauses(const std::filesystem::path& data_folder);

}  // namespace potluck::node
