#include "core/training/memory/process_memory.h"

#if defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
// windows.h has to come first.
#include <psapi.h>
#elif defined(__APPLE__)
#include <mach/mach.h>
#else
#include <fstream>
#include <string>
#endif

namespace potluck::training {

std::uint64_t resident_bytes() {
#if defined(_WIN32)
    PROCESS_MEMORY_COUNTERS counters{};
    if (GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) == 0) return 0;
    return counters.WorkingSetSize;
#elif defined(__APPLE__)
    mach_task_basic_info info{};
    mach_msg_type_number_t size = MACH_TASK_BASIC_INFO_COUNT;
    const auto outcome = task_info(mach_task_self(), MACH_TASK_BASIC_INFO, reinterpret_cast<task_info_t>(&info), &size);
    return outcome == KERN_SUCCESS ? info.resident_size : 0;
#else
    std::ifstream file("/proc/self/status");
    std::string name, rest;
    std::uint64_t kibibytes = 0;
    while (file >> name) {
        if (name == "VmRSS:" && file >> kibibytes) return kibibytes * 1024;
        std::getline(file, rest);
    }
    return 0;
#endif
}

}  // namespace potluck::training
