// What is remembered of complete blobs across restarts: one small file per blob in the blobs folder,
// "<root>-<kind>.blob", a bencoded dictionary with the reference, where the content lies, the info dictionary and the
// piece layer, so that seeding goes on without hashing anything again. Files are written by the worker thread; a file
// lost in a crash costs a fetch, never a wrong blob (a content whose size or time changed is hashed before it is
// seeded). Threads: functions of values and files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/run/blob_ref.h"

namespace potluck::net {

/// Whether the session wrote the content (and deletes it when forgotten) or seeds a file of the caller's in place.
enum class Storage { stored, in_place };

struct IndexEntry {
    run::BlobRef ref;
    std::set<RunId> runs;  // who wants it
    std::filesystem::path file;
    Storage keeping = Storage::stored;
    std::int64_t changed = 0;  // the file's time of last change, in the file system's ticks
    Bytes info;                // info dictionary
    std::vector<Digest> layer;
};

inline constexpr std::uint64_t index_file_bytes_max = 1 << 20;
inline constexpr std::size_t index_runs_max = 64;

[[nodiscard]] std::filesystem::path index_path(const std::filesystem::path& folder, const run::BlobRef& ref);
[[nodiscard]] Status write_index(const std::filesystem::path& folder, const IndexEntry& entry);
/// Every entry of the folder that parses and whose content is there with the right size. Contents of the folder that
/// belong to no entry and no unfinished fetch are removed.
[[nodiscard]] std::vector<IndexEntry> read_index(const std::filesystem::path& folder);
/// Time of last change of a file; 0 if there is none.
[[nodiscard]] std::int64_t change_time(const std::filesystem::path& file);

/// Names inside the blobs folder.
[[nodiscard]] std::filesystem::path published_path(const std::filesystem::path& folder, const BlobId& root);
[[nodiscard]] std::filesystem::path fetched_path(const std::filesystem::path& folder, const run::BlobRef& ref);
[[nodiscard]] std::filesystem::path resume_path(const std::filesystem::path& folder, const run::BlobRef& ref);

}  // namespace potluck::net
