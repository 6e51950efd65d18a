// Linux: every folder of /proc whose name is a number is a process; `comm` is its name and `cmdline` its arguments,
// each with a NUL behind it. A process that ends while it is read is left out. The folders are walked with readdir and
// the files read with single calls, because this happens twice a second for as long as the program runs: 300 processes
// take about 4 ms.
//
// Windows tells names without arguments; macOS is not read, since another program's processes is not to be had there
// without more rights than a volunteer's program should ask for.
#include "core/activity/system/processes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/system_handle.h"
#include "core/base/text.h"

#ifdef __linux__
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>
#elif defined(_WIN32)
#include <tlhelp32.h>
#endif

namespace potluck::activity {

namespace {

std::string_view without_exe(std::string_view name) {
    constexpr std::string_view ending = ".exe";
    const bool has = name.size() > ending.size() && same_letters(name.substr(name.size() - ending.size()), ending);
    return has ? name.substr(0, name.size() - ending.size()) : name;
}

#ifdef __linux__

/// The first bytes of a small file; empty if it cannot be read.
std::string first_bytes(const std::string& path) {
    std::string text(arguments_bytes_max, '\0');
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    const ssize_t got = ::read(file, text.data(), text.size());
    ::close(file);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
}

Process process_in(const std::string& folder, std::int64_t id) {
    Process process{id, first_bytes(folder + "/comm"), {}};
    while (!process.name.empty() && process.name.back() == '\n') process.name.pop_back();
    const std::string arguments = first_bytes(folder + "/cmdline");
    for (std::size_t from = 0; from < arguments.size();) {
        const std::size_t to = std::min(arguments.find('\0', from), arguments.size());
        process.arguments.push_back(arguments.substr(from, to - from));
        from = to + 1;
    }
    return process;
}

#endif

}  // namespace

std::optional<std::vector<Process>> read_processes([[maybe_unused]] const std::filesystem::path& proc) {
#ifdef __linux__
    DIR* folder = ::opendir(proc.c_str());
    if (folder == nullptr) return std::nullopt;
    std::vector<Process> found;
    while (const dirent* entry = ::readdir(folder)) {
        const std::string name = entry->d_name;
        if (!std::ranges::all_of(name, is_digit) || found.size() >= processes_max) continue;
        Process process = process_in(proc.string() + "/" + name, std::atoll(name.c_str()));
        if (!process.name.empty()) found.push_back(std::move(process));
    }
    ::closedir(folder);
    return found;
#elif defined(_WIN32)
    const WindowsHandle snapshot(::CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0));
    PROCESSENTRY32W entry{};
    entry.dwSize = sizeof entry;
    if (!snapshot.ok() || !::Process32FirstW(snapshot.get(), &entry)) return std::nullopt;
    std::vector<Process> found;
    do {
        found.push_back(
            {static_cast<std::int64_t>(entry.th32ProcessID), std::filesystem::path(entry.szExeFile).string(), {}});
    } while (found.size() < processes_max && ::Process32NextW(snapshot.get(), &entry));
    return found;
#else
    return std::nullopt;
#endif
}

std::string_view file_name_of(std::string_view path) {
    const std::size_t last = path.find_last_of("/\\");
    return last == std::string_view::npos ? path : path.substr(last + 1);
}

bool is_called(const Process& process, std::string_view name) {
    const std::string_view wanted = without_exe(file_name_of(name));
    if (wanted.empty()) return false;
    if (same_letters(without_exe(process.name), wanted)) return true;
    return !process.arguments.empty() && same_letters(without_exe(file_name_of(process.arguments.front())), wanted);
}

std::optional<std::string> steam_game_of(const Process& process) {
    constexpr std::string_view number = "AppId=";
    const auto& arguments = process.arguments;
    // What stands behind "--" is the game's own command line.
    const auto end = std::ranges::find(arguments, "--");
    if (std::find(arguments.begin(), end, "SteamLaunch") == end) return std::nullopt;
    if (std::find(arguments.begin(), end, "Install=1") != end) return std::nullopt;
    const auto found =
        std::find_if(arguments.begin(), end, [&](const std::string& one) { return one.starts_with(number); });
    if (found == end) return std::nullopt;
    return found->substr(number.size());
}

bool ProcessTable::visit(const std::function<bool(const Process&)>& visit) {
    const std::lock_guard lock(m_mutex);
    const TimePoint now = steady_now();
    if (!m_read_at || now - *m_read_at >= fresh_for) {
        m_processes = read_processes(m_proc);
        m_read_at = now;
    }
    if (!m_processes) return false;
    static_cast<void>(std::ranges::any_of(*m_processes, visit));
    return true;
}

}  // namespace potluck::activity
