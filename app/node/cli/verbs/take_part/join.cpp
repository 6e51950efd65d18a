// `join` and `backbone`: the same way into a run, to train in it or only to lead and relay. A wrong invite is refused
// before anything is written.
#include <iostream>

#include <CLI/CLI.hpp>

#include "app/node/cli/complain.h"
#include "app/node/cli/serving.h"
#include "app/node/cli/verbs/take_part/verbs.h"

namespace potluck::node {

namespace {

class JoinVerb final : public Verb {
public:
    JoinVerb(std::string verb_name, std::string verb_help, run::Role role)
        : Verb(std::move(verb_name), std::move(verb_help)), m_role(role) {}

    void add(CLI::App& app) override {
        app.add_option("invite", m_link, "A magnet: or potluck: link")->required();
        app.add_flag("--switch", m_switches, "Leave the run that the node is in, if it is another");
    }

    ExitCode run(const ThisNode& node) override {
        const auto invite = run::Invite::parse(m_link);
        if (!invite) {
            std::cerr << "potluck-node: " << invite.error().message << std::endl;
            return ExitCode::usage;
        }
        if (const Status ready = prepare_to_serve(node); !ready) return complain(ready.error());
        const control::OtherRun other = m_switches ? control::OtherRun::leave : control::OtherRun::keep;
        return serve(node, {.joining = Joining{m_link, *invite, m_role, other}});
    }

private:
    run::Role m_role;
    std::string m_link;
    bool m_switches = false;
};

}  // namespace

std::unique_ptr<Verb> join_verb() {
    return std::make_unique<JoinVerb>("join", "Join a run and train", run::Role::volunteer);
}

std::unique_ptr<Verb> backbone_verb() {
    return std::make_unique<JoinVerb>("backbone", "Join a run to lead and relay, without training",
                                      run::Role::backbone);
}

}  // namespace potluck::node
