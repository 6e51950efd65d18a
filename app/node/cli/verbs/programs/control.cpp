#include "app/node/cli/complain.h"
#include "app/node/cli/control_client.h"
#include "app/node/cli/verbs/programs/verbs.h"

namespace potluck::node {

namespace {

class ControlVerb final : public Verb {
public:
    using Verb::Verb;

    ExitCode run(const ThisNode& node) override {
        auto client = ControlClient::connect(node.options.data_folder);
        if (!client) {
            const bool none = client.error().code == ErrorCode::not_found;
            return complain(client.error(), none ? ExitCode::not_running : exit_code_of(client.error().code));
        }
        const Status bridged = client->bridge();
        return bridged ? ExitCode::ok : complain(bridged.error());
    }
};

}  // namespace

std::unique_ptr<Verb> control_verb() {
    return std::make_unique<ControlVerb>("control", "Speak to the running node over standard input and output");
}

}  // namespace potluck::node
