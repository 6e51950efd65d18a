// Leaders that die, vanish, withhold or are cut off.
#include <QTest>

#include "tests/sim/checks.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

/// Time from the moment the first member holds theta[round] to the moment all living members hold theta[round + 1],
/// with `event` happening `at` after the former.
Duration time_of_round(World& world, std::uint64_t round, Duration at, std::function<void()> event) {
    const auto anyone = [&] {
        for (std::size_t i = 0; i < world.size(); ++i) {
            if (world.round_of(i) >= round) return true;
        }
        return false;
    };
    if (!world.run_until(anyone, Duration{100'000})) return Duration::max();
    const TimePoint begin = world.now();
    world.events().after(at, std::move(event));
    world.run_for(at + Duration{1});
    if (!world.run_until([&] { return world.all_at(round + 1); }, Duration{100'000})) return Duration::max();
    return world.now() - begin;
}

std::size_t leader_index(World& world) {
    for (std::size_t i = 0; i < world.size(); ++i) {
        for (std::size_t j = 0; j < world.size(); ++j) {
            if (world.home(i).alive() && world.peer(i).view().leader == world.home(j).id()) return j;
        }
    }
    return 0;
}

}  // namespace

class LeadersTest : public QObject {
    Q_OBJECT
private slots:
    void a_leader_killed_at_any_moment_costs_at_most_one_grace_data() {
        QTest::addColumn<int>("at");
        QTest::addColumn<int>("backbones");
        QTest::addColumn<bool>("silent");
        for (const int at : {100, 3'000, 5'950, 6'050, 6'150, 6'300, 6'500}) {
            for (const int backbones : {0, 1, 2}) {
                for (const bool silent : {false, true}) {
                    QTest::addRow("%d ms, %d backbones, %s", at, backbones, silent ? "silent" : "closing")
                        << at << backbones << silent;
                }
            }
        }
    }
    void a_leader_killed_at_any_moment_costs_at_most_one_grace() {
        QFETCH(int, at);
        QFETCH(int, backbones);
        QFETCH(bool, silent);
        for (const std::uint64_t seed : seeds(3)) {
            WorldPlan plan;
            plan.backbones = static_cast<std::size_t>(backbones);
            plan.volunteers = 4;
            World calm(seed, plan), hit(seed, plan);
            calm.start_all();
            hit.start_all();
            const Duration normal = time_of_round(calm, 2, Duration{at}, [] {});
            const Duration longer = time_of_round(hit, 2, Duration{at}, [&] {
                hit.kill(leader_index(hit), silent ? Death::silent : Death::closes_sessions);
            });
            QVERIFY2(longer <= normal + hit.manifest().recipe.grace,
                     qPrintable(QString("seed %1: %2 beside %3 ms").arg(seed).arg(longer.count()).arg(normal.count())));
            QVERIFY(normal <= hit.manifest().recipe.window + Duration{2'500});
        }
    }

    void a_leader_that_withholds_its_payload_loses_the_round() {
        WorldPlan plan;
        plan.backbones = 0;
        plan.volunteers = 4;
        World world(5, plan);
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(1); }, Duration{60'000}));
        const std::size_t liar = leader_index(world);
        world.home(liar).folder.withholds = true;
        QVERIFY(world.run_until([&] { return world.all_at(5); }, Duration{300'000}));
        world.kill(liar, Death::closes_sessions);
        world.run_for(Duration{5'000});
        const std::string apart = agreement(world), books = conservation(world);
        QVERIFY2(apart.empty(), apart.c_str());
        QVERIFY2(books.empty(), books.c_str());
        std::uint64_t lost = 0;
        for (std::size_t i = 0; i < world.size(); ++i) {
            if (world.home(i).alive()) lost += world.peer(i).view().rounds_lost;
        }
        QVERIFY(lost > 0);
    }

    void two_halves_that_were_apart_agree_again() {
        for (const std::uint64_t seed : seeds(60)) {
            WorldPlan plan;
            plan.backbones = seed % 3;
            plan.volunteers = 4 + seed % 3;
            plan.rounds = 10;
            World world(seed, plan);
            world.start_all();
            world.run_for(Duration{static_cast<int>(8'000 + world.rng().below(12'000))});
            std::map<PeerId, int> groups;
            for (std::size_t i = 0; i < world.size(); ++i) {
                groups[world.home(i).id()] = static_cast<int>(world.rng().below(2));
            }
            world.network().split(groups);
            world.run_for(Duration{static_cast<int>(2'000 + world.rng().below(50'000))});
            world.network().split({});
            const std::string wrong = finish_run(world, Duration{600'000});
            QVERIFY2(wrong.empty(), ("seed " + std::to_string(seed) + ": " + wrong).c_str());
        }
    }
};

QTEST_APPLESS_MAIN(LeadersTest)
#include "test_leaders.moc"
