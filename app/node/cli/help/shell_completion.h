// What a shell needs to complete the command line, written from the same definitions by which it is parsed, so that a
// new verb or option is completed without being named a second time.
// Does not: know a verb by name; ask a running node, because a completion must answer at once.
// Threads: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace potluck::node {

enum class Shell { bash, zsh, fish };

[[nodiscard]] std::optional<Shell> shell_named(std::string_view name);

/// A script for the shell's folder of completions.
[[nodiscard]] std::string shell_completion(const CLI::App& app, Shell shell);

}  // namespace potluck::node
