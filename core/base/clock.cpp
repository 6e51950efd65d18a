#include "core/base/clock.h"

namespace potluck {

TimePoint steady_now() {
    return {std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())};
}

std::int64_t unix_seconds() {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(since_epoch).count();
}

}  // namespace potluck
