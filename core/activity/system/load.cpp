#include "core/activity/system/load.h"

#include <array>
#include <charconv>

#include "core/activity/system/small_file.h"

namespace potluck::activity {

std::optional<ProcessorTime> parse_processor_time(std::string_view line) {
    enum Column { user, nice, system, idle, iowait, irq, softirq, columns };
    constexpr std::string_view head = "cpu ";
    if (!line.starts_with(head)) return std::nullopt;
    std::array<std::uint64_t, columns> ticks{};
    const char* at = line.data() + head.size();
    const char* const end = line.data() + line.size();
    for (std::uint64_t& value : ticks) {
        while (at != end && *at == ' ') ++at;
        const auto [next, failed] = std::from_chars(at, end, value);
        if (failed != std::errc()) return std::nullopt;
        at = next;
    }
    ProcessorTime time;
    for (const std::uint64_t value : ticks) time.all += value;
    time.others = ticks[user] + ticks[system] + ticks[irq] + ticks[softirq];
    return time;
}

double others_between(const ProcessorTime& before, const ProcessorTime& now) {
    if (now.all <= before.all || now.others < before.others) return 0;
    return 100 * static_cast<double>(now.others - before.others) / static_cast<double>(now.all - before.all);
}

Sight LoadProbe::look() {
    const auto now = parse_processor_time(line_in(m_file));
    if (!now) return blind(Blindness::other_system);
    const double share = m_before ? others_between(*m_before, *now) : 0;
    m_before = now;
    return seen(share);
}

}  // namespace potluck::activity
