// What a node prints where a person watches it in a terminal: a line when a round begins, and one for whatever else
// than training or sharing comes up in it, once a round. A node's reason changes several times a second while it
// trains; nobody reads that.
//
// Threads: any one. Pure but for what it has printed so far.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "core/control/node_protocol.h"

namespace potluck::node {

class RunLines {
public:
    /// The line to print now, if there is one.
    [[nodiscard]] std::optional<std::string> next(const control::NodeSnapshot& now);

private:
    std::uint64_t m_round = 0;
    std::optional<status::Reason> m_reason;  // of the last line
    std::set<status::Reason> m_said;         // in this round
};

}  // namespace potluck::node
