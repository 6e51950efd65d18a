// POTLUCK_DISPATCH(function, arguments...) calls, of a function that per_isa.inl has compiled several times, the
// version for the instruction set in use (core/base/processor/isa.h). Only for arithmetic of one computer: what all
// must agree on lives in core/numerics. Threads: any.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/base/processor/isa.h"
#include "core/training/kernels/exp.h"
#include "core/training/kernels/lanes.h"

// One computer's own arithmetic, nothing that others compute again: a product and a sum may be rounded together.
#if defined(__clang__)
#pragma clang fp contract(fast)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=fast")
#endif

// GCC for Windows aligns the stack to 16 bytes and stores wider registers there as if it were more (its PR 54412).
#if POTLUCK_X86_ISAS && (!defined(_WIN32) || defined(__clang__))
#define POTLUCK_WIDE_KERNELS 1
#else
#define POTLUCK_WIDE_KERNELS 0
#endif

#if POTLUCK_WIDE_KERNELS
#define POTLUCK_DISPATCH(function, ...)                          \
    (isa_in_use() == Isa::avx512 ? avx512::function(__VA_ARGS__) \
     : isa_in_use() == Isa::avx2 ? avx2::function(__VA_ARGS__)   \
                                 : baseline::function(__VA_ARGS__))
#else
#define POTLUCK_DISPATCH(function, ...) baseline::function(__VA_ARGS__)
#endif
