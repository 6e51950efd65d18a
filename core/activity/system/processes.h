// The programs that run, by their arguments. Linux: /proc; Windows: names only, from a Toolhelp snapshot.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"

namespace potluck::activity {

inline constexpr std::size_t processes_max = 20'000;
inline constexpr std::size_t arguments_bytes_max = 4096;  // of one process; a game's first arguments tell what it is

struct Process {
    std::int64_t id = 0;
    std::string name;                    // what the system calls it; Linux cuts it at 15 bytes
    std::vector<std::string> arguments;  // the first is the program; empty where they cannot be read
};

/// Nothing if this system's list of processes is not known to us.
[[nodiscard]] std::optional<std::vector<Process>> read_processes(const std::filesystem::path& proc = "/proc");

/// The last part of a path, whatever system it is of: programs for Windows run below Wine.
[[nodiscard]] std::string_view file_name_of(std::string_view path);
/// Whether `process` is the program that the owner calls `name`: its file's name without letter case, ".exe" or not.
[[nodiscard]] bool is_called(const Process& process, std::string_view name);
/// The number of the Steam game that `process` is the launcher of: Steam starts each as
/// `reaper SteamLaunch AppId=N -- ...`, and updates with Install=1 beside it, which are no games.
[[nodiscard]] std::optional<std::string> steam_game_of(const Process& process);

/// One list for several probes, read anew when it is older than `fresh_for`.
/// Threads: any.
class ProcessTable {
public:
    static constexpr Duration fresh_for{400};

    explicit ProcessTable(std::filesystem::path proc = "/proc") : m_proc(std::move(proc)) {}

    /// Calls `visit` with each process until it returns true. False if the list cannot be read here.
    bool visit(const std::function<bool(const Process&)>& visit);

private:
    std::filesystem::path m_proc;
    std::mutex m_mutex;
    std::optional<std::vector<Process>> m_processes;
    std::optional<TimePoint> m_read_at;
};

}  // namespace potluck::activity
