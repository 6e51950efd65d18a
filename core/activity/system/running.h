// A program that runs, as the system itself tells it: its file, what it has started, how much memory it takes. For
// showing people which programs are at work on their computer. Linux: /proc, which tests replace by a folder; other
// systems tell nothing here.
//
// Threads: any; each call reads anew.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace potluck::activity {

inline constexpr std::size_t children_max = 64;

struct Running {
    std::filesystem::path file;
    std::uint64_t resident = 0;  // bytes in the computer's memory; 0: unknown
};

[[nodiscard]] std::int64_t own_process();

/// Nothing if there is no such process, it has ended, or this system does not tell.
[[nodiscard]] std::optional<Running> running(std::int64_t process, const std::filesystem::path& proc = "/proc");

/// The processes that `process` has started and that are still there, at most children_max. Nothing if this system does
/// not tell.
[[nodiscard]] std::optional<std::vector<std::int64_t>> children_of(std::int64_t process,
                                                                   const std::filesystem::path& proc = "/proc");

}  // namespace potluck::activity
