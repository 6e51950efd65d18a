// What must hold after every scenario, whatever was broken in it.
#pragma once

#include <string>

#include "tests/sim/world.h"

namespace potluck::sim {

/// All living members agree on every round of the common chain: same lists, same digests, and each ledger's own chain
/// is whole. Empty if so, else what differs.
[[nodiscard]] std::string agreement(World& world);

/// Tokens of every volunteer that are alive in the books: snapshotted and saved == credited + carried + pending.
[[nodiscard]] std::string conservation(World& world);

}  // namespace potluck::sim
