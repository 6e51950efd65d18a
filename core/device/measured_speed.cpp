#include "core/device/measured_speed.h"

#include <algorithm>
#include <cstdint>

#ifdef _WIN32
#include <windows.h>
#else
#include <ctime>
#endif

namespace potluck::device {

namespace {

MeasuredSpeed speed_of(const SpeedSample& sample) {
    MeasuredSpeed speed;
    if (sample.wall <= 0) return speed;
    if (sample.processor > 0) speed.busy = std::max(0.0, 1 - sample.processor / sample.wall);
    speed.per_second = sample.work / (speed.is_busy() ? sample.processor : sample.wall);
    return speed;
}

}  // namespace

MeasuredSpeed speed_of(std::span<const SpeedSample> samples) {
    MeasuredSpeed best;
    for (const SpeedSample& sample : samples) {
        const MeasuredSpeed speed = speed_of(sample);
        if (speed.per_second > best.per_second) best = speed;
    }
    return best;
}

double thread_seconds() {
#ifdef _WIN32
    FILETIME created, ended, kernel, user;
    if (GetThreadTimes(GetCurrentThread(), &created, &ended, &kernel, &user) == 0) return 0;
    const auto seconds = [](const FILETIME& time) {  // of 100 ns
        const std::uint64_t ticks = (std::uint64_t{time.dwHighDateTime} << 32U) | time.dwLowDateTime;
        return 1e-7 * static_cast<double>(ticks);
    };
    return seconds(kernel) + seconds(user);
#else
    timespec time{};
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return 0;
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
#endif
}

}  // namespace potluck::device
