#include "tests/sim/networks/topology.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "core/base/check.h"

namespace potluck::sim {

namespace {

std::vector<std::size_t> shuffled(std::size_t members, Rng& rng) {
    std::vector<std::size_t> order(members);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = members; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    return order;
}

}  // namespace

Topology mesh(std::size_t members) {
    Topology topology{"mesh", {}};
    for (std::size_t a = 0; a < members; ++a) {
        for (std::size_t b = a + 1; b < members; ++b) topology.links.push_back({a, b});
    }
    return topology;
}

Topology star(std::size_t members, std::size_t hub) {
    Topology topology{"star", {}};
    for (std::size_t member = 0; member < members; ++member) {
        if (member != hub) topology.links.push_back({hub, member});
    }
    return topology;
}

Topology two_stars(std::size_t members, std::size_t hub_a, std::size_t hub_b) {
    Topology topology{"two stars", {{hub_a, hub_b}}};
    for (std::size_t member = 0; member < members; ++member) {
        if (member != hub_a && member != hub_b) topology.links.push_back({member % 2 == 0 ? hub_a : hub_b, member});
    }
    return topology;
}

Topology chain(std::size_t members, Rng& rng) {
    Topology topology{"chain", {}};
    const std::vector<std::size_t> order = shuffled(members, rng);
    for (std::size_t i = 1; i < members; ++i) topology.links.push_back({order[i - 1], order[i]});
    return topology;
}

Topology random_graph(std::size_t members, std::size_t degree, Rng& rng) {
    POTLUCK_CHECK(degree >= 2 && members > degree);
    Topology topology{"random, degree " + std::to_string(degree), {}};
    std::set<std::pair<std::size_t, std::size_t>> linked;
    const auto link = [&](std::size_t a, std::size_t b) {
        if (a != b && linked.insert(std::minmax(a, b)).second) topology.links.push_back({a, b});
    };
    const std::vector<std::size_t> order = shuffled(members, rng);
    for (std::size_t i = 0; i < members; ++i) link(order[i], order[(i + 1) % members]);
    while (topology.links.size() < members * degree / 2) link(rng.below(members), rng.below(members));
    return topology;
}

void draw_speeds(Topology& topology, Rng& rng) {
    for (Topology::Link& link : topology.links) {
        link.speed.latency = Duration{static_cast<int>(5 + rng.below(146))};
        link.speed.bytes_per_ms = static_cast<double>(40 + rng.below(1'961));
    }
}

void set_speeds(Topology& topology, LinkSpeed speed) {
    for (Topology::Link& link : topology.links) link.speed = speed;
}

}  // namespace potluck::sim
