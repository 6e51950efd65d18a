// Pictures of 8 bits per colour: from the bytes of a PNG or a PPM (P6), to squares of one side, and to the bytes of a
// PNG. What is transparent lies over white. All arithmetic is in whole numbers, so that the same files give the same
// pixels on every computer.
//
// It reads no files, and of PNG's animations, profiles and comments only what libpng needs for the pixels.
// Threads: values.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"

namespace potluck::pictures {

inline constexpr std::uint32_t side_max = 8'192;
inline constexpr std::uint64_t pixels_max = 16ULL << 20U;

struct Picture {
    std::uint32_t width = 0, height = 0;
    std::vector<std::uint8_t> rgb;  // height rows of width pixels, red, green and blue of each
    bool operator==(const Picture&) const = default;
};

/// `malformed` with a sentence for what is neither, is damaged, or is larger than the limits above, which are looked at
/// before anything is allocated.
[[nodiscard]] Result<Picture> decode_picture(ByteSpan file);

/// The square in the middle, averaged over areas to side * side pixels. `side` is at least 1.
[[nodiscard]] Picture squared(const Picture& picture, std::uint32_t side);

/// Pictures of one size, `columns` of them in each row; the last row is filled up with white.
[[nodiscard]] Picture tiled(const std::vector<Picture>& pictures, std::uint32_t columns);

/// Two pictures of one height with `gap` white columns between them.
[[nodiscard]] Picture beside(const Picture& left, const Picture& right, std::uint32_t gap);

[[nodiscard]] Result<Bytes> encode_png(const Picture& picture);

}  // namespace potluck::pictures
