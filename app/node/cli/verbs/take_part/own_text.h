// What a person says of itself, kept by the running node or, where none runs, in the saved settings: read and changed
// by `name` and `team`. A question makes nothing, not even the folder. Threads: the caller's.
#pragma once

#include <functional>
#include <string>

#include "app/node/cli/control_client.h"
#include "app/node/cli/json_output.h"
#include "app/node/cli/this_node.h"
#include "app/node/session/settings.h"
#include "core/control/node_protocol.h"

namespace potluck::node {

/// How JSON calls it, and where it stands.
struct OwnText {
    const char* field;
    std::string NodeSettings::*saved;
    std::string control::NodeSnapshot::*shown;
};

[[nodiscard]] ExitCode print_text(const ThisNode& node, Output output, const OwnText& which);

/// Has the running node change it by `change`, or else saves `text`; then says so in `sentence`.
[[nodiscard]] ExitCode change_text(const ThisNode& node, Output output, const OwnText& which, const std::string& text,
                                   const std::function<Status(ControlClient&)>& change, const std::string& sentence);

/// "There is no data folder ...".
[[nodiscard]] Error no_data_folder(const std::filesystem::path& folder);

}  // namespace potluck::node
