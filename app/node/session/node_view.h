// The snapshot of a node, from its parts as they are. What each part looks like is view.h's, and why the node does what
// it does node_status.h's.
// Threads: the loop's; functions.
#pragma once

#include <optional>

#include "app/node/member/membership.h"
#include "app/node/owner/usage_meter.h"
#include "app/node/session/node_options.h"
#include "app/node/session/owner_watch.h"
#include "app/node/session/run_search.h"
#include "core/control/node_protocol.h"

namespace potluck::node {

struct NodeParts {
    const NodeOptions& options;
    const OwnKeys& keys;
    const NodeSettings& settings;
    const ledger::Ledger& ledger;
    const net::Session& network;
    const ReleaseWatch& releases;
    const RunSearch& search;
    const Membership& run;
    const OwnerWatch& owner;
    const UsageMeter& usage;
    const std::optional<control::Preparation>& preparation;
};

/// All that the system need not be asked for: it is looked at several times a second.
[[nodiscard]] control::NodeSnapshot own_snapshot(const NodeParts& node);
/// With the programs that run.
[[nodiscard]] control::NodeSnapshot whole_snapshot(const NodeParts& node);

}  // namespace potluck::node
