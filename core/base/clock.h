// Time as a value that is passed in. Decisions never read a clock: the node passes the steady clock, the simulation
// its virtual one.
#pragma once

#include <chrono>
#include <cstdint>

namespace potluck {

using Duration = std::chrono::milliseconds;

/// Milliseconds on the owner's monotonic clock; the epoch is whatever that owner chose.
struct TimePoint {
    Duration since_epoch{0};
    auto operator<=>(const TimePoint&) const = default;
    friend TimePoint operator+(TimePoint at, Duration delay) { return {at.since_epoch + delay}; }
    friend TimePoint operator-(TimePoint at, Duration delay) { return {at.since_epoch - delay}; }
    friend Duration operator-(TimePoint a, TimePoint b) { return a.since_epoch - b.since_epoch; }
};

/// Now on the steady clock.
[[nodiscard]] inline TimePoint steady_now() {
    return {std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())};
}
/// Milliseconds since 1970. What depends on it must stand a clock that is wrong or set back.
[[nodiscard]] inline std::int64_t unix_milliseconds() {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<Duration>(since_epoch).count();
}
/// Seconds since 1970, for what people read. Never used to decide.
[[nodiscard]] inline std::int64_t unix_seconds() {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(since_epoch).count();
}

}  // namespace potluck
