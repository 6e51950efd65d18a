// Unicode's normalization form C: what can be written as one character or as several is written as one, so that equal
// words make equal tokens.
// Does not: change bytes that are no UTF-8.
// Threads: any.
#pragma once

#include <string>
#include <string_view>

namespace potluck::data {

[[nodiscard]] std::string composed(std::string_view text);

}  // namespace potluck::data
