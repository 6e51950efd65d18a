#include "app/node/cli/byte_size.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/text.h"

namespace potluck::node {

namespace {

constexpr double days_per_year = 365;

constexpr double bytes_max = 1125899906842624.0;  // 1 PiB
constexpr double count_max = 1e15;

struct Unit {
    std::string_view name;
    double factor;
};

constexpr Unit byte_units[] = {
    {"KiB", 1024.0},       {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0},
    {"kB", 1e3},           {"KB", 1e3},        {"MB", 1e6},           {"GB", 1e9},
    {"TB", 1e12},          {"K", 1024.0},      {"M", 1048576.0},      {"G", 1073741824.0},
    {"T", 1099511627776.0}};
constexpr Unit count_units[] = {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"B", 1e9}, {"T", 1e12}};

std::optional<double> scaled(const std::string& text, std::span<const Unit> units, double most) {
    const char* end = text.data() + text.size();
    double number = 0;
    const auto [stop, failed] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
    if (failed != std::errc() || !(number >= 0)) return std::nullopt;
    std::string_view unit(stop, static_cast<std::size_t>(end - stop));
    if (unit.starts_with(' ')) unit.remove_prefix(1);
    for (const Unit& known : units) {
        if (known.name == unit && number * known.factor <= most) return number * known.factor;
    }
    return std::nullopt;
}

std::string rounded(double value, const char* unit) {
    char text[48];
    const int digits = value < 10 && value != std::floor(value) ? 2 : value < 100 ? 1 : 0;
    std::snprintf(text, sizeof text, "%.*f%s", digits, value, unit);
    return text;
}

}  // namespace

Result<std::uint64_t> parse_bytes(const std::string& text) {
    if (text == "0") return std::uint64_t{0};
    const auto bytes = scaled(text, byte_units, bytes_max);
    if (bytes) return static_cast<std::uint64_t>(std::llround(*bytes));
    return Error{ErrorCode::invalid_argument, "A size is a number with its unit, for example 4GiB, 4G, 512MiB or 4GB."};
}

std::string bytes_text(std::uint64_t bytes) {
    if (bytes == 0) return "-";
    const auto value = static_cast<double>(bytes);
    if (value >= byte_units[2].factor) return rounded(value / byte_units[2].factor, " GiB");
    if (value >= byte_units[1].factor) return rounded(value / byte_units[1].factor, " MiB");
    return rounded(value / byte_units[0].factor, " KiB");
}

Result<std::uint64_t> parse_count(const std::string& text) {
    const auto count = scaled(text, count_units, count_max);
    if (count && *count >= 1) return static_cast<std::uint64_t>(std::llround(*count));
    return Error{ErrorCode::invalid_argument, "A number of tokens is for example 300M, 10B or 2.5B."};
}

std::string count_text(double count) {
    if (count < 1e3) return rounded(count, "");
    if (count < 1e6) return rounded(count / 1e3, " thousand");
    if (count < 1e9) return rounded(count / 1e6, " million");
    if (count < 1e12) return rounded(count / 1e9, " billion");
    char text[32];
    std::snprintf(text, sizeof text, "%.2e", count);
    return text;
}

std::string duration_text(double days) {
    if (days > 2 * days_per_year) return formatted("%.1f years", days / days_per_year);
    if (days > 2) return formatted("%.1f days", days);
    return days * 24 > 2 ? formatted("%.1f hours", days * 24) : formatted("%.0f minutes", days * 24 * 60);
}

}  // namespace potluck::node
