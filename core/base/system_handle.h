// A handle of the system, which closes itself, and the few calls that files and key files share. For the
// sources of the system's edge only.
//
//   POSIX    Descriptor; write_all, flush_to_disk and sync_folder return an errno, zero for none: each caller has
//            sentences of its own
//   Windows  windows.h without its macros; WindowsHandle
#pragma once

#ifdef _WIN32

#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include <utility>

namespace potluck {

/// INVALID_HANDLE_VALUE and null both mean none. Owns: the handle.
class WindowsHandle {
public:
    explicit WindowsHandle(HANDLE handle) : m_handle(handle == INVALID_HANDLE_VALUE ? nullptr : handle) {}
    WindowsHandle(const WindowsHandle&) = delete;
    WindowsHandle& operator=(const WindowsHandle&) = delete;
    ~WindowsHandle() {
        if (m_handle != nullptr) CloseHandle(m_handle);
    }
    [[nodiscard]] bool ok() const { return m_handle != nullptr; }
    [[nodiscard]] HANDLE get() const { return m_handle; }
    [[nodiscard]] HANDLE release() { return std::exchange(m_handle, nullptr); }

private:
    HANDLE m_handle;
};

}  // namespace potluck

#else

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
