// What lies in a data folder: the runs that were ever joined, with name and size, and everything else by kind. Read
// from the files themselves each time it is asked for, so that there is no list which could be wrong.
// Does not: open a run, the ledger or the network.
// Threads: functions of values and files; they take as long as the disk does, so a worker calls them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/control/record_methods.h"

namespace potluck::node {

/// More runs than a person joins; folders beyond are not listed.
inline constexpr std::size_t known_runs_max = 1000;

/// A run whose description lies here.
struct RunFiles {
    RunId id;
    std::string name, model;  // as the manifest says
    PeerId host;
    std::uint64_t total_rounds = 0;
    std::uint64_t bytes = 0;  // in its folder, without what set_aside() leaves
};
/// Folders whose manifest is missing, damaged or not signed by its host are left out.
[[nodiscard]] std::vector<RunFiles> run_files(const std::filesystem::path& data_folder, const std::stop_token& stop);

/// Sizes of everything in the data folder, each file once.
[[nodiscard]] std::vector<control::DiskPart> disk_parts(const std::filesystem::path& data_folder,
                                                        const std::stop_token& stop);

/// Where set_aside() puts things.
[[nodiscard]] std::filesystem::path trash_in(const std::filesystem::path& data_folder);
/// Moves everything of a run out of its folder, at once, so that the run may be joined again while it is deleted.
/// Manifest, votes and proofs stay: a member that forgot its votes could sign twice.
[[nodiscard]] Status set_aside(const std::filesystem::path& data_folder, const RunId& run);
/// Deletes what was set aside, also by an earlier life.
[[nodiscard]] Status empty_trash(const std::filesystem::path& data_folder);

}  // namespace potluck::node
