#include "core/activity/system/local_time.h"

namespace potluck::activity {

std::tm local_time(std::int64_t unix_time) {
    const auto time = static_cast<std::time_t>(unix_time);
    std::tm parts{};
#ifdef _WIN32
    localtime_s(&parts, &time);
#else
    localtime_r(&time, &parts);
#endif
    return parts;
}

}  // namespace potluck::activity
