// A list and its payloads as F takes them: each with its weight, and with whether its norm has a say.
// Threads: any; the payloads are not changed.
#pragma once

#include <cstdint>
#include <vector>

#include "core/numerics/outer/outer_step.h"
#include "core/peer/payloads/payloads.h"
#include "core/run/accept_list.h"

namespace potluck::peer {

/// `payloads` are those of the list's entries, in their order, none of them null; they outlive the result. Entries of
/// weight 0 are left out.
[[nodiscard]] std::vector<numerics::WeightedPayload> weighted_list(const run::AcceptList& list,
                                                                   const std::vector<PayloadPointer>& payloads);

/// What the payloads that `list` accepts come to.
[[nodiscard]] std::uint64_t payload_bytes_of(const run::AcceptList& list);

}  // namespace potluck::peer
