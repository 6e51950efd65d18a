#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "app/node/cli/help/shell_completion.h"
#include "app/node/cli/verbs/programs/verbs.h"

namespace potluck::node {

namespace {

class CompletionVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        m_program = app.get_parent();
        app.add_option("shell", m_shell, "bash, zsh or fish")
            ->required()
            ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    }

    ExitCode run(const ThisNode&) override {
        std::cout << shell_completion(*m_program, shell_named(m_shell).value_or(Shell::bash));
        return ExitCode::ok;
    }

    [[nodiscard]] bool has_node() const override { return false; }

private:
    const CLI::App* m_program = nullptr;
    std::string m_shell;
};

}  // namespace

std::unique_ptr<Verb> completion_verb() {
    return std::make_unique<CompletionVerb>("completion", "Print what a shell needs to complete this command line");
}

}  // namespace potluck::node
