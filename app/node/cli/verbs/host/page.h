// `potluck-node page FOLDER [--every 1m]`: a run's public page, written once or again and again until a signal ends it.
// Asks the node that runs for the data folder, or reads the folder if none does. What it writes: the page, its style,
// script and icon, samples.json with what the model wrote so far, and a proof for each checkpoint.
// Threads: the caller's becomes the loop's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "app/node/cli/verb.h"

namespace potluck::node {

struct PageOptions {
    std::filesystem::path folder;
    std::int64_t every_seconds = 0;     // 0: once
    std::optional<std::string> prompt;  // nothing: no samples are made
};

class PageVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override;
    [[nodiscard]] ExitCode run(const ThisNode& node) override;
    [[nodiscard]] const PageOptions& options() const { return m_options; }

private:
    PageOptions m_options;
};

}  // namespace potluck::node
