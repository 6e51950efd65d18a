#include <ctime>
#include <iomanip>
#include <optional>
#include <sstream>
#include <string>

#include <CLI/CLI.hpp>

#include "app/node/cli/asking.h"
#include "app/node/cli/verbs/host/committee.h"
#include "app/node/cli/verbs/host/verbs.h"

namespace potluck::node {

namespace {

/// Local time; nothing if it is none, or lies before 1970.
std::optional<std::uint64_t> seconds_of(const std::string& text) {
    for (const char* form : {"%Y-%m-%dT%H:%M", "%Y-%m-%d"}) {
        std::tm time{};
        time.tm_isdst = -1;
        std::istringstream in(text);
        in >> std::get_time(&time, form);
        const std::time_t seconds = in.fail() || in.peek() != EOF ? -1 : std::mktime(&time);
        if (seconds > 0) return static_cast<std::uint64_t>(seconds);
    }
    return std::nullopt;
}

class ModerateVerb final : public Verb {
public:
    ModerateVerb(std::string verb_name, std::string verb_help, control::ModerationKind kind)
        : Verb(std::move(verb_name), std::move(verb_help)) {
        m_call.kind = kind;
    }

    void add(CLI::App& app) override {
        if (m_call.kind == control::ModerationKind::rollback) {
            app.add_option("round", m_call.round, "The checkpoint's round")->required();
        } else if (m_call.kind != control::ModerationKind::close && m_call.kind != control::ModerationKind::open) {
            CLI::Option* key = app.add_option("key", m_call.key, "Its id, or the first 8 digits or more");
            if (m_call.kind == control::ModerationKind::ban) return add_many(app, *key);
            key->required();
        }
    }

    [[nodiscard]] Status read() override {
        if (!m_since.empty()) {
            const auto since = seconds_of(m_since);
            if (!since) {
                return Error{ErrorCode::invalid_argument,
                             "--since takes a time, for example 2026-03-01 or 2026-03-01T18:30."};
            }
            m_call.since = *since;
        }
        if (m_call.kind == control::ModerationKind::ban && m_call.key.empty() && m_since.empty() &&
            m_call.addresses.empty())
            return Error{ErrorCode::invalid_argument, "Say whom to ban: a key, --since or --address."};
        return {};
    }

    ExitCode run(const ThisNode& node) override { return ask(node, Output::people, m_call, print_signed); }

private:
    void add_many(CLI::App& app, CLI::Option& key) {
        app.add_option("--since", m_since,
                       "Everybody who appeared at or after this time, for example 2026-03-01 or 2026-03-01T18:30")
            ->excludes(&key);
        app.add_option("--address", m_call.addresses,
                       "Everybody with a session from there: 203.0.113.7, or a range, 203.0.113.0/24")
            ->excludes(&key);
    }

    control::Moderate m_call;
    std::string m_since;
};

}  // namespace

std::unique_ptr<Verb> moderate_verb() {
    using control::ModerationKind;
    const auto part = [](const char* name, const char* help, ModerationKind kind) {
        return std::make_unique<ModerateVerb>(name, help, kind);
    };
    return family(
        "moderate", "What a run's host may change while the run goes on",
        part("ban", "Shut a key, or many, out: they contribute nothing and have no seat", ModerationKind::ban),
        part("readmit", "Take a ban back", ModerationKind::readmit),
        part("allow", "Vouch for a key: it may join and sit in the committee", ModerationKind::allow),
        part("lift", "End a suspension by the jury: its contributions count again", ModerationKind::lift),
        part("close", "Shut out everybody whom you do not vouch for, as long as the run is closed",
             ModerationKind::close),
        part("open", "Let everybody in again after `close`", ModerationKind::open),
        part("rollback", "Take the model back to a checkpoint that this computer holds", ModerationKind::rollback));
}

}  // namespace potluck::node
