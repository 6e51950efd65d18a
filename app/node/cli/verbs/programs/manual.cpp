#include <iostream>

#include <CLI/CLI.hpp>

#include "app/node/cli/help/manual_page.h"
#include "app/node/cli/verbs/programs/verbs.h"

namespace potluck::node {

namespace {

class ManualVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override { m_program = app.get_parent(); }

    ExitCode run(const ThisNode&) override {
        std::cout << manual_page(*m_program, POTLUCK_VERSION);
        return ExitCode::ok;
    }

    [[nodiscard]] bool has_node() const override { return false; }

private:
    const CLI::App* m_program = nullptr;
};

}  // namespace

std::unique_ptr<Verb> manual_verb() {
    return std::make_unique<ManualVerb>("manual", "Print this program's manual page, for man");
}

}  // namespace potluck::node
