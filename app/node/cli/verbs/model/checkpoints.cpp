#include <iostream>

#include "app/node/cli/asking.h"
#include "app/node/cli/verbs/model/verbs.h"

namespace potluck::node {

namespace {

void print_checkpoints(const control::Checkpoints& checkpoints) {
    for (const control::CheckpointRow& row : checkpoints.rows) {
        std::cout << "round " << row.round << "  " << row.bytes << " bytes  " << clean_lines(row.file) << "\n";
        if (!row.magnet.empty()) std::cout << "  " << clean_lines(row.magnet) << "\n";
    }
}

class CheckpointsVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override { add_json(app); }
    ExitCode run(const ThisNode& node) override {
        return ask(node, output(), control::ReadCheckpoints{}, print_checkpoints);
    }
};

}  // namespace

std::unique_ptr<Verb> checkpoints_verb() {
    return std::make_unique<CheckpointsVerb>("checkpoints", "Checkpoints with their magnet links");
}

}  // namespace potluck::node
