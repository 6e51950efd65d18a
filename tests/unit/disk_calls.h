// What a program asks of its disk, in order. Included by exactly one source of a test program, it stands before the C
// library's write, fsync, rename and link: each call is noted under the file's last name and handed on. So the order of
// a sync and the rename that makes the file visible can be seen, which no look at the files afterwards can tell.
// Linux only (/proc). Threads: one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

namespace potluck::test {

/// "write NAME", "sync NAME" (a folder as NAME/), "rename NAME", "link NAME": NAME is where it goes.
struct DiskCalls {
    static inline std::vector<std::string> seen;
    static inline bool noting = false;

    static void begin() {
        seen.clear();
        noting = true;
    }
    static std::vector<std::string> end() {
        noting = false;
        return seen;
    }
    static void note(const char* call, const std::filesystem::path& file) {
        if (!noting) return;
        noting = false;  // what is asked here is not the program's
        std::error_code failed;
        const bool folder = std::filesystem::is_directory(file, failed);
        const std::string entry = std::string(call) + " " + file.filename().string() + (folder ? "/" : "");
        if (seen.empty() || seen.back() != entry) seen.push_back(entry);
        noting = true;
    }
    static void note(const char* call, int handle) {
        if (!noting) return;
        std::error_code failed;
        const auto file = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(handle), failed);
        if (!failed) note(call, file);
    }
    template <class Function>
    static Function next(const char* name) {
        return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
    }
};

}  // namespace potluck::test

extern "C" {

ssize_t write(int handle, const void* from, size_t size) {
    static const auto next = potluck::test::DiskCalls::next<ssize_t (*)(int, const void*, size_t)>("write");
    potluck::test::DiskCalls::note("write", handle);
    return next(handle, from, size);
}
int fsync(int handle) {
    static const auto next = potluck::test::DiskCalls::next<int (*)(int)>("fsync");
    potluck::test::DiskCalls::note("sync", handle);
    return next(handle);
}
int rename(const char* from, const char* to) noexcept {
    static const auto next = potluck::test::DiskCalls::next<int (*)(const char*, const char*)>("rename");
    potluck::test::DiskCalls::note("rename", std::filesystem::path(to));
    return next(from, to);
}
int link(const char* from, const char* to) noexcept {
    static const auto next = potluck::test::DiskCalls::next<int (*)(const char*, const char*)>("link");
    potluck::test::DiskCalls::note("link", std::filesystem::path(to));
    return next(from, to);
}
int msync(void* at, size_t size, int how) {
    static const auto next = potluck::test::DiskCalls::next<int (*)(void*, size_t, int)>("msync");
    potluck::test::DiskCalls::note("msync", std::filesystem::path("map"));
    return next(at, size, how);
}

}  // extern "C"
