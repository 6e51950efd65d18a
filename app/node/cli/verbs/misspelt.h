// What could have been meant by a line with a word that is no command, option or value.
// Threads: pure functions.
#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace potluck::node {

/// The first such word of the line that `app` has parsed.
[[nodiscard]] std::optional<std::string> unknown_word(const CLI::App& app);
/// "There is no command jion; did you mean join?"
[[nodiscard]] std::string not_understood(const CLI::App& app, const std::string& word);

}  // namespace potluck::node
