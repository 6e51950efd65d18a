// Sizes, counts and durations as people write and read them.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace potluck::node {

/// "4GiB", "512MiB", "4GB", "1.5GiB", with or without a space, and "0"; strict: nothing else, at most 1 PiB.
[[nodiscard]] Result<std::uint64_t> parse_bytes(const std::string& text);

/// "3.5 GiB", "120 MiB", "12 KiB"; "-" for none.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

/// "10B", "300M", "2.5T", "50k" or plain digits, of tokens.
[[nodiscard]] Result<std::uint64_t> parse_count(const std::string& text);
/// "124 million", "2.50 thousand", "8.57e+18".
[[nodiscard]] std::string count_text(double count);

/// "35 minutes", "2.3 days".
[[nodiscard]] std::string duration_text(double days);

}  // namespace potluck::node
