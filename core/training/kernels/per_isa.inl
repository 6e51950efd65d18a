// Compiles the file POTLUCK_KERNELS once for each instruction set, with vectors as wide as its registers, in namespaces
// of their names. There, functions marked POTLUCK_TARGET are compiled for it; whatever touches vectors is inlined into
// one of them. Vectors wider than the registers would be correct, but GCC takes them apart badly: attention for 512
// bits took twice as long with 256.
//
// Include per_isa.h first, and this in namespace potluck::training, in an anonymous namespace.

namespace baseline {
#define POTLUCK_LANES 4
#define POTLUCK_TARGET
#include "core/training/kernels/lanes.inl"
#include POTLUCK_KERNELS
#undef POTLUCK_TARGET
#undef POTLUCK_LANES
}  // namespace baseline

#if POTLUCK_WIDE_KERNELS
namespace avx2 {
#define POTLUCK_LANES 8
#define POTLUCK_TARGET __attribute__((target("avx2,fma,popcnt,bmi")))
#include "core/training/kernels/lanes.inl"
#include POTLUCK_KERNELS
#undef POTLUCK_TARGET
#undef POTLUCK_LANES
}  // namespace avx2

namespace avx512 {
#define POTLUCK_LANES 16
#if defined(__clang__)  // knows no width in an attribute and chooses it itself
#define POTLUCK_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt,bmi")))
#else
#define POTLUCK_TARGET \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt,bmi,prefer-vector-width=512")))
#endif
#include "core/training/kernels/lanes.inl"
#include POTLUCK_KERNELS
#undef POTLUCK_TARGET
#undef POTLUCK_LANES
}  // namespace avx512
#endif

#undef POTLUCK_KERNELS
