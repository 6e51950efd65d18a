// windows.h without its macros, and a HANDLE that closes itself. For the sources of the system's edge on Windows only.
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

#endif
