// One line of a file of /proc or /sys. Such files hold a word or a number and cost a call each.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace potluck::activity {

/// The first line without its end; empty if the file cannot be read.
[[nodiscard]] std::string line_in(const std::filesystem::path& file);
/// The number that the first line is; nothing if it is none.
[[nodiscard]] std::optional<double> number_in(const std::filesystem::path& file);
/// What lies in `folder`; empty if it cannot be read.
[[nodiscard]] std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

}  // namespace potluck::activity
