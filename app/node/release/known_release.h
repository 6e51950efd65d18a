// What a data folder knows of releases without a network: the last signed index that was accepted.
//
//   packs/releases.kept    "potluck-index 1 <bytes of the signature>\n", the signature, the index
//
// One file, replaced in one step: with two, a power cut between their writes leaves a pair that does not fit, and an
// older index would be believed again. Earlier versions kept a pair, releases.json and .minisig, which is still read.
// Does not: look for a later one (releases.h), or mind that it has expired: what was seen stays seen.
// Threads: functions of files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/control/release_protocol.h"
#include "core/release/release_index.h"

namespace potluck::node {

[[nodiscard]] std::filesystem::path kept_index_file(const std::filesystem::path& data_folder);
/// Replaces what was kept; `index` was accepted with this signature.
[[nodiscard]] Status keep_index(const std::filesystem::path& data_folder, ByteSpan index, std::string_view signature);
/// When that was done last; nothing if it never was.
[[nodiscard]] std::optional<std::filesystem::file_time_type> kept_at(const std::filesystem::path& data_folder);

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
