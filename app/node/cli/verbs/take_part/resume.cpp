#include "app/node/cli/asking.h"
#include "app/node/cli/verbs/take_part/verbs.h"

namespace potluck::node {

namespace {

class ResumeVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override { add_json(app, "Answer with the status as JSON"); }
    ExitCode run(const ThisNode& node) override { return act(node, output(), control::Resume{}); }
};

}  // namespace

std::unique_ptr<Verb> resume_verb() {
    return std::make_unique<ResumeVerb>("resume", "Train again: after a pause, after finishing, after a failure");
}

}  // namespace potluck::node
