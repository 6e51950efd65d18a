// Bytes and their spellings: hexadecimal, and a strict little-endian reader and writer for the canonical layouts
// that are signed and hashed (docs/wire-format.md). The reader never reads past its span and never allocates more
// than it has bytes for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace potluck {

using Bytes = std::vector<std::byte>;
using ByteSpan = std::span<const std::byte>;

[[nodiscard]] inline ByteSpan as_bytes(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}
[[nodiscard]] inline std::string_view as_text(ByteSpan bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Lower-case hexadecimal, two digits per byte.
[[nodiscard]] std::string to_hex(ByteSpan bytes);
/// Fills `out` from exactly `2 * out.size()` hexadecimal digits of either case; false on anything else.
[[nodiscard]] bool from_hex(std::string_view text, std::span<std::byte> out);

/// Appends fixed-width little-endian fields to a buffer.
class ByteWriter {
public:
    void u8(std::uint8_t value) { m_bytes.push_back(static_cast<std::byte>(value)); }
    void u16(std::uint16_t value) { little_endian(value, 2); }
    void u32(std::uint32_t value) { little_endian(value, 4); }
    void u64(std::uint64_t value) { little_endian(value, 8); }
    void f32(float value);
    void f64(double value);
    void raw(ByteSpan bytes) { m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end()); }
    /// u16 length, then the bytes. `text` is at most 65,535 bytes.
    void string(std::string_view text);

    [[nodiscard]] const Bytes& bytes() const { return m_bytes; }
    [[nodiscard]] Bytes take() { return std::move(m_bytes); }

private:
    void little_endian(std::uint64_t value, int width);
    Bytes m_bytes;
};

/// Reads what ByteWriter wrote. After the first field that does not fit, `failed()` stays true and every read returns
/// zero, so a parser reads all its fields and asks once.
class ByteReader {
public:
    explicit ByteReader(ByteSpan bytes) : m_rest(bytes) {}

    [[nodiscard]] std::uint8_t u8() { return static_cast<std::uint8_t>(little_endian(1)); }
    [[nodiscard]] std::uint16_t u16() { return static_cast<std::uint16_t>(little_endian(2)); }
    [[nodiscard]] std::uint32_t u32() { return static_cast<std::uint32_t>(little_endian(4)); }
    [[nodiscard]] std::uint64_t u64() { return little_endian(8); }
    [[nodiscard]] float f32();
    [[nodiscard]] double f64();
    /// The next `size` bytes, pointing into the input; empty on failure.
    [[nodiscard]] ByteSpan raw(std::size_t size);
    /// A string of at most `limit` bytes.
    [[nodiscard]] std::string string(std::size_t limit);
    template <std::size_t N>
    void array(std::array<std::byte, N>& out) {
        const ByteSpan bytes = raw(N);
        if (bytes.size() == N) std::copy(bytes.begin(), bytes.end(), out.begin());
    }

    void fail() { m_failed = true; }
    [[nodiscard]] bool failed() const { return m_failed; }
    [[nodiscard]] std::size_t remaining() const { return m_rest.size(); }
    /// True if every field fitted and nothing is left over.
    [[nodiscard]] bool finished() const { return !m_failed && m_rest.empty(); }

private:
    std::uint64_t little_endian(std::size_t width);
    ByteSpan m_rest;
    bool m_failed = false;
};

}  // namespace potluck
