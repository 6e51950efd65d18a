// What kernels of this room share whatever the instruction set: how they are inlined, dropout, and the parts of a row.
// Their vectors of floats are in lanes.inl.
// Threads: any.
#pragma once

#include <cstdint>

#include "core/base/half.h"
#include "core/base/mix.h"

#define POTLUCK_INLINE __attribute__((always_inline)) inline
#define POTLUCK_INLINE_LAMBDA __attribute__((always_inline))

namespace potluck::training {

/// How many of a vector's entries there are.
struct All {};
struct First {
    int count = 0;
};

/// Which entries of row `row` a dropout keeps follows from a seed alone, so that no mask is stored and a pass that is
/// run again drops the same ones.
struct Dropout {
    std::uint64_t seed = 0;
    float rate = 0;  // 0: keeps everything
};

inline std::uint32_t dropout_row(std::uint64_t seed, std::uint64_t row) {
    return static_cast<std::uint32_t>(mix64_finalise(seed + row * splitmix_increment));
}

}  // namespace potluck::training
