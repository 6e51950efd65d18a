// A command line as main() reads it, for tests of what verbs make of their options.
#pragma once

#include <cstddef>

#include "app/node/cli/verbs/command_line.h"

namespace potluck::test {

struct ParsedLine {
    ParsedLine(int argc, const char* const* argv) : verb(line.parse(argc, argv)) {}
    template <std::size_t Words>
    explicit ParsedLine(const char* const (&words)[Words]) : ParsedLine(static_cast<int>(Words), words) {}

    /// The verb, which is one of this kind.
    template <class Kind>
    [[nodiscard]] const Kind& as() const {
        const auto* found = dynamic_cast<const Kind*>(verb);
        POTLUCK_CHECK(found != nullptr);
        return *found;
    }
    [[nodiscard]] const node::NodeOptions& node() const { return line.node().options; }

    node::CommandLine line;
    node::Verb* verb;  // nothing: the line ends here
};

}  // namespace potluck::test
