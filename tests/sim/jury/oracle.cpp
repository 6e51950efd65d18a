#include "tests/sim/jury/oracle.h"

#include <cmath>
#include <numbers>

#include "tests/sim/checks.h"

namespace potluck::sim {

Oracle::Oracle(World& world, std::uint64_t seed) : m_world(world), m_rng(seed) {
    world.on_judge = [this](std::size_t juror, const PeerId& contributor, const auto&) -> std::optional<peer::Judged> {
        ++asked[juror];
        return measure(juror, contributor);
    };
}

double Oracle::normal(double mean, double deviation) {
    const double radius = std::sqrt(-2 * std::log(1 - m_rng.unit()));
    return mean + deviation * radius * std::cos(2 * std::numbers::pi * m_rng.unit());
}

peer::Judged Oracle::measure(std::size_t juror, const PeerId& contributor) {
    std::size_t member = 0;
    while (m_world.home(member).id() != contributor) ++member;
    Work work = works.contains(member) ? works.at(member) : Work::honest;
    if (lies.contains(juror)) work = lies.at(juror).contains(member) ? Work::noise : Work::honest;
    double own = normal(0.075, 0.018), gap = normal(0.026, 0.01);
    switch (work) {
        case Work::honest: break;
        case Work::noise: own = normal(-0.014, 0.006); break;
        case Work::zero: own = 0; break;
        case Work::flipped: own = normal(-0.08, 0.02); break;
        case Work::copied: own = normal(-0.03, 0.01); break;
        case Work::lazy: own = normal(0.009, 0.005); break;
    }
    if (work == Work::zero) gap = 0;
    if (work != Work::honest && work != Work::zero) gap = normal(0.002, 0.003);
    return {contributor, own, own - gap};
}

std::set<PeerId> suspended_at(World& world, std::size_t member) {
    const run::RunRules rules = world.peer(member).committee().rules;
    const RoundId round = world.peer(member).view().round;
    std::set<PeerId> persons;
    for (const run::Suspended& one : rules.suspended) {
        if (run::is_suspended(rules.suspended, one.person, round)) persons.insert(one.person);
    }
    return persons;
}

std::map<PeerId, std::uint64_t> suspensions_in(World& world, std::size_t member) {
    std::map<PeerId, std::uint64_t> found;
    for (const run::CommittedList& one : world.home(member).ledger.judging_lists(world.run(), RoundId{0})) {
        const run::AcceptList list = run::AcceptList::decode(one.list).value();
        for (const run::Suspension& suspension : list.suspensions)
            found.try_emplace(suspension.person, list.round.value);
    }
    return found;
}

WorldPlan jury_plan(std::size_t members, std::uint64_t rounds) {
    return {.backbones = 0,
            .volunteers = members,
            .rounds = rounds,
            .checkpoint_every = 10,
            .window = Duration{2'000},
            .collect = Duration{2'000},
            .friends = true,
            .fit_rounds = 2,
            .jury = 0.03,
            .records = 10'000};
}

std::string played(World& world, std::uint64_t rounds) {
    world.start_all();
    if (!world.run_until([&] { return world.all_at(rounds); }, Duration{static_cast<Duration::rep>(rounds * 20'000)}))
        return "the rounds do not end";
    if (!world.divided().empty()) return world.divided();
    return agreement(world);
}

}  // namespace potluck::sim
