// A run of coded steps in a network where members' lines decide who is light: what its simulations begin with.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/sim/networks/topology.h"
#include "tests/sim/scenario.h"

namespace potluck::sim {

inline constexpr Duration coded_window{6'000};  // a tenth of it is 600 ms

[[nodiscard]] inline WorldPlan coded_plan(std::size_t volunteers, std::uint64_t rounds) {
    return {.volunteers = volunteers,
            .rounds = rounds,
            .work_max = Duration{0},
            .answer_max = Duration{0},
            .window = coded_window,
            .collect = Duration{8'000},
            .k = 1024,
            .k_max = 1024,
            .width = 64,
            .step = numerics::StepForm::coded};
}

/// A mesh in which members from `first` on take so many milliseconds for a payload on each link; the others' lines are
/// fast.
inline void use_lines(World& world, std::size_t first, double payload_ms) {
    Topology topology = mesh(world.size());
    set_speeds(topology, {Duration{10}, 1e6});
    world.use(topology);
    const std::uint64_t payload = numerics::payload_bytes_max(world.initial_state().size(), 1024);
    for (std::size_t member = first; member < world.size(); ++member)
        world.network().limit_uplink(world.home(member).id(), static_cast<double>(payload) / payload_ms);
}

}  // namespace potluck::sim
