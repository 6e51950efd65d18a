#include <CLI/CLI.hpp>

#include "app/node/cli/asking.h"
#include "app/node/cli/verbs/take_part/verbs.h"

namespace potluck::node {

namespace {

class FinishVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        app.add_flag("--leave", m_leaves, "Then leave the run, instead of staying to relay");
        add_json(app, "Answer with the status as JSON");
    }

    ExitCode run(const ThisNode& node) override {
        return act(node, output(),
                   control::Finish{m_leaves ? control::AfterFinish::leave : control::AfterFinish::stay});
    }

private:
    bool m_leaves = false;
};

}  // namespace

std::unique_ptr<Verb> finish_verb() {
    return std::make_unique<FinishVerb>("finish", "Contribute the current window, then stop training");
}

}  // namespace potluck::node
