// Text as bytes: ASCII letters whatever the locale, UTF-8 one character at a time, percent signs of links, and text of
// strangers made fit for a message.
// Threads: functions of values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace potluck {

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
[[nodiscard]] constexpr bool is_hex_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
[[nodiscard]] constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
[[nodiscard]] constexpr bool same_letter(char a, char b) { return to_lower(a) == to_lower(b); }
/// Whether two texts are the same but for the case of ASCII letters.
[[nodiscard]] constexpr bool same_letters(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!same_letter(a[i], b[i])) return false;
    return true;
}

/// The UTF-8 character at the front of `text`, removed from it; nothing, and `text` as it was, if it is empty or its
/// first bytes are not well-formed (Unicode, table 3-7: no surrogates, no longer spelling than needed).
[[nodiscard]] std::optional<std::uint32_t> take_code_point(std::string_view& text);
/// Whether `byte` goes on with a UTF-8 character that began before it.
[[nodiscard]] constexpr bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U; }
/// As much of `text` as fits into `bytes_max` bytes without cutting a UTF-8 character in two.
[[nodiscard]] std::string_view utf8_prefix(std::string_view text, std::size_t bytes_max);

/// `text` in a link: everything but the unreserved characters of RFC 3986 becomes %XX.
[[nodiscard]] std::string percent_encoded(std::string_view text);
/// Whether a plus sign means itself or a space, as in the names of magnet links.
enum class Plus { literal, space };
/// Nothing if an escape is cut short or is not hexadecimal.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text, Plus plus);

/// The first `bytes_max` bytes of a stranger's text for a message of ours, which quotes it: a question mark stands for
/// everything but printable ASCII, and for quotation marks. (Names that people choose keep their letters:
/// log::printable.)
[[nodiscard]] std::string printable_ascii(std::string_view text, std::size_t bytes_max);

/// printf into a string of whatever length it takes.
#if defined(__GNUC__)
[[gnu::format(printf, 1, 2)]]
#endif
[[nodiscard]] std::string
formatted(const char* format, ...);

}  // namespace potluck
