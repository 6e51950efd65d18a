// Things that go wrong, drawn from a world's own randomness.
#pragma once

#include <cstdint>

#include "tests/sim/world.h"

namespace potluck::sim {

struct Churn {
    double killed_each_round = 0.3;  // share of the members
    Duration away_min{500}, away_max{12'000};
    double damaged = 0;        // chance that a member that comes back finds a damaged state
    double damaged_alive = 0;  // chance per round and member that its newest state is damaged while it runs
    double trainer_crash = 0;  // chance per round and member
};

/// From now on, about once per window, kills and restarts members. Member 0..spared-1 are left alone. Stops at `until`.
void churn(World& world, Churn rates, std::size_t spared, TimePoint until);

/// Runs until every member is up and has finished the run; an empty string, or what did not come true.
[[nodiscard]] std::string finish_run(World& world, Duration limit);

}  // namespace potluck::sim
