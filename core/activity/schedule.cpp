#include "core/activity/schedule.h"

namespace potluck::activity {

namespace {

constexpr std::string_view letters = "rqp";  // by Level

}  // namespace

std::string Schedule::text() const {
    std::string text;
    for (const Level level : m_levels) text.push_back(letters[static_cast<std::size_t>(level)]);
    return text;
}

std::optional<Schedule> Schedule::parse(std::string_view text) {
    if (text.size() != hours_per_week) return std::nullopt;
    Schedule schedule;
    for (std::size_t hour = 0; hour < hours_per_week; ++hour) {
        const std::size_t level = letters.find(text[hour]);
        if (level == std::string_view::npos) return std::nullopt;
        schedule.set({hour}, static_cast<Level>(level));
    }
    return schedule;
}

}  // namespace potluck::activity
