// What a person may say about the node with any verb, before the verb or after it: its folder, network, limits, rules
// and releases. This is all that verbs share.
//
// Does not: open a file but the one that says where a data folder was moved to (moved_folder.h); the environment and
// this program's own path are read for defaults.
// Threads: the caller's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/node/cli/text_options.h"
#include "app/node/session/node.h"

namespace potluck::node {

struct ThisNode {
    NodeOptions options;
    std::filesystem::path asked_folder;  // that the line or the system names; options hold where its data is
    std::string name, team;              // empty: as they were
    std::string log_level = "info";
    std::vector<std::string> arguments = {};  // the whole line as it was typed, without the program
};

/// The trainer of a verb that starts one without a node: the one that was named, else an installed pack's, else the one
/// that came with the program. A node looks by itself, and again when another is installed.
[[nodiscard]] std::filesystem::path trainer_of(const NodeOptions& node);

/// The options that fill a ThisNode.
class NodeLine {
public:
    NodeLine();
    /// Adds them to the program's own, in groups.
    void add(CLI::App& app);
    /// After parsing: the rest of what CLI11 has not read. `invalid_argument` with a sentence.
    [[nodiscard]] Status read(int argc, const char* const* argv);
    [[nodiscard]] const ThisNode& node() const { return m_node; }

private:
    void add_identity(CLI::App& app);
    void add_network(CLI::App& app);
    void add_proxy(CLI::App& app);
    void add_limits(CLI::App& app);
    void add_rules(CLI::App& app);
    void add_releases(CLI::App& app);

    ThisNode m_node;
    TextOptions m_texts;
    std::string m_data_folder, m_trainer, m_name, m_team;
    std::optional<std::uint64_t> m_upload_kib, m_download_kib;
    bool m_loopback = false;
};

}  // namespace potluck::node
