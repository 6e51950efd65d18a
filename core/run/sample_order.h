// Which records a peer trains on: a pure function of (seed, round, peer), so that resuming is one integer and anybody
// can re-run what a peer did. In one round a peer draws from one shard, in the order of a keyed permutation; past its
// end the next epoch's permutation follows.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"

namespace potluck::run {

/// Index of the shard that `peer` draws from in `round`; `shards` > 0.
[[nodiscard]] std::size_t shard_of(std::uint64_t seed, RoundId round, const PeerId& peer, std::size_t shards);

/// The record at position `n` (0, 1, 2, ...) of (round, peer) within a shard of `records` records.
[[nodiscard]] std::uint64_t record_at(std::uint64_t seed, RoundId round, const PeerId& peer, std::uint64_t records,
                                      std::uint64_t n);

}  // namespace potluck::run
