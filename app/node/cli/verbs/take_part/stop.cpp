// The node's last status is what it was when it was told to end.
#include <iostream>

#include "app/node/cli/asking.h"
#include "app/node/cli/verbs/take_part/verbs.h"

namespace potluck::node {

namespace {

class StopVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override { add_json(app, "Answer with its last status as JSON"); }

    ExitCode run(const ThisNode& node) override {
        auto client = ControlClient::connect(node.options.data_folder);
        if (!client) return nobody_runs(node, output(), client.error());
        const auto last = client->call(control::ReadStatus{});
        if (const auto done = client->call(control::StopNode{}); !done) return complain(done.error());
        if (output() == Output::json) return show(output(), last, print_state);
        std::cout << "The node ends." << std::endl;
        return ExitCode::ok;
    }
};

}  // namespace

std::unique_ptr<Verb> stop_verb() { return std::make_unique<StopVerb>("stop", "End the running node"); }

}  // namespace potluck::node
