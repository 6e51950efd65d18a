// `potluck-node committee ...`: who decides about the run, what they signed against each other, and the last resort.
// Threads: one.
#pragma once

#include <filesystem>

#include "app/node/cli/verb.h"
#include "core/control/node_protocol.h"

namespace potluck::node {

/// What is said of a change that the run's host has signed.
void print_signed(const control::ModerationNumber& number);

/// Checks a file of evidence; needs neither node nor data folder, because a proof is whole in itself.
class VerifyEvidenceVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override;
    [[nodiscard]] ExitCode run(const ThisNode& node) override;
    [[nodiscard]] const std::filesystem::path& file() const { return m_file; }

private:
    std::filesystem::path m_file;
};

}  // namespace potluck::node
