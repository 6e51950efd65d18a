#include <cstdio>
#include <filesystem>

#include "app/node/cli/byte_size.h"
#include "app/node/cli/verb.h"
#include "app/node/cli/verbs/take_part/own_text.h"
#include "app/node/cli/verbs/take_part/verbs.h"
#include "app/node/records/disk_files.h"
#include "core/base/log.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t shown_run = 40;

class RunsVerb final : public Verb {
public:
    RunsVerb(std::string verb_name, std::string verb_help) : Verb(std::move(verb_name), std::move(verb_help)) {
        m_parts.push_back(runs_find_verb());
    }
    void add(CLI::App& app) override { add_json(app); }
    ExitCode run(const ThisNode& node) override;
    [[nodiscard]] std::span<const std::unique_ptr<Verb>> parts() const override { return m_parts; }
    [[nodiscard]] bool works_alone() const override { return true; }

private:
    Verbs m_parts;
};

ExitCode RunsVerb::run(const ThisNode& node) {
    const fs::path& folder = node.options.data_folder;
    std::error_code unknown;
    if (!fs::exists(folder, unknown)) return refuse(output(), no_data_folder(folder));
    const auto settings = NodeSettings::load(folder);
    if (!settings) return refuse(output(), settings.error());
    const bool json = output() == Output::json;
    nlohmann::json rows = nlohmann::json::array();
    for (const RunFiles& run : run_files(folder, {})) {
        const bool current = settings->run && settings->run->invite.run == run.id;
        rows.push_back({{"id", run.id.hex()}, {"name", run.name}, {"bytes", run.bytes}, {"current", current}});
        if (json) continue;
        std::printf("%s  %-*s %10s%s\n", run.id.hex().substr(0, 8).c_str(), static_cast<int>(shown_run),
                    log::printable(run.name, shown_run).c_str(), bytes_text(run.bytes).c_str(),
                    current ? "  (this node is in it)" : "");
    }
    if (json) print_json({{"runs", rows}});
    return ExitCode::ok;
}

}  // namespace

std::unique_ptr<Verb> runs_verb() {
    return std::make_unique<RunsVerb>("runs", "The runs that lie in the data folder, with their size");
}

}  // namespace potluck::node
