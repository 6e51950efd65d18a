#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>

#include "core/base/bytes.h"

namespace potluck {

namespace {

/// Bytes of the character that begins with `lead`; zero if none does.
std::size_t length_of(unsigned char lead) {
    if (lead < 0x80) return 1;
    if (lead < 0xc2) return 0;  // a continuation, or a longer spelling of ASCII
    if (lead < 0xe0) return 2;
    if (lead < 0xf0) return 3;
    return lead < 0xf5 ? 4 : 0;
}

}  // namespace

std::optional<std::uint32_t> take_code_point(std::string_view& text) {
    if (text.empty()) return std::nullopt;
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t length = length_of(lead);
    if (length == 0 || text.size() < length) return std::nullopt;
    std::uint32_t point = length == 1 ? lead : lead & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if (!is_continuation(text[i])) return std::nullopt;
        point = (point << 6U) | (static_cast<unsigned char>(text[i]) & 0x3fU);
    }
    if ((length == 3 && point < 0x800) || (length == 4 && (point < 0x10000 || point > 0x10ffff))) return std::nullopt;
    if (point >= 0xd800 && point <= 0xdfff) return std::nullopt;
    text.remove_prefix(length);
    return point;
}

std::string_view utf8_prefix(std::string_view text, std::size_t bytes_max) {
    std::size_t length = std::min(text.size(), bytes_max);
    while (length > 0 && length < text.size() && is_continuation(text[length])) --length;
    return text.substr(0, length);
}

std::string percent_encoded(std::string_view text) {
    std::string encoded;
    for (const char c : text) {
        const bool unreserved = is_digit(c) || is_letter(c) || c == '-' || c == '.' || c == '_' || c == '~';
        if (unreserved) {
            encoded.push_back(c);
        } else {
            encoded.push_back('%');
            encoded += to_hex(as_bytes({&c, 1}));
        }
    }
    return encoded;
}

std::optional<std::string> percent_decoded(std::string_view text, Plus plus) {
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+' && plus == Plus::space) {
            decoded.push_back(' ');
        } else if (text[i] != '%') {
            decoded.push_back(text[i]);
        } else {
            std::array<std::byte, 1> byte{};
            if (!from_hex(text.substr(i + 1, 2), byte)) return std::nullopt;
            decoded.push_back(static_cast<char>(byte[0]));
            i += 2;
        }
    }
    return decoded;
}

std::string printable_ascii(std::string_view text, std::size_t bytes_max) {
    std::string shown;
    for (const char c : text.substr(0, bytes_max)) shown.push_back(c >= 0x20 && c < 0x7f && c != '"' ? c : '?');
    return shown;
}

std::string formatted(const char* format, ...) {
    std::va_list values;
    va_start(values, format);
    std::va_list again;
    va_copy(again, values);
    const int length = std::vsnprintf(nullptr, 0, format, values);
    va_end(values);
    std::string text(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
    if (length > 0) (void)std::vsnprintf(text.data(), text.size() + 1, format, again);
    va_end(again);
    return text;
}

}  // namespace potluck
