#include "app/node/cli/asking.h"
#include "app/node/cli/verbs/take_part/verbs.h"

namespace potluck::node {

namespace {

class LeaveVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override { add_json(app, "Answer with the status as JSON"); }
    ExitCode run(const ThisNode& node) override { return act(node, output(), control::Leave{}); }
};

}  // namespace

std::unique_ptr<Verb> leave_verb() {
    return std::make_unique<LeaveVerb>("leave", "Leave the run, or give up looking for it");
}

}  // namespace potluck::node
