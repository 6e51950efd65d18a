#include "core/pictures/idx.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <zlib.h>

namespace potluck::pictures {

namespace {

constexpr std::size_t magic_bytes = 4, size_bytes = 4;
constexpr std::size_t header_bytes_max = magic_bytes + idx_sizes_max * size_bytes;
constexpr std::byte none{0}, of_bytes{8};
constexpr std::byte gzip_magic[] = {std::byte{0x1f}, std::byte{0x8b}};
constexpr std::size_t piece_bytes = 1 << 20;
/// Pictures and labels pack to a fifth; a thousandth, which gzip can reach, is made to fill the reader's memory. What
/// is small may be all one colour.
constexpr std::uint64_t packed_ratio_max = 64, small_bytes = 16ULL << 20U;
constexpr int gzip_window_bits = 15 + 16;  // zlib's words for a gzip header and nothing else

Error unusable() {
    return {ErrorCode::malformed,
            "This is no table of bytes in IDX, as MNIST comes in, or it is damaged; fetch the file again."};
}

bool is_packed(ByteSpan file) {
    return file.size() > std::size(gzip_magic) &&
           std::equal(std::begin(gzip_magic), std::end(gzip_magic), file.begin());
}

/// A gzip file, read piece by piece.
class Unpacking {
public:
    explicit Unpacking(ByteSpan file) {
        m_ok = inflateInit2(&m_stream, gzip_window_bits) == Z_OK;
        m_stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(file.data()));  // zlib writes nothing there
        m_stream.avail_in = static_cast<uInt>(file.size());
    }
    ~Unpacking() { inflateEnd(&m_stream); }
    Unpacking(const Unpacking&) = delete;
    Unpacking& operator=(const Unpacking&) = delete;

    /// The next `count` bytes, behind what `to` holds; fewer where the file ends or is damaged.
    void append(Bytes& to, std::uint64_t count) {
        while (m_ok && !m_ended && count > 0) {
            const std::size_t had = to.size(), step = std::min<std::uint64_t>(count, piece_bytes);
            to.resize(had + step);
            m_stream.next_out = reinterpret_cast<Bytef*>(to.data() + had);
            m_stream.avail_out = static_cast<uInt>(step);
            const int state = inflate(&m_stream, Z_NO_FLUSH);
            m_ended = state == Z_STREAM_END;
            m_ok = m_ended || state == Z_OK;
            to.resize(to.size() - m_stream.avail_out);
            count -= step - m_stream.avail_out;
        }
    }
    /// Whether the packed content ends here, and the file with it.
    [[nodiscard]] bool is_whole() {
        Bytes more;
        append(more, 1);
        return more.empty() && m_ended && m_stream.avail_in == 0;
    }

private:
    z_stream m_stream{};
    bool m_ok = false, m_ended = false;
};

struct Header {
    std::vector<std::uint32_t> sizes;
    std::size_t bytes = 0;      // its own
    std::uint64_t product = 1;  // bytes that follow it
};

/// `begin`: at least as much of the file as a header takes, or all of it.
std::optional<Header> header_of(ByteSpan begin) {
    if (begin.size() < magic_bytes || begin[0] != none || begin[1] != none || begin[2] != of_bytes) return std::nullopt;
    const auto count = std::to_integer<std::size_t>(begin[3]);
    Header header;
    header.bytes = magic_bytes + count * size_bytes;
    if (count < 1 || count > idx_sizes_max || begin.size() < header.bytes) return std::nullopt;
    for (std::size_t at = magic_bytes; at < header.bytes; at += size_bytes) {
        std::uint32_t size = 0;
        for (std::size_t byte = 0; byte < size_bytes; ++byte)
            size = size << 8U | std::to_integer<std::uint32_t>(begin[at + byte]);
        if (size == 0 || size > idx_bytes_max / header.product) return std::nullopt;
        header.product *= size;
        header.sizes.push_back(size);
    }
    return header;
}

/// The header says how much there is before more than it is unpacked.
Result<IdxTable> read_packed(ByteSpan file) {
    if (file.size() > idx_bytes_max) return unusable();
    Unpacking unpacking(file);
    Bytes bytes;
    unpacking.append(bytes, header_bytes_max);
    std::optional<Header> header = header_of(bytes);
    if (!header || header->product > std::max(small_bytes, packed_ratio_max * file.size())) return unusable();
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header->bytes));
    if (bytes.size() > header->product) return unusable();
    unpacking.append(bytes, header->product - bytes.size());
    if (bytes.size() != header->product || !unpacking.is_whole()) return unusable();
    return IdxTable{std::move(header->sizes), std::move(bytes)};
}

}  // namespace

Result<IdxTable> read_idx(ByteSpan file) {
    if (is_packed(file)) return read_packed(file);
    std::optional<Header> header = header_of(file);
    if (!header || file.size() - header->bytes != header->product) return unusable();
    return IdxTable{std::move(header->sizes),
                    Bytes(file.begin() + static_cast<std::ptrdiff_t>(header->bytes), file.end())};
}

}  // namespace potluck::pictures
