// Things that go wrong, drawn from a world's own randomness.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

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

/// Splits the members at random into two groups that cannot reach each other.
void split_at_random(World& world);

/// Heals the network. At most two rounds later than the furthest member was then all living members are
/// together; an empty string, or that they are not.
[[nodiscard]] std::string heal_and_meet(World& world, Duration limit);

/// Runs until every member but those `away` is up and has finished the run; an empty string, or what did not come true.
[[nodiscard]] std::string finish_run(World& world, Duration limit, const std::set<std::size_t>& away = {});

/// Each seed's scenario in turn, up to the first that finds something wrong: its seed and what; else an empty string.
template <class Scenario>
[[nodiscard]] std::string first_wrong(const std::vector<std::uint64_t>& seeds, Scenario scenario) {
    for (const std::uint64_t seed : seeds) {
        const std::string wrong = scenario(seed);
        if (!wrong.empty()) return "seed " + std::to_string(seed) + ": " + wrong;
    }
    return {};
}

}  // namespace potluck::sim
