// What a data folder knows of releases without a network: the last signed index that was accepted.
// Does not: look for a later one (releases.h), or mind that it has expired: what was seen stays seen.
// Threads: functions of files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/control/release_protocol.h"
#include "core/release/release_index.h"

namespace potluck::node {

/// The kept index and its signature.
[[nodiscard]] std::filesystem::path index_file(const std::filesystem::path& data_folder);
[[nodiscard]] std::filesystem::path index_signature_file(const std::filesystem::path& data_folder);

/// `key`: minisign's public key. Nothing where there is no index, or its signature is not the key's: the folder is no
/// more believed than the web.
[[nodiscard]] std::optional<release::Index> kept_index(const std::filesystem::path& data_folder,
                                                       const std::string& key);
/// `key`, or that of this build if it is empty.
[[nodiscard]] std::string release_key_or_built_in(std::string key);

/// The newest version that the index names, if it is later than `own`.
[[nodiscard]] std::optional<control::NewerRelease> newer_than(const release::Index& index, const release::Version& own);
/// The same of the kept index and this program.
[[nodiscard]] std::optional<control::NewerRelease> known_newer(const std::filesystem::path& data_folder,
                                                               const std::string& key);

}  // namespace potluck::node
