// Who keeps which shard: rendezvous hashing (highest random weight; Thaler and Ravishankar, "Using name-based mappings
// to increase hit rates", 1998) with a disk cap for each member. Every (key, shard) has a weight that anybody can
// compute; a shard is kept by the members with the highest weights for it. When a member goes, only what it kept moves,
// and each of its shards moves to the key that comes next; when one comes, it takes over only what it now keeps.
//
// Caps make it a matching: a member keeps, of the shards that want it, those of the highest weight that fit below its
// cap, and a shard that finds no room asks the next member. That is deferred acceptance (Gale and Shapley, 1962) with
// one weight for both sides, so the outcome follows from keys, shards and caps alone, in whatever order they are given.
//
// Does not: know who is here, what anybody holds, or how a shard gets there.
// Threads: functions of values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/run/manifest.h"

namespace potluck::run {

/// Copies of each shard that a run always has, if it has that many members.
inline constexpr std::size_t shard_copies_min = 3;
/// Copies that members aim at: one to spare, for a member that has just left or has no room, which the others may not
/// know yet.
inline constexpr std::size_t shard_copies = shard_copies_min + 1;

inline constexpr std::uint64_t no_shard_cap = std::numeric_limits<std::uint64_t>::max();

struct ShardHolder {
    PeerId key;
    std::uint64_t bytes_max = no_shard_cap;  // for shards, on its disk
};

/// The weight of (key, shard): no two uses of a run share it, and it is the same on every computer.
[[nodiscard]] std::uint64_t holder_weight(const PeerId& key, const BlobId& shard);

/// For each shard the indexes of those among `members`, who have different keys, that keep it: at most `copies`, the
/// highest weight first. Fewer only if nobody else has room.
[[nodiscard]] std::vector<std::vector<std::size_t>> shard_holders(std::span<const Shard> shards,
                                                                  std::span<const ShardHolder> members,
                                                                  std::size_t copies);

}  // namespace potluck::run
