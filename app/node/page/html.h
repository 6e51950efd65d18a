// Text as HTML that shows it and nothing else, whatever it holds.
// Threads: functions of values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace potluck::node {

/// Fit for an element's content and for an attribute in double quotes. Bytes that are no UTF-8, control characters but
/// line feeds, and marks that change the direction of writing become question marks.
[[nodiscard]] std::string escaped(std::string_view text);

/// A name that a member chose: escaped, at most 80 bytes, isolated from the direction of what stands around it; a dash
/// if it is empty.
[[nodiscard]] std::string name_html(std::string_view name);

/// 1234567 as "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t number);
/// 1800192 as "1.8 MB".
[[nodiscard]] std::string byte_count_text(std::uint64_t bytes);
/// "2026-11-23 04:10 UTC"
[[nodiscard]] std::string time_text(std::int64_t unix_seconds);
/// "2026-11-23T04:10:00Z"
[[nodiscard]] std::string time_stamp(std::int64_t unix_seconds);

}  // namespace potluck::node
