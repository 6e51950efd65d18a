// Where packs lie below the data folder, and which one is installed.
//
//   packs/releases.kept             the last index that was accepted, with its signature (known_release.h)
//   packs/<first digits of SHA-256>/    an unpacked pack: potluck-trainer and its libraries
//   packs/installed.json            which of them counts, written last
//
// Does not: believe anything of an index; that was done before a record was written.
// Threads: functions of files.
#pragma once

#include <filesystem>
#include <optional>

#include "core/base/result.h"
#include "core/release/release_index.h"

namespace potluck::node {

[[nodiscard]] std::filesystem::path packs_folder(const std::filesystem::path& data_folder);
[[nodiscard]] std::filesystem::path pack_place(const std::filesystem::path& data_folder, const release::Pack& pack);

/// The program inside an unpacked pack.
[[nodiscard]] std::filesystem::path trainer_in(const std::filesystem::path& place);

struct InstalledPack {
    release::Pack pack;
    std::filesystem::path trainer;
};
/// The installed pack if it serves `app` and its trainer is there.
[[nodiscard]] std::optional<InstalledPack> installed_pack(const std::filesystem::path& data_folder,
                                                          const release::Version& app);
/// Makes an unpacked pack the installed one, and removes every other.
[[nodiscard]] Status record_pack(const std::filesystem::path& data_folder, const release::Pack& pack);
[[nodiscard]] Status remove_packs(const std::filesystem::path& data_folder);

/// This program's version, and the computer it runs on.
[[nodiscard]] release::Version own_version();
[[nodiscard]] release::Computer this_computer();

}  // namespace potluck::node
