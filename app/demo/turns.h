// Rounds at which things happen in a demo. Values in, values out.
// Threads: any.
#pragma once

#include <cstdint>

namespace potluck::node {

/// The late join, the kill and the return in a run of so many rounds.
struct Turns {
    std::uint64_t late_join = 0, kill = 0, comeback = 0;
    [[nodiscard]] static Turns of(std::uint64_t rounds);
};

}  // namespace potluck::node
