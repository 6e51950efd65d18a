// The whole command line: every verb, in the groups and the order of --help, and the options about the node.
//
// Help, --version and usage errors are printed here, so that a caller only has to pass on the exit code.
// Threads: one. Owns: the verbs, and the parser that writes into them.
#pragma once

#include <memory>

#include "app/node/cli/verb.h"

namespace CLI {
class ParseError;
}

namespace potluck::node {

class CommandLine {
public:
    CommandLine();
    ~CommandLine();
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    /// The verb that is to run. Nothing if the line ends here: what was asked for went to standard output, or what is
    /// wrong to standard error.
    [[nodiscard]] Verb* parse(int argc, const char* const* argv);
    /// The exit code of a line that ends here.
    [[nodiscard]] ExitCode exit() const { return m_exit; }
    [[nodiscard]] const ThisNode& node() const { return m_node.node(); }

private:
    void add(CLI::App& above, Verb& verb, const char* group);
    [[nodiscard]] ExitCode unparsed(const CLI::ParseError& outcome) const;
    void print_all_help() const;

    NodeLine m_node;
    Verbs m_verbs;
    std::unique_ptr<CLI::App> m_app;
    Verb* m_chosen = nullptr;
    bool m_shows_all = false;
    ExitCode m_exit = ExitCode::ok;
};

}  // namespace potluck::node
