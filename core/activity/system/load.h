// How much of all cores other programs use. Linux's /proc/stat counts the time of programs with a lowered priority by
// itself (`nice`), and the trainer lowers its own, so what is left is everybody else's, the small share of node and
// window included.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "core/activity/probe.h"

namespace potluck::activity {

/// Ticks since the computer started.
struct ProcessorTime {
    std::uint64_t others = 0, all = 0;
    bool operator==(const ProcessorTime&) const = default;
};
/// From the first line of /proc/stat: "cpu  user nice system idle iowait irq softirq steal ...".
[[nodiscard]] std::optional<ProcessorTime> parse_processor_time(std::string_view line);
/// Per cent of `all` between two moments; 0 if no time has passed or a counter was set back.
[[nodiscard]] double others_between(const ProcessorTime& before, const ProcessorTime& now);

class LoadProbe final : public Probe {
public:
    explicit LoadProbe(std::filesystem::path file = "/proc/stat") : m_file(std::move(file)) {}

    Signal signal() const override { return Signal::load; }
    Sight look() override;
    Duration every() const override { return Duration{2'000}; }

private:
    std::filesystem::path m_file;
    std::optional<ProcessorTime> m_before;
};

}  // namespace potluck::activity
