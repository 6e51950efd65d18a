// What strangers may call themselves, their teams and their runs to harm whoever shows it. One list for all who show
// strangers' strings: window, tray, notifications, terminal, public page, model card and log.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace potluck::tests {

struct HostileString {
    const char* name;  // of the test's row
    std::string utf8;  // as bytes of the network: not always UTF-8
};

inline const std::vector<HostileString>& hostile_strings() {
    using namespace std::string_literals;
    static const std::vector<HostileString> all = {
        {"picture from a device", "<img src=/dev/zero>"},
        {"picture from a host", "<img src=//host/s/a>"},
        {"bold", "<b>"},
        {"bold behind words", "Tom <b>Thumb</b>"},
        {"link", "<a href=\"file:///etc/passwd\">team</a>"},
        {"end of a title", "</title><script>alert(1)</script>"},
        {"end of a cell", "</bdi></td><script>"},
        {"document type", "<!doctype html><h1>x</h1>"},
        {"xml", "<?xml version=\"1.0\"?><b>x</b>"},
        {"style", "<style>*{color:red}</style>"},
        {"entity", "&lt;b&gt;"},
        {"entity of an ampersand", "&amp;"},
        {"markdown", "[here](http://example.com) `x` | *y* ![z](//host/a)"},
        {"place of an argument", "%1 %2 %L1 %n %s %n"},
        {"format", "{} {0} {:>99999}"},
        {"line breaks",
         "one\ntwo\r\nthree\xe2\x80\xa8"
         "four\xe2\x80\xa9"
         "five\x0b\x0csix"},
        {"markup behind a line break", "one\n<img src=/dev/zero>"},
        {"red", "\x1b[31mred"},
        {"title of a terminal", "\x1b]0;owned\x07"},
        {"clipboard of a terminal", "\x1b]52;c;cm0gLXJmIC8=\x07"},
        {"clearing a terminal",
         "\x1b[2J\x1b[H\x1b"
         "c"},
        {"eight-bit control sequence",
         "\xc2\x9b"
         "31m\xc2\x9d"
         "0;owned\xc2\x9c"},
        {"bell and backspace", "\x07\x08\x08\x08ok\x7f"},
        {"zero byte", "before\0after"s},
        {"right to left override", "\xe2\x80\xaegnp.exe"},
        {"isolates", "\xe2\x81\xa6\xe2\x81\xa7x\xe2\x81\xa8y\xe2\x81\xa9"},
        {"marks of direction", "\xe2\x80\x8f\xe2\x80\x8e\xd8\x9cz"},
        {"invisible", "\xe2\x80\x8b\xe2\x81\xa0\xef\xbb\xbf"},
        {"tags", "flag\xf3\xa0\x81\xa7\xf3\xa0\x81\xbf"},
        {"half a surrogate pair", "\xed\xa0\x80x\xed\xb0\x80"},
        {"noncharacters", "\xef\xbf\xbe\xef\xbf\xbf\xf4\x8f\xbf\xbf"},
        {"bytes that are no text", "\xff\xfe\x80\xc0\xaf\xf5"},
        {"cut short", "caf\xc3"},
        {"very long", std::string(5'000, 'w')},
        {"very long markup", "<b>" + std::string(5'000, 'm')},
        {"shortcut", "&Quit\t&&File"},
        {"command", "$(reboot) `reboot` ; \"' \\"},
    };
    return all;
}

/// Whether `text` holds something that commands a terminal or rearranges a line, or is not UTF-8. `breaks` may stand in
/// it.
inline bool commands_terminals(std::string_view text, std::string_view breaks = {}) {
    // The sequences of bytes, as a terminal sees them: C0, DEL, C1, and what changes the direction of writing.
    static constexpr std::array<std::string_view, 16> sequences = {
        "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaa", "\xe2\x80\xab",
        "\xe2\x80\xac", "\xe2\x80\xad", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa7", "\xe2\x81\xa8",
        "\xe2\x81\xa9", "\xd8\x9c",     "\xed\xa0",     "\xff"};
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (breaks.find(text[i]) != std::string_view::npos) continue;
        if (byte < 0x20 || byte == 0x7f) return true;
        if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0) return true;
        for (const std::string_view sequence : sequences)
            if (text.substr(i).starts_with(sequence)) return true;
    }
    return false;
}

}  // namespace potluck::tests
