// What is wrong with a line that does not parse, in one sentence for the person who typed it, with an example where
// something is missing. The parser's own words are for programmers and stay inside.
// Threads: pure functions.
#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace potluck::node {

/// The first word of the line that is no command, option or value.
[[nodiscard]] std::optional<std::string> unknown_word(const CLI::App& app);
/// "There is no command jion; did you mean join?", "--state-bits takes 8 or 32, not 9."
[[nodiscard]] std::string usage_text(const CLI::App& app, const CLI::ParseError& outcome);

}  // namespace potluck::node
