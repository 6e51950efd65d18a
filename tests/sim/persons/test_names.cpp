// Names as members hear of them, and how a person who comes back with its key alone gets its name again.
#include <QTest>

#include <algorithm>

#include "tests/sim/seeds.h"
#include "tests/sim/world.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

std::string name_at(World& world, std::size_t member, std::size_t whose) {
    return world.home(member).ledger.credit_of(world.run(), world.home(whose).person_id()).name;
}

bool hears_of(World& world, std::size_t member, std::size_t whose) {
    const auto members = world.peer(member).view().members;
    return std::ranges::any_of(members, [&](const auto& one) { return one.id == world.home(whose).id(); });
}

}  // namespace

class NamesTest : public QObject {
    Q_OBJECT
private slots:
    void a_person_back_with_a_key_alone_gets_name_and_team_again() {
        for (const std::uint64_t seed : seeds(1)) {
            World world(seed, {.volunteers = 4, .rounds = 400, .owners = {{3, 2}}});
            for (const std::size_t one : {0, 1, 2, 4}) world.start(one);
            world.peer(2).set_team("Graz");
            world.peer(2).set_name("Ann");
            QVERIFY(world.run_until([&] { return name_at(world, 0, 2) == "Ann" && name_at(world, 1, 2) == "Ann"; },
                                    Duration{60'000}));
            world.kill(2, Death::closes_sessions);
            // Longer than a clock is wrong: what was said before says nothing of who is here.
            QVERIFY(!world.run_until([] { return false; }, peer::status_age_max + Duration{60'000}));
            world.home(3).name = "";
            world.start(3);
            const auto knows = [&] { return world.peer(3).name() == "Ann"; };
            QVERIFY2(world.run_until(knows, Duration{60'000}), at_seed(seed, "").c_str());
            QCOMPARE(world.peer(3).team(), std::string("Graz"));
            const auto shows_itself = [&] { return hears_of(world, 3, 2); };
            QVERIFY2(!world.run_until(shows_itself, Duration{20'000}), at_seed(seed, "").c_str());
        }
    }

    void another_computer_that_is_here_tells_too() {
        World world(1, {.volunteers = 3, .rounds = 40, .owners = {{2, 1}}});
        world.home(1).name = "Ann";
        world.home(2).name = "";
        world.start_all();
        QVERIFY(world.run_until([&] { return world.peer(2).name() == "Ann"; }, Duration{30'000}));
    }

    void a_name_of_its_own_stays() {
        World world(1, {.volunteers = 3, .rounds = 40, .owners = {{2, 1}}});
        world.start_all();
        world.peer(1).set_name("Ann");
        QVERIFY(world.run_until([&] { return name_at(world, 0, 1) == "Ann"; }, Duration{30'000}));
        QVERIFY(!world.run_until([&] { return world.peer(2).name() != "member 2"; }, Duration{20'000}));
    }
};

QTEST_APPLESS_MAIN(NamesTest)
#include "test_names.moc"
