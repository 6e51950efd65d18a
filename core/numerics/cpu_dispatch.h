// How the fast versions are compiled for an instruction set (core/base/processor/isa.h says which one runs). Each
// produces the same bytes; the tests run all that the processor has.
//
// A kernel is written once as an inline body; a source file instantiates it per `Isa` inside a function that is
// compiled for that instruction set, and picks one at run time.
#pragma once

#include <cstdint>

#include "core/base/processor/isa.h"

#if POTLUCK_X86_ISAS
// Without FMA: what all must agree on rounds each product and each sum.
#define POTLUCK_AVX2 __attribute__((target("avx2,popcnt,bmi")))
#if defined(__clang__)
#define POTLUCK_AVX512_WIDTH ""  // knows no width in an attribute and chooses it itself
#else
#define POTLUCK_AVX512_WIDTH ",prefer-vector-width=512"
#endif
#define POTLUCK_AVX512 \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,popcnt,bmi" POTLUCK_AVX512_WIDTH)))
#endif

#if defined(__GNUC__)
#define POTLUCK_INLINE __attribute__((always_inline)) inline
#define POTLUCK_RESTRICT __restrict__
#else
#define POTLUCK_INLINE __forceinline
#define POTLUCK_RESTRICT __restrict
#endif
