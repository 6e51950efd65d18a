// Who may take part in a run and who may decide, and whether one accept list may follow another.
// Threads: values; any.
#pragma once

#include <vector>

#include "core/base/ids.h"
#include "core/run/accept_list.h"
#include "core/run/message.h"

namespace potluck::run {

/// What is the same for the whole run.
struct RunRules {
    RunId run;
    PeerId host;
    std::vector<PeerId> backbones;
    std::vector<PeerId> allowed;  // sorted; empty: anybody
    [[nodiscard]] bool admits(const PeerId& peer) const;
    /// Host, backbones and the allow list: the keys that the host vouches for. Only they may sit in the committee, and
    /// they are never newcomers.
    [[nodiscard]] bool trusts(const PeerId& peer) const;
    /// All of them, sorted.
    [[nodiscard]] std::vector<PeerId> trusted() const;
    /// Who decides L[0], sorted: the host and the backbones that follow it, as many as make a size of 1, 4 or 7.
    [[nodiscard]] std::vector<PeerId> first_committee() const;
};

/// Whether `list` may follow `previous` (null for round 0): place, link, admitted contributors, trusted committee.
/// Base, signatures and votes are the caller's to check.
[[nodiscard]] Verdict check_link(const AcceptList& list, const AcceptList* previous, const RunRules& rules);

}  // namespace potluck::run
