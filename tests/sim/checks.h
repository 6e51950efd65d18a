// What must hold after every scenario, whatever was broken in it. Each check returns an empty string, or what is wrong.
#pragma once

#include <cstdint>
#include <string>

#include "tests/sim/world.h"

namespace potluck::sim {

/// The chain is what the rules make of it, computed once more outside the members: from the initial state with the
/// plain version of F, the recorded lists and the payloads they name. Every list and digest of every living member,
/// every state it holds and every digest it shows is compared with that; each ledger's own chain is whole, and nothing
/// was announced before it was on disk.
[[nodiscard]] std::string agreement(World& world);

/// Tokens of every volunteer that are alive in the books: snapshotted and saved == credited + carried + pending. Where
/// the host took the model back some are dropped, and none may be counted twice.
[[nodiscard]] std::string conservation(World& world);

/// Movement of every living volunteer, coordinate by coordinate: what its trainer snapshotted == its payloads in the
/// chain + its pending ones + its error feedback. For runs with error_decay 1 and members that were never killed.
[[nodiscard]] std::string movement(World& world);

/// How the members came to the digests in their ledgers.
struct DigestOrigins {
    std::uint64_t computed = 0;  // from a state and payloads of its own
    std::uint64_t copied = 0;    // from the base of the list that follows, or from a checkpoint
    std::uint64_t wrong = 0;     // computed, but F gives it for no committed list
};
[[nodiscard]] DigestOrigins digest_origins(World& world);

/// Whether the digests in the longest chain are those that F gives.
[[nodiscard]] bool follows_rules(World& world);

/// From now on agreement() fails if a member announces what is not on its disk: a state before it is committed or
/// before its list is in the ledger, a contribution before its payload is published and its record saved.
void watch_announcements(Home& home, const RunId& run);

}  // namespace potluck::sim
