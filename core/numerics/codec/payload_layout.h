// The bytes of a payload (docs/payload-format.md), shared by the encoder, the parser and the plain version. All
// little-endian; bit streams fill each byte from its lowest bit.
//
//   header       0  "PLP1"      4  k (u32)      8  parameters (u64)
//   group table 16  one u32 per group: its bytes
//   group        0  four means (f32)    16  gap code (u8)    17  2-bit codes    then  gaps, zero bits to a whole byte
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/numerics/codec/sparse_codec.h"

namespace potluck::numerics::layout {

inline constexpr char magic[4] = {'P', 'L', 'P', '1'};
inline constexpr std::size_t header_size = 16;
inline constexpr std::size_t table_entry_size = 4;
inline constexpr std::size_t group_header_size = 17;
inline constexpr float mean_max = 0x1p60F;

/// Parameters and entries of one group.
struct GroupShape {
    std::uint64_t begin = 0;  // first parameter
    std::size_t length = 0;   // parameters, at most group_size
    std::size_t chunks = 0;
    std::size_t entries = 0;  // over all its chunks
    [[nodiscard]] std::size_t codes_size() const { return (entries + 3) / 4; }
};

[[nodiscard]] inline std::uint64_t group_count(std::uint64_t size) {
    return size / group_size + (size % group_size != 0);
}

/// Entries sent of a chunk of `length` parameters: k, or the same share of a shorter last chunk, rounded up.
[[nodiscard]] inline std::size_t kept(std::size_t length, std::uint32_t k) {
    return (length * k + chunk_size - 1) / chunk_size;
}

[[nodiscard]] inline GroupShape shape_of(std::uint64_t group, std::uint64_t size, std::uint32_t k) {
    GroupShape shape;
    shape.begin = group * group_size;
    shape.length = static_cast<std::size_t>(std::min<std::uint64_t>(group_size, size - shape.begin));
    const std::size_t whole = shape.length / chunk_size;
    const std::size_t rest = shape.length % chunk_size;
    shape.chunks = whole + (rest != 0);
    shape.entries = whole * k + kept(rest, k);
    return shape;
}

[[nodiscard]] inline std::uint64_t load(const std::byte* at, std::size_t width) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width; ++i) value |= std::to_integer<std::uint64_t>(at[i]) << (8 * i);
    return value;
}

inline void store(std::byte* at, std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) at[i] = static_cast<std::byte>((value >> (8 * i)) & 0xffU);
}

/// As `load` of 8 bytes and `store` of 4, in one instruction where the processor is little-endian.
[[nodiscard]] inline std::uint64_t load_u64(const std::byte* at) {
    if constexpr (std::endian::native != std::endian::little) return load(at, 8);
    std::uint64_t value = 0;
    std::memcpy(&value, at, sizeof value);
    return value;
}

inline void store_u32(std::byte* at, std::uint32_t value) {
    if constexpr (std::endian::native == std::endian::little) {
        std::memcpy(at, &value, sizeof value);
    } else {
        store(at, value, 4);
    }
}

[[nodiscard]] inline float load_mean(const std::byte* group, std::size_t code) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(load(group + 4 * code, 4)));
}

}  // namespace potluck::numerics::layout
