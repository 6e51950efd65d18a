// What goes first when blobs have used up the disk that a person allows them.
//
// Does not: know what a blob is for, or delete anything.
// Threads: functions of values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace potluck::run {

/// How much a run relies on a blob. Where the disk is full, a blob displaces those of lower ranks only.
enum class Retention : std::uint8_t {
    left_behind,  // of a run that this computer is not in at present
    newcomer,     // a payload that no list has accepted, from a newcomer
    offered,      // one from an established member
    kept,         // in a list, proposed for one, assigned, or this member's own
};

struct StoredBlob {
    std::uint64_t size = 0;
    Retention retention = Retention::kept;
    bool complete = true;
    std::uint64_t order = 0;  // grows with time
};

/// Which of `stored` to delete, by index, so that `size` bytes more of rank `wanted` fit below `bytes_max`: the lowest
/// rank first, in it what is not complete before what is, and the newest first, because the others may be about to vote
/// for what has been here for longest. Nothing if even that would not do.
[[nodiscard]] std::optional<std::vector<std::size_t>> blobs_to_displace(std::span<const StoredBlob> stored,
                                                                        std::uint64_t size, Retention wanted,
                                                                        std::uint64_t bytes_max);

}  // namespace potluck::run
