#include "core/numerics/cpu_dispatch.h"

namespace potluck::numerics {

const char* name_of(Path path) {
    switch (path) {
        case Path::baseline: return "baseline";
        case Path::avx2: return "avx2";
        case Path::avx512: return "avx512";
    }
    return "unknown";
}

bool available(Path path) {
#if POTLUCK_X86_PATHS
    // The built-in also asks whether the operating system saves the wide registers.
    const bool avx2 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi");
    if (path == Path::avx2) return avx2;
    if (path == Path::avx512) {
        return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    }
#endif
    return path == Path::baseline;
}

Path best_path() {
    if (available(Path::avx512)) return Path::avx512;
    return available(Path::avx2) ? Path::avx2 : Path::baseline;
}

}  // namespace potluck::numerics
