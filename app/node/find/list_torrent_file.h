// Makes the torrent of a list that lies on this computer with its signature beside it (core/find/list_torrent.h).
// Threads: functions of files.
#pragma once

#include <filesystem>
#include <string>

#include "core/find/list_torrent.h"

namespace potluck::node {

/// Writes list and signature as one file beside both, and its description; `place`: the link of the list on the web.
/// `malformed` if the place is none, or too long for a magnet link.
[[nodiscard]] Result<find::ListTorrent> write_list_torrent(const std::filesystem::path& list, const std::string& place);

}  // namespace potluck::node
