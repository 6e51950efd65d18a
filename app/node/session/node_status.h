// What a node is said to do, and why: one reason of the table in core/status, chosen from what its parts know.
//
// Does not word anything but the English sentence that logs and the command line show.
// Threads: values and a pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/activity/signals.h"
#include "core/control/node_protocol.h"
#include "core/status/reason.h"
#include "net/session.h"

namespace potluck::node {

/// The invite that is looked for.
struct SearchConditions {
    net::ManifestSearch search;
    std::string run_name;
    std::int64_t since = 0;       // unix seconds
    bool nobody_in_time = false;  // for as long as a search lasts
};

/// Everything that the reason follows from.
struct NodeConditions {
    bool paused = false;
    std::int64_t paused_until = 0;  // unix seconds, 0: until resumed
    bool trainer_alive = false;
    activity::Decision yield;                // what the owner's use of the computer calls for
    std::uint64_t yield_seconds = 0;         // until it ends, if nothing more is noticed; 0: it holds
    std::string trainer_failure;             // not empty: it will not start again by itself, and why it ended
    bool trainer_missing = false;            // there is no program to start
    std::string trainer_interruption;        // not empty: it ended for this reason and is started again
    std::string trainer_notice;              // what it changed by itself a moment ago
    std::string error;                       // why the last invite could not be joined; empty if it could
    std::optional<SearchConditions> search;  // looking for a run's manifest
    std::optional<status::Why> member;       // in a run: what the peer says
    double progress = -1;
    bool volunteer = true;
    bool leaves_after_round = false;  // the person wants to leave once the round is finished
    std::uint64_t disk_needed = 0;    // of blobs, more than the owner allows; 0: the limit does
    std::uint64_t disk_allowed = 0;   // the limit
    std::string proxy_shut;           // not empty: where the proxy is that lets nothing through
    bool network_silent = false;      // nothing of the network answers, also outside the run
};
struct NodeStatus {
    control::Activity activity = control::Activity::idle;
    status::Why why;
    std::string sentence;  // in English
    double progress = -1;
};
[[nodiscard]] NodeStatus node_status(const NodeConditions& conditions);

}  // namespace potluck::node
