#include "core/numerics/cpu_dispatch.h"

namespace potluck::numerics {

const char* name_of(Isa isa) {
    switch (isa) {
        case Isa::baseline: return "baseline";
        case Isa::avx2: return "avx2";
        case Isa::avx512: return "avx512";
    }
    return "unknown";
}

bool available(Isa isa) {
#if POTLUCK_X86_ISAS
    // The built-in also asks whether the operating system saves the wide registers.
    const bool avx2 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi");
    if (isa == Isa::avx2) return avx2;
    if (isa == Isa::avx512) {
        return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    }
#endif
    return isa == Isa::baseline;
}

Isa best_isa() {
    if (available(Isa::avx512)) return Isa::avx512;
    return available(Isa::avx2) ? Isa::avx2 : Isa::baseline;
}

}  // namespace potluck::numerics
