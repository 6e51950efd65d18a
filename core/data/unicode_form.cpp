#include "core/data/unicode_form.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>

#include "core/base/check.h"

namespace potluck::data {

namespace {

const utf8proc_uint8_t* code_units(std::string_view text) {
    return reinterpret_cast<const utf8proc_uint8_t*>(text.data());
}

/// Bytes from the beginning of `text` that are UTF-8.
std::size_t valid_prefix(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        utf8proc_int32_t character = 0;
        const std::string_view rest = text.substr(at);
        const auto length = utf8proc_iterate(code_units(rest), static_cast<utf8proc_ssize_t>(rest.size()), &character);
        if (length <= 0) break;
        at += static_cast<std::size_t>(length);
    }
    return at;
}

void append_composed(std::string_view valid, std::string& out) {
    utf8proc_uint8_t* mapped = nullptr;
    const auto length = utf8proc_map(code_units(valid), static_cast<utf8proc_ssize_t>(valid.size()), &mapped,
                                     static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    POTLUCK_CHECK(length >= 0);  // what is UTF-8 fails for want of memory only
    out.append(reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(length));
    std::free(mapped);
}

}  // namespace

std::string composed(std::string_view text) {
    const auto is_ascii = [](char byte) { return static_cast<unsigned char>(byte) < 0x80; };
    if (std::ranges::all_of(text, is_ascii)) return std::string(text);
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t valid = valid_prefix(text);
        if (valid > 0) append_composed(text.substr(0, valid), out);
        if (valid < text.size()) out.push_back(text[valid]);
        text.remove_prefix(std::min(valid + 1, text.size()));
    }
    return out;
}

}  // namespace potluck::data
