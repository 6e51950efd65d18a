// The owner's hours: for each hour of the week how much of the computer training may take.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/activity/signals.h"

namespace potluck::activity {

inline constexpr std::size_t hours_per_day = 24, days_per_week = 7, hours_per_week = hours_per_day * days_per_week;

/// 0 is Monday from midnight to one o'clock, by the computer's own time.
struct HourOfWeek {
    std::size_t value = 0;
};

class Schedule {
public:
    Schedule() { m_levels.fill(Level::run); }

    [[nodiscard]] Level at(HourOfWeek hour) const { return m_levels.at(hour.value); }
    void set(HourOfWeek hour, Level level) { m_levels.at(hour.value) = level; }

    /// One letter for each hour from Monday's first on: r for run, q for quiet, p for pause.
    [[nodiscard]] std::string text() const;
    /// Nothing if it is not exactly that.
    [[nodiscard]] static std::optional<Schedule> parse(std::string_view text);

    bool operator==(const Schedule&) const = default;

private:
    std::array<Level, hours_per_week> m_levels;
};

}  // namespace potluck::activity
