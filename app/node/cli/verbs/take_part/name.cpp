#include <CLI/CLI.hpp>

#include "app/node/cli/verb.h"
#include "app/node/cli/verbs/take_part/own_text.h"
#include "app/node/cli/verbs/take_part/verbs.h"
#include "core/base/log.h"

namespace potluck::node {

namespace {

constexpr OwnText own_name{"name", &NodeSettings::name, &control::NodeSnapshot::name};

class NameVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        app.add_option("new_name", m_name, "The new name");
        add_json(app);
    }

    ExitCode run(const ThisNode& node) override {
        if (m_name.empty()) return print_text(node, output(), own_name);
        const std::string name_kept = fit_name(m_name);
        const auto change = [this](ControlClient& client) -> Status {
            const auto done = client.call(control::SetName{m_name});
            return done ? Status() : Status(done.error());
        };
        return change_text(node, output(), own_name, name_kept, change,
                           "Others call this computer " + log::printable(name_kept) + ".");
    }

private:
    std::string m_name;  // empty: it is asked for
};

}  // namespace

std::unique_ptr<Verb> name_verb() {
    return std::make_unique<NameVerb>("name", "Print what others call this computer, or change it");
}

}  // namespace potluck::node
