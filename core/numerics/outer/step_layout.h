// The bytes of a step (docs/payload-format.md), shared by its writer, its reader and the plain version. All
// little-endian; bit streams fill each byte from its lowest bit.
//
//   header       0  "PLS1"      4  kept (u32)      8  parameters (u64)
//   group table 16  one u32 per group: its bytes
//   group        0  gap code (u8)     1  scales (i8), one per block    then  4-bit values    then  gaps
//
// A block is 256 kept means of one chunk, the last one of a chunk the rest of them. Where all means are kept there are
// no gaps, and the gap code is 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/numerics/codec/payload_layout.h"

namespace potluck::numerics::step_layout {

inline constexpr char magic[4] = {'P', 'L', 'S', '1'};
inline constexpr std::size_t block_size = 256;
/// Scales: nothing below the first is worth keeping, and no mean needs more than the last (payload_layout.h).
inline constexpr int scale_min = -126, scale_max = 58;
inline constexpr std::uint32_t kept_min = 512;

[[nodiscard]] inline std::size_t blocks_of(std::size_t kept) { return (kept + block_size - 1) / block_size; }

/// Blocks of a whole group.
[[nodiscard]] inline std::size_t blocks_of(const layout::GroupShape& shape, std::uint32_t kept) {
    const std::size_t rest = shape.length % chunk_size;
    return shape.length / chunk_size * blocks_of(kept) + blocks_of(layout::kept(rest, kept));
}

/// Bytes of a group before its gaps.
[[nodiscard]] inline std::size_t fixed_size(const layout::GroupShape& shape, std::uint32_t kept) {
    return 1 + blocks_of(shape, kept) + (shape.entries + 1) / 2;
}

/// The smallest e for which round(largest * 2^-e) is at most 7; 0 for a block of zeros.
[[nodiscard]] inline int scale_of(float largest) {
    if (largest == 0) return 0;
    int exponent = 0;  // largest = fraction * 2^exponent
    const float fraction = std::frexp(largest, &exponent);
    const bool fits = fraction * 8 < 7.5F;  // 7.5 rounds to 8
    return std::max(fits ? exponent - 3 : exponent - 2, scale_min);
}

}  // namespace potluck::numerics::step_layout
