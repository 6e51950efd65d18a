#include "core/run/plain_text.h"

#include <cstdint>

namespace potluck::run {

namespace {

/// Bytes of the code point that begins with `lead`; zero if none does.
std::size_t length_of(unsigned char lead) {
    if (lead < 0x80) return 1;
    if (lead < 0xc2) return 0;  // a continuation, or a longer spelling of ASCII
    if (lead < 0xe0) return 2;
    if (lead < 0xf0) return 3;
    return lead < 0xf5 ? 4 : 0;
}

/// Decodes one code point from the front of `text` and removes it; nothing if the bytes are not UTF-8.
std::optional<std::uint32_t> take_code_point(std::string_view& text) {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t length = length_of(lead);
    if (length == 0 || text.size() < length) return std::nullopt;
    std::uint32_t point = length == 1 ? lead : lead & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xc0U) != 0x80) return std::nullopt;
        point = (point << 6U) | (next & 0x3fU);
    }
    if ((length == 3 && point < 0x800) || (length == 4 && (point < 0x10000 || point > 0x10ffff))) return std::nullopt;
    if (point >= 0xd800 && point <= 0xdfff) return std::nullopt;
    text.remove_prefix(length);
    return point;
}

bool is_plain(std::uint32_t point, LineBreaks breaks) {
    if (point == '\n' || point == '\t') return breaks == LineBreaks::allowed;
    if (point < 0x20 || (point >= 0x7f && point < 0xa0)) return false;  // controls
    if (point == 0x2028 || point == 0x2029) return false;               // line and paragraph separators
    if (point >= 0x202a && point <= 0x202e) return false;               // embeddings and overrides of direction
    return point < 0x2066 || point > 0x2069;                            // isolates
}

}  // namespace

std::optional<std::size_t> plain_text_length(std::string_view text, LineBreaks breaks) {
    std::size_t count = 0;
    while (!text.empty()) {
        const std::optional<std::uint32_t> point = take_code_point(text);
        if (!point || !is_plain(*point, breaks)) return std::nullopt;
        ++count;
    }
    return count;
}

std::string plain_text_of(std::string_view text, std::size_t bytes_max, LineBreaks breaks) {
    std::string plain;
    while (!text.empty()) {
        std::string_view rest = text;
        const std::optional<std::uint32_t> point = take_code_point(rest);
        const std::size_t length = point ? text.size() - rest.size() : 1;  // of what is no UTF-8, one byte goes
        if (point && is_plain(*point, breaks)) {
            if (plain.size() + length > bytes_max) break;
            plain += text.substr(0, length);
        }
        text.remove_prefix(length);
    }
    return plain;
}

}  // namespace potluck::run
