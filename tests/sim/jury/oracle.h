// What trainers measure, by what a member is said to be: draws from the distributions that were seen in training
// (docs/decisions.md), in nats a token. A world asks it for every subject that a juror has measured.
#pragma once

#include <map>
#include <set>
#include <string>

#include "tests/sim/world.h"

namespace potluck::sim {

enum class Work { honest, noise, zero, flipped, copied, lazy };

class Oracle {
public:
    Oracle(World& world, std::uint64_t seed);
    /// By member; the others are honest.
    std::map<std::size_t, Work> works;
    /// Jurors that see noise in the work of these members, and work in the noise of others.
    std::map<std::size_t, std::set<std::size_t>> lies;
    /// Contributions that were measured, by juror.
    std::map<std::size_t, std::uint64_t> asked;

private:
    [[nodiscard]] peer::Judged measure(std::size_t juror, const PeerId& contributor);
    double normal(double mean, double deviation);
    World& m_world;
    Rng m_rng;
};

/// All are friends, so that a committee of up to seven forms; every member trains.
[[nodiscard]] WorldPlan jury_plan(std::size_t members, std::uint64_t rounds);
/// Empty if after `rounds` all members have the same chain, recomputed, and every ledger verifies.
[[nodiscard]] std::string played(World& world, std::uint64_t rounds);

/// The persons that `member` has as suspended now.
[[nodiscard]] std::set<PeerId> suspended_at(World& world, std::size_t member);
/// Every person that a list in the chain of `member` suspends, with the round of the first such list.
[[nodiscard]] std::map<PeerId, std::uint64_t> suspensions_in(World& world, std::size_t member);

}  // namespace potluck::sim
