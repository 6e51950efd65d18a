// Every process is looked at once: those whose parents lead to this program are its own. A child that has ended counts
// with the parent that waited for it, so nothing gets lost when a trainer ends; a process that ends between two looks
// without a parent of ours would count as another program's.
#include "app/demo/processor_use.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <map>
#include <string>
#include <system_error>

#ifndef _WIN32
#include <unistd.h>
#endif

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t processes_max = 100'000;
constexpr int generations_max = 64;

/// The next number of a line whose numbers stand between blanks.
template <class Number>
bool take_number(std::string_view& line, Number& value) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (failed != std::errc()) return false;
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    return true;
}

std::string first_line(const fs::path& file) {
    std::string line;
    std::ifstream in(file);
    std::getline(in, line);
    return line;
}

std::int64_t own_process() {
#ifdef _WIN32
    return 0;
#else
    return ::getpid();
#endif
}

}  // namespace

std::optional<ProcessTime> parse_process_time(std::string_view stat) {
    // A name may hold blanks and brackets; the last bracket ends it.
    const std::size_t name = stat.rfind(')');
    ProcessTime time;
    std::string_view head = stat;
    if (name == std::string_view::npos || name + 3 > stat.size() || !take_number(head, time.process))
        return std::nullopt;
    std::string_view fields = stat.substr(name + 3);  // behind the state
    if (!take_number(fields, time.parent)) return std::nullopt;
    constexpr int before_times = 9;  // group, session, terminal, its group, flags, four counts of faults
    for (int i = 0; i < before_times; ++i)
        if (std::int64_t skipped = 0; !take_number(fields, skipped)) return std::nullopt;
    for (int i = 0; i < 4; ++i) {  // user, system; the same of children
        std::uint64_t ticks = 0;
        if (!take_number(fields, ticks)) return std::nullopt;
        time.ticks += ticks;
    }
    return time;
}

std::optional<ProcessorUse> parse_processor_use(std::string_view line) {
    // proc(5), the line "cpu" of /proc/stat
    enum Column { user, nice, system, unused, waiting_for_disk, irq, softirq, stolen, columns };
    constexpr std::string_view head = "cpu ";
    if (!line.starts_with(head)) return std::nullopt;
    line.remove_prefix(head.size());
    std::array<std::uint64_t, columns> ticks{};
    for (std::uint64_t& value : ticks)
        if (!take_number(line, value)) return std::nullopt;
    ProcessorUse use;
    for (const std::uint64_t value : ticks) use.all += value;
    use.used = use.all - ticks[unused] - ticks[waiting_for_disk];
    return use;
}

std::uint64_t ticks_of_family(const std::vector<ProcessTime>& processes, std::int64_t program) {
    std::map<std::int64_t, std::int64_t> parents;
    for (const ProcessTime& one : processes) parents[one.process] = one.parent;
    const auto is_own = [&](std::int64_t process) {
        for (int i = 0; i < generations_max && process != program; ++i) {
            const auto found = parents.find(process);
            if (found == parents.end()) return false;
            process = found->second;
        }
        return process == program;
    };
    std::uint64_t ticks = 0;
    for (const ProcessTime& one : processes) ticks += is_own(one.process) ? one.ticks : 0;
    return ticks;
}

std::optional<double> others_share(const ProcessorUse& before, const ProcessorUse& now) {
    if (now.all <= before.all || now.used < before.used || now.own < before.own) return std::nullopt;
    const auto all = static_cast<double>(now.all - before.all);
    const double used = static_cast<double>(now.used - before.used), own = static_cast<double>(now.own - before.own);
    return std::clamp((used - own) / all, 0.0, 1.0);
}

std::optional<ProcessorUse> read_processor_use(const fs::path& proc) {
    auto use = parse_processor_use(first_line(proc / "stat"));
    if (!use) return std::nullopt;
    std::vector<ProcessTime> processes;
    std::error_code failed;
    fs::directory_iterator entry(proc, failed);
    for (; !failed && entry != fs::directory_iterator() && processes.size() < processes_max; entry.increment(failed)) {
        const std::string name = entry->path().filename().string();
        if (name.empty() || name.find_first_not_of("0123456789") != std::string::npos) continue;
        if (const auto time = parse_process_time(first_line(entry->path() / "stat"))) processes.push_back(*time);
    }
    use->own = ticks_of_family(processes, own_process());
    return use;
}

}  // namespace potluck::node
