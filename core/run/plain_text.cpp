#include "core/run/plain_text.h"

#include <cstdint>

#include "core/base/text.h"

namespace potluck::run {

namespace {

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

void PlainText::write(ByteWriter& out, const std::string& text) const {
    out.string(plain_text_of(text, bytes_max, LineBreaks::refused));
}

void PlainText::read(ByteReader& in, std::string& text) const {
    text = in.string(bytes_max);
    if (text.size() < bytes_min || !plain_text_length(text, LineBreaks::refused)) in.fail();
}

}  // namespace potluck::run
