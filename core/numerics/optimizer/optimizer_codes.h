// From a block's codes to its values and back, for any instruction set: lookups, and the lines of dynamic_map.h as a
// chain of selections. optimizer_codes_avx512.h does the same with tables in registers.
//
// Does not: search (plain_mean_code does). Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/numerics/cpu_dispatch.h"
#include "core/numerics/optimizer/dynamic_map.h"
#include "core/numerics/optimizer/optimizer.h"
#include "core/numerics/optimizer/optimizer_arithmetic.h"

namespace potluck::numerics {

/// For any instruction set: loops over one block that compilers turn into vectors.
struct LineCodes {
    static POTLUCK_INLINE void mean_values(const std::uint8_t* POTLUCK_RESTRICT codes, float scale,
                                           float* POTLUCK_RESTRICT out) {
        for (std::size_t i = 0; i < optimizer_block; ++i) out[i] = mean_map[codes[i]] * scale;
    }
    static POTLUCK_INLINE void variance_values(const std::uint8_t* POTLUCK_RESTRICT codes, float scale,
                                               float* POTLUCK_RESTRICT out) {
        for (std::size_t i = 0; i < optimizer_block; ++i) out[i] = variance_map[codes[i]] * scale;
    }
    static POTLUCK_INLINE void mean_codes(const float* POTLUCK_RESTRICT values, float inverse,
                                          std::uint8_t* POTLUCK_RESTRICT out) {
        for (std::size_t i = 0; i < optimizer_block; ++i) {
            const float y = values[i] * inverse;
            const std::uint32_t size =
                arithmetic::line_code(arithmetic::magnitude(y), mean_above, mean_slope, mean_offset, mean_last);
            out[i] = static_cast<std::uint8_t>(arithmetic::signed_code(y, size));
        }
    }
    static POTLUCK_INLINE void variance_codes(const float* POTLUCK_RESTRICT values, float inverse,
                                              std::uint8_t* POTLUCK_RESTRICT out) {
        for (std::size_t i = 0; i < optimizer_block; ++i) {
            const float y = values[i] * inverse;
            out[i] = static_cast<std::uint8_t>(
                arithmetic::line_code(y, variance_above, variance_slope, variance_offset, variance_last));
        }
    }
};

}  // namespace potluck::numerics
