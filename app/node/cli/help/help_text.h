// What --help says: options in groups, each with its range, default and variable of the environment. CLI11's own text
// tells types and exclusions in a notation that is for programmers. Does not: wrap lines; a terminal does. Threads:
// pure functions.
#pragma once

#include <memory>
#include <string>

namespace CLI {
class FormatterBase;
class Option;
}  // namespace CLI

namespace potluck::node {

/// "Sequences per inner step (from 1 to 64; default: 8)". A description that says itself what holds without the option
/// is left as it is.
[[nodiscard]] std::string full_description(const CLI::Option& option);
/// "from 1 to 64"; empty if it has no range.
[[nodiscard]] std::string range_text(const CLI::Option& option);
[[nodiscard]] std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace potluck::node
