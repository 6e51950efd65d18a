// A file descriptor that closes itself, and the writes and syncs that both files and key files need. POSIX only.
// Errors are an errno, zero for none: each caller has sentences of its own.
#pragma once

#ifndef _WIN32

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "core/base/bytes.h"

namespace potluck {

class Descriptor {
public:
    explicit Descriptor(int handle) : m_handle(handle) {}
    Descriptor(const std::filesystem::path& path, int flags, mode_t mode = 0666)
        : m_handle(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (m_handle >= 0) ::close(m_handle);
    }
    [[nodiscard]] bool ok() const { return m_handle >= 0; }
    [[nodiscard]] int get() const { return m_handle; }
    [[nodiscard]] int release() { return std::exchange(m_handle, -1); }

private:
    int m_handle;
};

[[nodiscard]] inline int write_all(int handle, ByteSpan bytes) {
    constexpr std::size_t step_max = 1U << 30U;
    while (!bytes.empty()) {
        const ssize_t written = ::write(handle, bytes.data(), std::min(bytes.size(), step_max));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        if (written == 0) return EIO;
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return 0;
}

[[nodiscard]] inline int flush_to_disk(int handle) {
#ifdef __APPLE__
    if (::fcntl(handle, F_FULLFSYNC) == 0) return 0;  // fsync alone leaves the data in the drive's cache there
#endif
    return ::fsync(handle) == 0 ? 0 : errno;
}

/// Makes names that were created or removed in `folder` last.
[[nodiscard]] inline int sync_folder(const std::filesystem::path& folder) {
    const Descriptor opened(folder, O_RDONLY | O_DIRECTORY);
    if (!opened.ok()) return errno;
    // Some file systems cannot sync a folder and say EINVAL; they have nothing to sync then.
    return ::fsync(opened.get()) == 0 || errno == EINVAL ? 0 : errno;
}

}  // namespace potluck

#endif
