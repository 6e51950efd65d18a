// The manual page of potluck-node, written from the definitions by which the command line is parsed.
// Does not: explain more than --help does, but for files, environment and exit status.
// Threads: a pure function.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace potluck::node {

/// Source for man(7), section 1.
[[nodiscard]] std::string manual_page(const CLI::App& app, const std::string& version);

}  // namespace potluck::node
