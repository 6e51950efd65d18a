#include <CLI/CLI.hpp>

#include "app/node/cli/asking.h"
#include "app/node/cli/verbs/host/committee.h"
#include "app/node/cli/verbs/host/verbs.h"

namespace potluck::node {

namespace {

class ModerateVerb final : public Verb {
public:
    ModerateVerb(std::string verb_name, std::string verb_help, control::ModerationKind kind)
        : Verb(std::move(verb_name), std::move(verb_help)) {
        m_call.kind = kind;
    }

    void add(CLI::App& app) override {
        if (m_call.kind == control::ModerationKind::rollback) {
            app.add_option("round", m_call.round, "The checkpoint's round")->required();
        } else {
            app.add_option("key", m_call.key, "Its id, or the first 8 digits or more")->required();
        }
    }

    ExitCode run(const ThisNode& node) override { return ask(node, Output::people, m_call, print_signed); }

private:
    control::Moderate m_call;
};

}  // namespace

std::unique_ptr<Verb> moderate_verb() {
    using control::ModerationKind;
    const auto part = [](const char* name, const char* help, ModerationKind kind) {
        return std::make_unique<ModerateVerb>(name, help, kind);
    };
    return family(
        "moderate", "What a run's host may change while the run goes on",
        part("ban", "Shut a key out: it contributes nothing and has no seat", ModerationKind::ban),
        part("readmit", "Take a ban back", ModerationKind::readmit),
        part("allow", "Vouch for a key: it may join and sit in the committee", ModerationKind::allow),
        part("rollback", "Take the model back to a checkpoint that this computer holds", ModerationKind::rollback));
}

}  // namespace potluck::node
