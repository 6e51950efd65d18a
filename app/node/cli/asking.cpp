#include "app/node/cli/asking.h"

#include "core/status/states.h"

namespace potluck::node {

namespace {

/// What there is to say of a folder that no node ever used.
control::NodeSnapshot never_run(const ThisNode& node, const Error& error) {
    control::NodeSnapshot snapshot;
    snapshot.activity = control::Activity::not_running;
    snapshot.why = {{status::Reason::not_running}};
    snapshot.reason = error.message;
    snapshot.data_folder = node.options.data_folder.string();
    return snapshot;
}

}  // namespace

ExitCode nobody_runs(const ThisNode& node, Output output, const Error& error) {
    const bool none = error.code == ErrorCode::not_found;
    if (none && output == Output::json) print_json(to_json(never_run(node, error)));
    return complain(error, none ? ExitCode::not_running : exit_code_of(error.code));
}

void print_state(const control::NodeSnapshot& now) {
    std::cout << name_of(now.activity) << ": " << clean(now.reason) << std::endl;
}

}  // namespace potluck::node
