// The maker's side of releases: describes the packs that `./dev package` made, as an index that is then signed.
//
// Does not: sign; the program minisign does, with a key that never comes near this one (installer/README.md).
// Threads: the caller's.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.h"
#include "core/release/release_index.h"

namespace potluck::node {

struct IndexPlan {
    std::filesystem::path folder;  // of the archives; the index and their .torrent files are written there
    std::uint64_t serial = 0;      // one more than the last index had
    std::int64_t days = 180;       // until it expires
    std::string url;               // below which the archives will lie on the web; empty: nowhere
    std::uint32_t driver_min = 0;  // of packs for CUDA
    std::filesystem::path notes;   // a text: what is new in this version; empty: the index tells of no version
    std::string page;              // where people get it
};

/// Reads every potluck-trainer-VERSION-SYSTEM-ARCHITECTURE-KIND.tar.xz (or .tar.zst) of the folder, writes its .torrent
/// and releases.json, and returns the index. The same files at the same time yield the same bytes.
[[nodiscard]] Result<release::Index> make_index(const IndexPlan& plan, std::int64_t now);

}  // namespace potluck::node
