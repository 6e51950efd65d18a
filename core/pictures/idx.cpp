#include "core/pictures/idx.h"

#include <algorithm>
#include <string>

#include <zlib.h>

namespace potluck::pictures {

namespace {

constexpr std::size_t magic_bytes = 4, size_bytes = 4;
constexpr std::size_t header_bytes_max = magic_bytes + idx_sizes_max * size_bytes;
constexpr std::byte none{0}, of_bytes{8};
constexpr std::byte gzip_magic[] = {std::byte{0x1f}, std::byte{0x8b}};
constexpr std::size_t piece_bytes = 1 << 20;
constexpr int gzip_window_bits = 15 + 16;  // zlib's words for a gzip header and nothing else

Error unusable() {
    return {ErrorCode::malformed,
            "This is no table of bytes in IDX, as MNIST comes in, or it is damaged; fetch the file again."};
}

bool is_packed(ByteSpan file) {
    return file.size() > std::size(gzip_magic) &&
           std::equal(std::begin(gzip_magic), std::end(gzip_magic), file.begin());
}

/// What gzip packed, up to `bytes_max`; nothing if it is damaged, cut, goes on behind its end, or is longer.
Result<Bytes> unpacked(ByteSpan file, std::uint64_t bytes_max) {
    if (file.size() > idx_bytes_max) return unusable();
    z_stream stream{};
    if (inflateInit2(&stream, gzip_window_bits) != Z_OK) return unusable();
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(file.data()));  // zlib writes nothing there
    stream.avail_in = static_cast<uInt>(file.size());
    Bytes out;
    int state = Z_OK;
    while (state == Z_OK && out.size() <= bytes_max) {
        const std::size_t had = out.size();
        out.resize(had + piece_bytes);
        stream.next_out = reinterpret_cast<Bytef*>(out.data() + had);
        stream.avail_out = static_cast<uInt>(piece_bytes);
        state = inflate(&stream, Z_NO_FLUSH);
        out.resize(out.size() - stream.avail_out);
    }
    const bool whole = state == Z_STREAM_END && stream.avail_in == 0 && out.size() <= bytes_max;
    inflateEnd(&stream);
    if (!whole) return unusable();
    return out;
}

}  // namespace

Result<IdxTable> read_idx(ByteSpan file) {
    Bytes held;
    if (is_packed(file)) {
        auto found = unpacked(file, idx_bytes_max + header_bytes_max);
        if (!found) return found.error();
        held = *std::move(found);
        file = held;
    }
    if (file.size() < magic_bytes || file[0] != none || file[1] != none || file[2] != of_bytes) return unusable();
    const auto count = std::to_integer<std::size_t>(file[3]);
    const std::size_t header = magic_bytes + count * size_bytes;
    if (count < 1 || count > idx_sizes_max || file.size() < header) return unusable();
    IdxTable table;
    std::uint64_t product = 1;
    for (std::size_t at = magic_bytes; at < header; at += size_bytes) {
        std::uint32_t size = 0;
        for (std::size_t byte = 0; byte < size_bytes; ++byte)
            size = size << 8U | std::to_integer<std::uint32_t>(file[at + byte]);
        if (size == 0 || size > idx_bytes_max / product) return unusable();
        product *= size;
        table.sizes.push_back(size);
    }
    if (file.size() - header != product) return unusable();
    table.values.assign(file.begin() + static_cast<std::ptrdiff_t>(header), file.end());
    return table;
}

}  // namespace potluck::pictures
