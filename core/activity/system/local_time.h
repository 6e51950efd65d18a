// The owner's wall clock: a moment by the time zone that is set on this computer.
#pragma once

#include <cstdint>
#include <ctime>

namespace potluck::activity {

/// Parts of `unix_time` (seconds) in local time; safe on any thread.
[[nodiscard]] std::tm local_time(std::int64_t unix_time);

}  // namespace potluck::activity
