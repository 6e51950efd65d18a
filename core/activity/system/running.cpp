#include "core/activity/system/running.h"

#include <charconv>
#include <fstream>
#include <string>
#include <system_error>

#include "core/activity/system/small_file.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <unistd.h>
#endif

namespace potluck::activity {

namespace {

namespace fs = std::filesystem;

fs::path folder_of(std::int64_t process, const fs::path& proc) { return proc / std::to_string(process); }

std::uint64_t page_bytes() {
#ifdef _WIN32
    return 0;  // nothing is counted in pages here
#else
    const long size = ::sysconf(_SC_PAGESIZE);
    return size > 0 ? static_cast<std::uint64_t>(size) : 0;
#endif
}

/// The second number of statm: "size resident shared ...", in pages.
std::uint64_t resident_in(const fs::path& folder) {
    const std::string line = line_in(folder / "statm");
    const std::size_t from = line.find(' ') + 1;  // 0 where there is none, which is no second number
    std::uint64_t pages = 0;
    if (from > 0) (void)std::from_chars(line.data() + from, line.data() + line.size(), pages);
    return pages * page_bytes();
}

}  // namespace

std::int64_t own_process() {
#ifdef _WIN32
    return static_cast<std::int64_t>(::GetCurrentProcessId());
#else
    return ::getpid();
#endif
}

std::optional<Running> running(std::int64_t process, const fs::path& proc) {
    std::error_code failed;
    const fs::path folder = folder_of(process, proc);
    const fs::path file = fs::read_symlink(folder / "exe", failed);
    if (failed) return std::nullopt;
    return Running{file, resident_in(folder)};
}

/// Each thread has a file with what it has started, which not every kernel has.
std::optional<std::vector<std::int64_t>> children_of(std::int64_t process, const fs::path& proc) {
    std::vector<std::int64_t> children;
    bool told = false;
    for (const fs::path& thread : entries_of(folder_of(process, proc) / "task")) {
        std::ifstream file(thread / "children");
        told = told || file.good();
        for (std::int64_t child = 0; children.size() < children_max && file >> child;) children.push_back(child);
    }
    return told ? std::optional(children) : std::nullopt;
}

}  // namespace potluck::activity
