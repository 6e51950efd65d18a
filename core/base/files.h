// Files, for code that does I/O: bounded reads, atomic writes that are on disk before they return, memory maps, and a
// lock that says who holds a folder. Errors are sentences that name the file and what to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "core/base/bytes.h"
#include "core/base/result.h"

namespace potluck {

/// The whole file; `malformed` if it is larger than `limit` bytes, checked before memory is taken.
[[nodiscard]] Result<Bytes> read_file(const std::filesystem::path& path, std::uint64_t limit);

/// Replaces `path` by `bytes` through a synced temporary file and a rename; the folder is synced too. Either the old
/// or the new content is there after a crash. `private_to_owner` files get mode 0600.
enum class FileAccess { shared, private_to_owner };
[[nodiscard]] Status write_file_atomically(const std::filesystem::path& path, ByteSpan bytes,
                                           FileAccess access = FileAccess::shared);

/// Syncs a file that was written through a map or a stream, then its folder.
[[nodiscard]] Status sync_file(const std::filesystem::path& path);

/// A memory-mapped file. Owns: the mapping. Moves, never copies. Not for files that others truncate.
class MappedFile {
public:
    MappedFile() = default;
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile();

    [[nodiscard]] static Result<MappedFile> open_read(const std::filesystem::path& path);
    [[nodiscard]] static Result<MappedFile> open_write(const std::filesystem::path& path);
    /// Creates or replaces `path` with `size` zero bytes whose disk space is reserved, so that a full disk is an
    /// error here and not a signal at the first write.
    [[nodiscard]] static Result<MappedFile> create(const std::filesystem::path& path, std::uint64_t size);

    [[nodiscard]] ByteSpan bytes() const { return {m_data, m_size}; }
    /// Empty for a file opened for reading.
    [[nodiscard]] std::span<std::byte> writable() { return {m_data, m_writable ? m_size : 0}; }
    /// Writes dirty pages to disk and waits.
    [[nodiscard]] Status sync();

private:
    std::byte* m_data = nullptr;
    std::size_t m_size = 0;
    bool m_writable = false;
    std::filesystem::path m_path;
};

/// Exclusive advisory lock on a file, held as long as the object lives and gone with the process.
class FileLock {
public:
    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&&) = delete;
    ~FileLock();
    /// `already_exists` if another process holds it.
    [[nodiscard]] static Result<FileLock> acquire(const std::filesystem::path& path);

private:
    explicit FileLock(int handle) : m_handle(handle) {}
    int m_handle = -1;
};

/// The folder that `path` lies in; "." for a bare name.
[[nodiscard]] inline std::filesystem::path folder_of(const std::filesystem::path& path) {
    return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// Bytes free for this user on the disk that holds `folder`; zero if unknown.
[[nodiscard]] std::uint64_t free_disk_bytes(const std::filesystem::path& folder);

}  // namespace potluck
