#include <cstdio>
#include <ctime>

#include <CLI/CLI.hpp>

#include "app/node/cli/asking.h"
#include "app/node/cli/verbs/take_part/verbs.h"
#include "core/activity/words.h"
#include "core/base/log.h"

namespace potluck::node {

namespace {

void print_pauses(const control::PauseHistory& history) {
    for (const control::EpisodeRow& row : history.rows) {
        char began[32] = {};
        const auto time = static_cast<std::time_t>(row.began);
        if (const std::tm* parts = std::localtime(&time)) std::strftime(began, sizeof began, "%Y-%m-%d %H:%M", parts);
        const std::int64_t minutes = (row.ended - row.began + 30) / 60;
        const std::string lasted = row.ended == 0 ? "goes on" : std::to_string(minutes) + " min";
        std::printf("%s  %8s  %s\n", began, lasted.c_str(),
                    activity::sentence({row.level, row.signal, log::printable(row.detail)}).c_str());
    }
}

class PausesVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override { add_json(app); }
    ExitCode run(const ThisNode& node) override { return ask(node, output(), control::ReadPauses{}, print_pauses); }
};

}  // namespace

std::unique_ptr<Verb> pauses_verb() {
    return std::make_unique<PausesVerb>("pauses", "When training was paused, and why");
}

}  // namespace potluck::node
