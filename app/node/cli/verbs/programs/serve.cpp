#include <CLI/CLI.hpp>

#include "app/node/cli/complain.h"
#include "app/node/cli/serving.h"
#include "app/node/cli/verbs/programs/verbs.h"

namespace potluck::node {

namespace {

class ServeVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        app.add_flag("--standalone", m_standalone,
                     "Listen on the local socket only and go on when standard input is closed, as a service does");
    }

    ExitCode run(const ThisNode& node) override {
        if (const Status ready = prepare_to_serve(node); !ready) return complain(ready.error());
        return serve(node, {.parent = m_standalone ? Serving::Parent::none : Serving::Parent::speaks});
    }

private:
    bool m_standalone = false;
};

}  // namespace

std::unique_ptr<Verb> serve_verb() {
    return std::make_unique<ServeVerb>("serve", "Run a node that is spoken to over standard input and output");
}

}  // namespace potluck::node
