// A data folder that was moved to another disk. What it was is left with a file that says where its data is now, so
// every program that is told the old folder, or none, finds them.
//
//   <old>/moved: one line, the absolute path of the new folder
//
// Does not: follow such a file twice, or ask anybody.
// Threads: any; a mover holds the lock of the data folder, so that no node runs meanwhile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "core/base/result.h"

namespace potluck::node {

/// The folder that `asked` stands for: itself, or the one that its data was moved to. `unavailable` if that is not
/// there, `malformed` if the file names none.
[[nodiscard]] Result<std::filesystem::path> data_folder_at(const std::filesystem::path& asked);

/// Bytes copied so far, and in all.
using MoveProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

/// Copies what lies in the folder that `asked` stands for to `to`, or to a folder `potluck` in it where `to` holds
/// something; names that place in `asked`, and deletes what was copied. Until then the old place has everything, and an
/// error leaves it so. Returns the new place. `already_exists` while a node runs, `no_space`, `invalid_argument` with
/// what to choose instead.
[[nodiscard]] Result<std::filesystem::path> move_data(const std::filesystem::path& asked,
                                                      const std::filesystem::path& to, const MoveProgress& progress);

}  // namespace potluck::node
