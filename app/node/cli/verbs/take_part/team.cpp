#include <optional>

#include <CLI/CLI.hpp>

#include "app/node/cli/verb.h"
#include "app/node/cli/verbs/take_part/own_text.h"
#include "app/node/cli/verbs/take_part/verbs.h"
#include "core/base/log.h"

namespace potluck::node {

namespace {

constexpr OwnText own_team{"team", &NodeSettings::team, &control::NodeSnapshot::team};

class TeamVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        CLI::Option* none = app.add_flag("--none", m_none, "Be in none");
        app.add_option("new_team", m_team, "Its name, which anybody may use")->excludes(none);
        add_json(app);
    }

    ExitCode run(const ThisNode& node) override {
        if (!m_team && !m_none) return print_text(node, output(), own_team);
        const std::string team = m_none ? "" : fit_team(*m_team);
        const auto change = [&team](ControlClient& client) -> Status {
            const auto done = client.call(control::SetTeam{team});
            return done ? Status() : Status(done.error());
        };
        return change_text(node, output(), own_team, team, change,
                           team.empty() ? "You are in no team."
                                        : "You are counted with the team " + log::printable(team) +
                                              ". Anybody may name it; whoever spells it alike is in it.");
    }

private:
    std::optional<std::string> m_team;  // nothing: it is asked for
    bool m_none = false;
};

}  // namespace

std::unique_ptr<Verb> team_verb() {
    return std::make_unique<TeamVerb>("team", "Print the team you are counted with, or change it");
}

}  // namespace potluck::node
