// One step of SplitMix64 (Steele, Lea, Flood 2014), the mixer of 64 bits that streams, hash tables, sample orders and
// stochastic rounding share. The same function on the computer and in CUDA kernels. Not for secrets.
// Standard library only. Threads: any.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define POTLUCK_MIX_FUNCTION __host__ __device__ __forceinline__
#else
#define POTLUCK_MIX_FUNCTION inline
#endif

namespace potluck {

/// What SplitMix64 adds to its state at each step: 2^64 divided by the golden ratio.
inline constexpr std::uint64_t splitmix_increment = 0x9e3779b97f4a7c15ULL;

/// SplitMix64's output function, a bijection: the finaliser alone, without the increment.
POTLUCK_MIX_FUNCTION constexpr std::uint64_t mix64_finalise(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
}

/// The output of a SplitMix64 whose state is `x`.
POTLUCK_MIX_FUNCTION constexpr std::uint64_t mix64(std::uint64_t x) { return mix64_finalise(x + splitmix_increment); }

}  // namespace potluck
