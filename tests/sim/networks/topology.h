// Who has a session with whom, as data: the shapes that networks behind routers, relays and hubs take, and how fast
// each link is. A topology names members by their index in the world; World::use makes links of it.
// Does not: change while a world runs; members that die and return, and splits, are the network's.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/rng.h"

namespace potluck::sim {

/// How long a message is under way, and how many bytes follow each other in a millisecond; 0: as many as there are.
struct LinkSpeed {
    Duration latency{0};
    double bytes_per_ms = 0;
};

struct Topology {
    struct Link {
        std::size_t a = 0, b = 0;
        LinkSpeed speed{};
    };
    std::string name;
    std::vector<Link> links;
};

[[nodiscard]] Topology mesh(std::size_t members);
[[nodiscard]] Topology star(std::size_t members, std::size_t hub);
/// Members of odd and even index around two of them, `hub_a` and `hub_b`, which have the only link between the halves.
[[nodiscard]] Topology two_stars(std::size_t members, std::size_t hub_a, std::size_t hub_b);
/// In an order drawn from `rng`, so that seats and volunteers lie anywhere in it.
[[nodiscard]] Topology chain(std::size_t members, Rng& rng);
/// Connected, and every member has at least two links and `degree` on average: a ring in random order, and random
/// links beside it.
[[nodiscard]] Topology random_graph(std::size_t members, std::size_t degree, Rng& rng);

/// Homes on the internet: 5 to 150 ms, and 40 to 2,000 kB/s.
void draw_speeds(Topology& topology, Rng& rng);
/// Every link alike.
void set_speeds(Topology& topology, LinkSpeed speed);

}  // namespace potluck::sim
