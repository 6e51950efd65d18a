// How much of this computer's processor other programs use, beside a program and all that it has started. Linux counts
// the time of every process and of the whole computer in /proc; elsewhere it is not known.
//
// Does not: count what a program's descendants that were adopted by others use; a demo's nodes stay its own.
// Threads: any.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace potluck::node {

/// What /proc/PID/stat says of a process.
struct ProcessTime {
    std::int64_t process = 0, parent = 0;
    std::uint64_t ticks = 0;  // its own, and of children that have ended and that it has waited for
    bool operator==(const ProcessTime&) const = default;
};
[[nodiscard]] std::optional<ProcessTime> parse_process_time(std::string_view stat);

/// Ticks since the computer started.
struct ProcessorUse {
    std::uint64_t own = 0;   // of a program and its descendants
    std::uint64_t used = 0;  // by anything, and by other guests of the same host
    std::uint64_t all = 0;   // idle ones included
};
/// From the first line of /proc/stat: "cpu  user nice system idle iowait irq softirq steal ...", without `own`.
[[nodiscard]] std::optional<ProcessorUse> parse_processor_use(std::string_view line);
/// Sums the ticks of `program` and of all whose parents lead to it.
[[nodiscard]] std::uint64_t ticks_of_family(const std::vector<ProcessTime>& processes, std::int64_t program);

/// Between two moments, the share of `all` that others used; nothing if no time has passed or a counter was set back.
[[nodiscard]] std::optional<double> others_share(const ProcessorUse& before, const ProcessorUse& now);

/// Reads what this program and the computer have used so far; nothing where the system does not tell.
[[nodiscard]] std::optional<ProcessorUse> read_processor_use(const std::filesystem::path& proc = "/proc");

}  // namespace potluck::node
