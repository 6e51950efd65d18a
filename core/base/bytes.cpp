#include "core/base/bytes.h"

#include <bit>

#include "core/base/check.h"

namespace potluck {

namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

std::string to_hex(ByteSpan bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const std::byte byte : bytes) {
        const auto value = std::to_integer<unsigned>(byte);
        text.push_back(digits[value >> 4U]);
        text.push_back(digits[value & 15U]);
    }
    return text;
}

bool from_hex(std::string_view text, std::span<std::byte> out) {
    if (text.size() != out.size() * 2) return false;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const int high = hex_digit(text[2 * i]);
        const int low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        out[i] = static_cast<std::byte>(high * 16 + low);
    }
    return true;
}

void ByteWriter::little_endian(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) m_bytes.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xffU));
}

void ByteWriter::f32(float value) { u32(std::bit_cast<std::uint32_t>(value)); }
void ByteWriter::f64(double value) { u64(std::bit_cast<std::uint64_t>(value)); }

void ByteWriter::string(std::string_view text) {
    POTLUCK_CHECK(text.size() <= 0xffff);
    u16(static_cast<std::uint16_t>(text.size()));
    raw(as_bytes(text));
}

std::uint64_t ByteReader::little_endian(std::size_t width) {
    const ByteSpan bytes = raw(width);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    return value;
}

float ByteReader::f32() { return std::bit_cast<float>(u32()); }
double ByteReader::f64() { return std::bit_cast<double>(u64()); }

ByteSpan ByteReader::raw(std::size_t size) {
    if (m_failed || size > m_rest.size()) {
        m_failed = true;
        return {};
    }
    const ByteSpan taken = m_rest.first(size);
    m_rest = m_rest.subspan(size);
    return taken;
}

std::string ByteReader::string(std::size_t limit) {
    const std::size_t size = u16();
    if (size > limit) m_failed = true;
    return std::string(as_text(raw(size)));
}

}  // namespace potluck
