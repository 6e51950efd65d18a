#include <iostream>

#include "app/node/cli/asking.h"
#include "app/node/cli/verbs/host/verbs.h"

namespace potluck::node {

namespace {

class InviteVerb final : public Verb {
public:
    using Verb::Verb;

    ExitCode run(const ThisNode& node) override {
        return ask(node, Output::people, control::MakeInvite{},
                   [](const control::InviteLink& invite) { std::cout << clean_lines(invite.magnet) << std::endl; });
    }
};

}  // namespace

std::unique_ptr<Verb> invite_verb() {
    return std::make_unique<InviteVerb>("invite", "Print a link by which others join");
}

}  // namespace potluck::node
