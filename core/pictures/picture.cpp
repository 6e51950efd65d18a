// PNG through libpng's simplified interface, which returns errors instead of jumping and reads the header before it
// asks for room; PPM by hand, since it is a line of numbers and bytes.
//
// squared() averages over areas: with a square of `from` pixels and `side` wanted, pixel i of the source reaches over
// [i side, (i + 1) side) and pixel t of the result over [t from, (t + 1) from), so that every overlap is whole.
#include "core/pictures/picture.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

#include <png.h>

#include "core/base/check.h"

namespace potluck::pictures {

namespace {

Error unusable(std::string what) { return {ErrorCode::malformed, std::move(what)}; }

bool fits(std::uint64_t width, std::uint64_t height) {
    return width >= 1 && height >= 1 && width <= side_max && height <= side_max && width * height <= pixels_max;
}

const Error too_large =
    unusable("The picture has no pixels or too many; take one of at most 8,192 pixels a side and 16 megapixels.");

/// Frees what libpng holds, whichever way the call ends.
struct PngRead {
    png_image image{};
    PngRead() { image.version = PNG_IMAGE_VERSION; }
    PngRead(const PngRead&) = delete;
    PngRead& operator=(const PngRead&) = delete;
    ~PngRead() { png_image_free(&image); }
};

/// The chunks that pixels depend on. libpng unpacks texts and colour profiles as well, which nobody asked for and which
/// may hold a thousand times what they take in the file.
constexpr std::string_view png_chunks_kept[] = {"IHDR", "PLTE", "tRNS", "gAMA", "sRGB", "IDAT", "IEND"};
constexpr std::size_t png_magic_bytes = 8, chunk_frame_bytes = 12;  // length, name and check sum of a chunk

/// What is cut stays as it is: libpng says so.
Bytes without_other_chunks(ByteSpan file) {
    Bytes kept(file.begin(), file.begin() + png_magic_bytes);
    for (ByteSpan rest = file.subspan(png_magic_bytes); !rest.empty();) {
        std::uint64_t size = rest.size();
        std::string_view name;
        if (rest.size() >= chunk_frame_bytes) {
            std::uint32_t length = 0;
            for (std::size_t byte = 0; byte < 4; ++byte)
                length = length << 8U | std::to_integer<std::uint32_t>(rest[byte]);
            size = std::min<std::uint64_t>(size, std::uint64_t{length} + chunk_frame_bytes);
            name = as_text(rest.subspan(4, 4));
        }
        const ByteSpan chunk = rest.first(static_cast<std::size_t>(size));
        if (name.empty() || std::ranges::find(png_chunks_kept, name) != std::end(png_chunks_kept))
            kept.insert(kept.end(), chunk.begin(), chunk.end());
        rest = rest.subspan(chunk.size());
        if (name == "IEND") break;
    }
    return kept;
}

Result<Picture> decode_png(ByteSpan whole) {
    const Bytes file = without_other_chunks(whole);
    PngRead read;
    if (png_image_begin_read_from_memory(&read.image, file.data(), file.size()) == 0)
        return unusable("The PNG file is damaged; make it again.");
    if (!fits(read.image.width, read.image.height)) return too_large;
    read.image.format = PNG_FORMAT_RGBA;
    std::vector<std::uint8_t> rgba(PNG_IMAGE_SIZE(read.image));
    const std::uint32_t width = read.image.width, height = read.image.height;
    if (png_image_finish_read(&read.image, nullptr, rgba.data(), 0, nullptr) == 0)
        return unusable("The PNG file is damaged; make it again.");
    Picture picture{width, height, std::vector<std::uint8_t>(std::size_t{3} * width * height)};
    for (std::size_t pixel = 0; pixel < std::size_t{width} * height; ++pixel) {
        const std::uint32_t alpha = rgba[4 * pixel + 3];
        for (std::size_t colour = 0; colour < 3; ++colour) {
            const std::uint32_t over_white = rgba[4 * pixel + colour] * alpha + 255 * (255 - alpha);
            picture.rgb[3 * pixel + colour] = static_cast<std::uint8_t>((over_white + 127) / 255);
        }
    }
    return picture;
}

/// A number of a PPM's header, behind blanks and comments; nothing where there is none or it has more than five digits.
std::optional<std::uint32_t> next_number(std::string_view& rest) {
    for (;;) {
        const std::size_t begin = rest.find_first_not_of(" \t\r\n");
        if (begin == std::string_view::npos) return std::nullopt;
        rest.remove_prefix(begin);
        if (rest.front() != '#') break;
        rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
    }
    std::uint32_t number = 0;
    std::size_t digits = 0;
    while (digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9') {
        if (digits == 5) return std::nullopt;
        number = 10 * number + static_cast<std::uint32_t>(rest[digits++] - '0');
    }
    if (digits == 0) return std::nullopt;
    rest.remove_prefix(digits);
    return number;
}

Result<Picture> decode_ppm(ByteSpan file) {
    std::string_view rest = as_text(file).substr(2);
    const auto width = next_number(rest), height = next_number(rest), most = next_number(rest);
    if (!width || !height || !most || *most != 255 || rest.empty())
        return unusable("The PPM file is not of the kind P6 with 255 levels; save it as PNG.");
    rest.remove_prefix(1);
    if (!fits(*width, *height)) return too_large;
    const std::size_t size = std::size_t{3} * *width * *height;
    if (rest.size() < size) return unusable("The PPM file ends too early; make it again.");
    Picture picture{*width, *height, std::vector<std::uint8_t>(size)};
    std::memcpy(picture.rgb.data(), rest.data(), size);
    return picture;
}

/// Which pixels of a row of `from` reach into each of `side`, and how far.
struct Overlaps {
    std::uint64_t from, side;
    template <class Take>
    void each(std::uint64_t target, const Take& take) const {
        const std::uint64_t begin = target * from, end = begin + from;
        for (std::uint64_t i = begin / side; i * side < end; ++i) {
            take(i, std::min(end, (i + 1) * side) - std::max(begin, i * side));
        }
    }
};

/// Over what is there, which must have room for it.
void put(Picture& onto, const Picture& picture, std::size_t left, std::size_t top) {
    for (std::size_t row = 0; row < picture.height; ++row) {
        std::memcpy(&onto.rgb[3 * ((top + row) * onto.width + left)], &picture.rgb[3 * row * picture.width],
                    std::size_t{3} * picture.width);
    }
}

}  // namespace

Result<Picture> decode_picture(ByteSpan file) {
    constexpr std::string_view png_magic = "\x89PNG\r\n\x1a\n";
    if (as_text(file).starts_with(png_magic)) return decode_png(file);
    if (as_text(file).starts_with("P6")) return decode_ppm(file);
    return unusable("The file is neither PNG nor PPM (P6); save the picture as PNG.");
}

Picture squared(const Picture& picture, std::uint32_t side) {
    POTLUCK_CHECK(side >= 1 && fits(picture.width, picture.height));
    const std::uint64_t from = std::min(picture.width, picture.height);
    const std::uint64_t left = (picture.width - from) / 2, top = (picture.height - from) / 2;
    const Overlaps overlaps{from, side};
    Picture out{side, side, std::vector<std::uint8_t>(std::size_t{3} * side * side)};
    for (std::uint64_t y = 0; y < side; ++y) {
        for (std::uint64_t x = 0; x < side; ++x) {
            std::uint64_t sums[3] = {};
            overlaps.each(y, [&](std::uint64_t row, std::uint64_t high) {
                overlaps.each(x, [&](std::uint64_t column, std::uint64_t wide) {
                    const std::uint64_t pixel = (top + row) * picture.width + left + column;
                    for (std::size_t colour = 0; colour < 3; ++colour)
                        sums[colour] += high * wide * picture.rgb[static_cast<std::size_t>(3 * pixel) + colour];
                });
            });
            const std::uint64_t area = from * from;
            for (std::size_t colour = 0; colour < 3; ++colour) {
                out.rgb[static_cast<std::size_t>(3 * (y * side + x)) + colour] =
                    static_cast<std::uint8_t>((sums[colour] + area / 2) / area);
            }
        }
    }
    return out;
}

Picture tiled(const std::vector<Picture>& pictures, std::uint32_t columns) {
    POTLUCK_CHECK(!pictures.empty() && columns >= 1);
    const std::uint32_t width = pictures.front().width, height = pictures.front().height;
    const auto rows = static_cast<std::uint32_t>((pictures.size() + columns - 1) / columns);
    Picture out{columns * width, rows * height, {}};
    out.rgb.assign(std::size_t{3} * out.width * out.height, 255);
    for (std::size_t i = 0; i < pictures.size(); ++i) {
        POTLUCK_CHECK(pictures[i].width == width && pictures[i].height == height);
        put(out, pictures[i], i % columns * width, i / columns * height);
    }
    return out;
}

Picture beside(const Picture& left, const Picture& right, std::uint32_t gap) {
    POTLUCK_CHECK(left.height == right.height);
    Picture out{left.width + gap + right.width, left.height, {}};
    out.rgb.assign(std::size_t{3} * out.width * out.height, 255);
    put(out, left, 0, 0);
    put(out, right, left.width + gap, 0);
    return out;
}

Result<Bytes> encode_png(const Picture& picture) {
    PngRead write;
    write.image.width = picture.width;
    write.image.height = picture.height;
    write.image.format = PNG_FORMAT_RGB;
    const Error failed{ErrorCode::io, std::string("The picture cannot be written as PNG; try a smaller one.")};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(write.image);
    Bytes file(size);
    if (png_image_write_to_memory(&write.image, file.data(), &size, 0, picture.rgb.data(), 0, nullptr) == 0)
        return failed;
    file.resize(size);
    return file;
}

}  // namespace potluck::pictures
