#include "app/node/page/html.h"

#include <chrono>
#include <cstdio>

#include "core/base/log.h"
#include "core/base/text.h"

namespace potluck::node {

namespace {

constexpr std::size_t name_shown_max = 80;

void append_escaped(std::string& html, std::string_view line) {
    for (const char letter : log::printable(line, line.size())) {
        switch (letter) {
            case '&': html += "&amp;"; break;
            case '<': html += "&lt;"; break;
            case '>': html += "&gt;"; break;
            case '"': html += "&quot;"; break;
            case '\'': html += "&#39;"; break;
            default: html.push_back(letter);
        }
    }
}

struct Moment {
    std::chrono::year_month_day day;
    std::chrono::hh_mm_ss<std::chrono::seconds> clock;
};

Moment moment_of(std::int64_t unix_seconds) {
    const std::chrono::sys_seconds at{std::chrono::seconds{unix_seconds}};
    const auto day = std::chrono::floor<std::chrono::days>(at);
    return {std::chrono::year_month_day{day}, std::chrono::hh_mm_ss{at - day}};
}

std::string moment_text(std::int64_t unix_seconds, const char* format) {
    const Moment moment = moment_of(unix_seconds);
    char text[64];
    std::snprintf(text, sizeof text, format, static_cast<int>(moment.day.year()),
                  static_cast<unsigned>(moment.day.month()), static_cast<unsigned>(moment.day.day()),
                  static_cast<int>(moment.clock.hours().count()), static_cast<int>(moment.clock.minutes().count()),
                  static_cast<int>(moment.clock.seconds().count()));
    return text;
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string html;
    for (bool first = true; first || !text.empty(); first = false) {
        const std::size_t end = text.find('\n');
        append_escaped(html, text.substr(0, end));
        if (end == std::string_view::npos) break;
        html.push_back('\n');
        text.remove_prefix(end + 1);
    }
    return html;
}

std::string name_html(std::string_view name) {
    if (name.empty()) return "&ndash;";
    return "<bdi>" + escaped(utf8_prefix(name, name_shown_max)) + "</bdi>";
}

std::string grouped(std::uint64_t number) {
    const std::string digits = std::to_string(number);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) text.push_back(',');
        text.push_back(digits[i]);
    }
    return text;
}

std::string byte_count_text(std::uint64_t bytes) {
    if (bytes < 1000) return std::to_string(bytes) + " bytes";
    auto value = static_cast<double>(bytes);
    const char* unit = "";
    for (const char* next : {"kB", "MB", "GB", "TB"}) {
        if (value < 1000) break;
        value /= 1000;
        unit = next;
    }
    return formatted("%.3g %s", value, unit);
}

std::string time_text(std::int64_t unix_seconds) { return moment_text(unix_seconds, "%04d-%02u-%02u %02d:%02d UTC"); }

std::string time_stamp(std::int64_t unix_seconds) {
    return moment_text(unix_seconds, "%04d-%02u-%02uT%02d:%02d:%02dZ");
}

}  // namespace potluck::node
