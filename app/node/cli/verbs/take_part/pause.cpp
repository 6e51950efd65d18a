#include <cstdint>

#include <CLI/CLI.hpp>

#include "app/node/cli/asking.h"
#include "app/node/cli/options/option_values.h"
#include "app/node/cli/verbs/take_part/verbs.h"

namespace potluck::node {

namespace {

class PauseVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        m_texts.add(app, "--for", "For how long, for example 30m or 1h30m (default: until resume)",
                    [this](const std::string& text) { return take(parse_duration(text), m_seconds); });
        add_json(app, "Answer with the status as JSON");
    }

    ExitCode run(const ThisNode& node) override {
        return act(node, output(), control::Pause{static_cast<std::uint64_t>(m_seconds)});
    }

private:
    std::int64_t m_seconds = 0;  // 0: until resume
};

}  // namespace

std::unique_ptr<Verb> pause_verb() {
    return std::make_unique<PauseVerb>("pause",
                                       "Stop training and free its memory; for four rounds its moments wait on disk, "
                                       "about 2 bytes per parameter (8 with 32 bits)");
}

}  // namespace potluck::node
