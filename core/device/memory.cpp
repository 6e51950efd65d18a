// What this process may have, which is not what the computer has: inside a container /proc/meminfo shows the whole
// host, and a plan made from it would be ended by the kernel. So on Linux every memory limit of the cgroups this
// process is in, of both versions and on every level up to the root, lowers total and free; the lowest wins. Used
// memory includes cached files, and the inactive ones are reclaimed on demand, so they count as free.
//
// linux_memory() takes the reading of files as a parameter, so that tests run it on recorded trees on any system. macOS
// and Windows answer by one call each. Zero means unknown.
//
// Source: the kernel's cgroup-v2.rst and cgroup-v1/memory.rst for the files' names.
#include "core/device/memory.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
// windows.h has to come first.
#include <psapi.h>
#elif defined(__APPLE__)
#include <mach/mach.h>
#include <sys/sysctl.h>
#endif

namespace potluck::device {

namespace {

constexpr const char* cgroup_root = "/sys/fs/cgroup";
constexpr int cgroup_depth_max = 32;

std::optional<std::uint64_t> number_in(const std::optional<std::string>& text) {
    if (!text) return std::nullopt;
    std::uint64_t number = 0;
    const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), number);
    (void)end;
    return failed == std::errc() ? std::optional(number) : std::nullopt;  // "max": no limit
}

/// The number after `name` in lines of "name number".
std::uint64_t number_named(const std::optional<std::string>& text, const std::string& name) {
    std::istringstream lines(text.value_or(""));
    std::string word, rest;
    std::uint64_t number = 0;
    while (lines >> word >> number) {
        std::getline(lines, rest);
        if (word == name) return number;
    }
    return 0;
}

struct LimitFiles {
    const char* limit;
    const char* used;
    const char* reclaimable;
};

void apply_limit(const ReadText& read, const std::filesystem::path& folder, const LimitFiles& names,
                 MemoryFacts& memory) {
    const auto limit = number_in(read(folder / names.limit));
    const auto used = number_in(read(folder / names.used));
    if (!limit || !used || *limit >= memory.total) return;
    const std::uint64_t reclaimable = number_named(read(folder / "memory.stat"), names.reclaimable);
    const std::uint64_t held = *used - std::min(*used, reclaimable);
    memory.total = std::min(memory.total, *limit);
    memory.free = std::min(memory.free, *limit - std::min(*limit, held));
}

/// A limit holds for everything below it, so each folder on the way up counts.
void apply_limits_up(const ReadText& read, const std::filesystem::path& root, std::filesystem::path group,
                     const LimitFiles& names, MemoryFacts& memory) {
    for (int depth = 0; depth < cgroup_depth_max; ++depth) {
        apply_limit(read, root / group.relative_path(), names, memory);
        if (!group.has_relative_path()) return;
        group = group.parent_path();
    }
}

}  // namespace

MemoryFacts linux_memory(const ReadText& read) {
    const auto meminfo = read("/proc/meminfo");
    MemoryFacts memory{.total = number_named(meminfo, "MemTotal:") * 1024,
                       .free = number_named(meminfo, "MemAvailable:") * 1024};
    std::istringstream groups(read("/proc/self/cgroup").value_or(""));
    std::string line;
    while (std::getline(groups, line)) {  // "0::/path", or for version 1 "7:memory:/path"
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const std::filesystem::path group = line.substr(second + 1);
        if (controllers.empty()) {
            apply_limits_up(read, cgroup_root, group, {"memory.max", "memory.current", "inactive_file"}, memory);
        } else if (controllers == "memory") {
            apply_limits_up(read, std::filesystem::path(cgroup_root) / "memory", group,
                            {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}, memory);
        }
    }
    return memory;
}

#ifdef _WIN32

MemoryFacts read_memory() {
    MEMORYSTATUSEX status{};
    status.dwLength = sizeof status;
    if (!GlobalMemoryStatusEx(&status)) return {};
    return {.total = status.ullTotalPhys, .free = status.ullAvailPhys};
}

std::uint64_t resident_bytes() {
    PROCESS_MEMORY_COUNTERS counters{};
    if (GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) == 0) return 0;
    return counters.WorkingSetSize;
}

#elif defined(__APPLE__)

MemoryFacts read_memory() {
    MemoryFacts memory;
    std::size_t size = sizeof memory.total;
    (void)sysctlbyname("hw.memsize", &memory.total, &size, nullptr, 0);
    vm_statistics64_data_t pages{};
    mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
    vm_size_t page_bytes = 0;
    const mach_port_t host = mach_host_self();
    if (host_page_size(host, &page_bytes) == KERN_SUCCESS &&
        host_statistics64(host, HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&pages), &count) == KERN_SUCCESS) {
        memory.free = (std::uint64_t{pages.free_count} + pages.inactive_count + pages.purgeable_count) * page_bytes;
    }
    (void)mach_port_deallocate(mach_task_self(), host);
    return memory;
}

std::uint64_t resident_bytes() {
    mach_task_basic_info info{};
    mach_msg_type_number_t size = MACH_TASK_BASIC_INFO_COUNT;
    const auto outcome = task_info(mach_task_self(), MACH_TASK_BASIC_INFO, reinterpret_cast<task_info_t>(&info), &size);
    return outcome == KERN_SUCCESS ? info.resident_size : 0;
}

#else

MemoryFacts read_memory() {
    return linux_memory([](const std::filesystem::path& file) -> std::optional<std::string> {
        std::ifstream stream(file);
        if (!stream) return std::nullopt;
        std::ostringstream text;
        text << stream.rdbuf();
        return text.str();
    });
}

std::uint64_t resident_bytes() {
    std::ifstream file("/proc/self/status");
    std::string name, rest;
    std::uint64_t kibibytes = 0;
    while (file >> name) {
        if (name == "VmRSS:" && file >> kibibytes) return kibibytes * 1024;
        std::getline(file, rest);
    }
    return 0;
}

#endif

}  // namespace potluck::device
