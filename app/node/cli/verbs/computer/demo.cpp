// The demo is a program of its own beside this one, which takes the same words.
#include <CLI/CLI.hpp>

#include "app/node/cli/complain.h"
#include "app/node/cli/handing_over.h"
#include "app/node/cli/options/demo_options.h"
#include "app/node/cli/verbs/computer/verbs.h"
#include "app/node/paths.h"

namespace potluck::node {

namespace {

class DemoVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override { add_demo_options(app, m_options); }

    ExitCode run(const ThisNode& node) override {
        const auto ended = hand_over(program_beside("potluck-demo"), node.arguments);
        if (ended) return *ended;
        return complain({ended.error().code, "The demo is a program of its own, and " + ended.error().message +
                                                 " Install all of Potluck, or build the target potluck-demo."});
    }

    [[nodiscard]] bool is_another_program() const override { return true; }

private:
    DemoOptions m_options;  // are read here to be checked, and to be completed by shells
};

}  // namespace

std::unique_ptr<Verb> demo_verb() {
    return std::make_unique<DemoVerb>("demo", "Train a small model with five volunteers on this computer");
}

}  // namespace potluck::node
