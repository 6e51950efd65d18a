// A node as a running program: the loop, the control server, signals, and the order in which it all ends.
// Ends when its parent closes standard input, when asked to, on SIGINT, SIGTERM or SIGHUP; a second signal ends it at
// once.
// Threads: the caller's becomes the loop's.
#pragma once

#include <optional>
#include <string>

#include "app/node/cli/this_node.h"
#include "app/node/exit_code.h"
#include "core/control/node_methods.h"
#include "core/run/invite.h"
#include "core/run/message.h"

namespace potluck::node {

/// The run that it is to join; another node that holds the folder is asked to join it instead.
struct Joining {
    std::string link;
    run::Invite invite;
    run::Role role = run::Role::volunteer;
    control::OtherRun other_run = control::OtherRun::keep;
};

struct Serving {
    std::optional<Joining> joining = std::nullopt;  // nothing: it goes on with what was saved
    enum class Invite { unsaid, printed } invite = Invite::unsaid;
    enum class Parent { none, speaks } parent = Parent::none;  // at the other end of standard input
};

/// Checks that this program computes exactly, then opens data folder and log.
[[nodiscard]] Status prepare_to_serve(const ThisNode& node);
/// Until something ends the node.
[[nodiscard]] ExitCode serve(const ThisNode& node, Serving serving);

}  // namespace potluck::node
