// Which lists of a run a proof needs, out of a ledger that may have forgotten the first of them, and how they are
// written. Threads: the ledger's.
#pragma once

#include <ostream>
#include <stop_token>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/ledger/ledger.h"

namespace potluck::node {

/// What stands in for the lists before L[first]: what they come to, and those of them that changed the committee.
struct ProofLists {
    Bytes table;
    std::vector<run::CommittedList> changes;
    RoundId first;
};

/// Nothing stands in where the ledger has all lists; `not_found` if it has too few of them to lead to `round`.
[[nodiscard]] Result<ProofLists> proof_lists(const ledger::Ledger& ledger, const RunId& run, RoundId round);

/// The changes of `lists`, and then L[lists.first] .. L[end - 1].
[[nodiscard]] Status write_lists(const ledger::Ledger& ledger, const RunId& run, const ProofLists& lists, RoundId end,
                                 std::ostream& out, const std::stop_token& stop);

/// The host has taken rounds back while they were read.
[[nodiscard]] Error history_changed();

}  // namespace potluck::node
