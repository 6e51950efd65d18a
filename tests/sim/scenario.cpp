#include "tests/sim/scenario.h"
#include "core/status/sentence.h"

#include <algorithm>

#include "tests/sim/checks.h"

namespace potluck::sim {

namespace {

void kill_and_return(World& world, const Churn& rates, std::size_t member) {
    world.kill(member, world.rng().unit() < 0.5 ? Death::silent : Death::closes_sessions);
    const Duration away = world.network().between(rates.away_min, rates.away_max);
    world.events().after(away, [&world, rates, member] {
        if (world.home(member).alive()) return;
        if (world.rng().unit() < rates.damaged) (void)world.home(member).disk.damage(world.rng().next());
        world.start(member);
    });
}

std::string where_all_stand(World& world) {
    std::string where;
    for (std::size_t i = 0; i < world.size(); ++i) {
        where.append("\n  member ").append(std::to_string(i)).append(": ");
        if (!world.home(i).alive()) {
            where.append("dead");
            continue;
        }
        const peer::PeerView view = world.peer(i).view();
        where.append(std::to_string(view.round.value)).append(", ").append(status::sentence(view.why));
    }
    return where;
}

}  // namespace

void churn(World& world, Churn rates, std::size_t spared, TimePoint until) {
    const Duration period = world.manifest().recipe.window;
    for (std::size_t member = spared; member < world.size(); ++member) {
        if (world.rng().unit() < rates.killed_each_round) {
            world.events().after(world.network().between(Duration{0}, period), [&world, rates, member] {
                if (world.home(member).alive()) kill_and_return(world, rates, member);
            });
        }
        if (world.rng().unit() < rates.damaged_alive) {
            world.events().after(world.network().between(Duration{0}, period), [&world, member] {
                if (world.home(member).alive()) (void)world.home(member).disk.damage(world.rng().next());
            });
        }
        if (world.rng().unit() < rates.trainer_crash) {
            world.events().after(world.network().between(Duration{0}, period), [&world, member] {
                Home& home = world.home(member);
                if (home.alive() && home.process->trainer) home.process->trainer->crash();
            });
        }
    }
    world.events().after(period, [&world, rates, spared, until] {
        if (world.now() < until) churn(world, rates, spared, until);
    });
}

void split_at_random(World& world) {
    std::vector<int> groups(world.size());
    for (int& group : groups) group = static_cast<int>(world.rng().below(2));
    world.split(groups);
}

std::string heal_and_meet(World& world, Duration limit) {
    world.heal();
    const std::uint64_t last = world.manifest().recipe.total_rounds;
    std::uint64_t furthest = 0;
    for (std::size_t i = 0; i < world.size(); ++i) furthest = std::max(furthest, world.round_of(i));
    const std::uint64_t healed = std::min(furthest + 2, last);
    if (world.run_until([&] { return world.all_at(healed); }, limit)) return world.divided();
    return "not together two rounds later:" + where_all_stand(world);
}

std::string finish_run(World& world, Duration limit, const std::set<std::size_t>& away) {
    const std::uint64_t last = world.manifest().recipe.total_rounds;
    const auto done = [&] {
        for (std::size_t i = 0; i < world.size(); ++i) {
            if (away.contains(i)) continue;
            if (!world.home(i).alive() || world.round_of(i) < last) return false;
        }
        return true;
    };
    if (!world.run_until(done, limit)) {
        return "not finished:" + where_all_stand(world);
    }
    // A kill or a damage of the last moment is still being mended.
    const auto settled = [&] {
        for (std::size_t i = 0; i < world.size(); ++i) {
            if (away.contains(i)) continue;
            if (!world.home(i).alive() || world.peer(i).view().phase != run::Phase::finished) return false;
        }
        return true;
    };
    for (int look = 0; look < 2; ++look) {
        world.run_for(Duration{8'000});
        if (!world.run_until(settled, Duration{90'000}))
            return "a member did not come to rest:" + where_all_stand(world);
    }
    const std::string apart = agreement(world);
    return apart.empty() ? conservation(world) : apart;
}

}  // namespace potluck::sim
