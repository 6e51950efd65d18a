// Teams as members hear of them: through whoever passes a status on, for everybody in the run, and after their people
// have gone.
#include <QTest>

#include <algorithm>

#include "tests/sim/networks/topology.h"
#include "tests/sim/seeds.h"
#include "tests/sim/world.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

/// What `member` has heard of the person of `whose`.
std::string team_at(World& world, std::size_t member, std::size_t whose) {
    return world.home(member).ledger.credit_of(world.run(), world.home(whose).person_id()).team;
}

/// Whether every member but those that are `whose` person's has heard `team`.
bool all_heard(World& world, std::size_t whose, const std::string& team) {
    for (std::size_t i = 0; i < world.size(); ++i) {
        const bool is_its = world.home(i).person_id() == world.home(whose).person_id();
        if (!is_its && world.home(i).alive() && team_at(world, i, whose) != team) return false;
    }
    return true;
}

bool soon(World& world, std::size_t whose, const std::string& team) {
    return world.run_until([&] { return all_heard(world, whose, team); }, Duration{30'000});
}

}  // namespace

class TeamsTest : public QObject {
    Q_OBJECT
private slots:
    void a_team_reaches_everybody_and_is_ranked_alike() {
        for (const std::uint64_t seed : seeds(3)) {
            World world(seed, {.volunteers = 4, .rounds = 4});
            world.use(chain(world.size(), world.rng()));
            world.start_all();
            world.peer(1).set_team("Physics Uni Graz");
            world.peer(2).set_team("Physics Uni Graz");
            world.peer(3).set_team("Wien");
            QVERIFY2(world.run_until([&] { return world.all_at(4); }, Duration{200'000}), at_seed(seed, "").c_str());
            for (const std::size_t one : {1, 2})
                QVERIFY2(soon(world, one, "Physics Uni Graz"), at_seed(seed, "").c_str());
            QVERIFY2(soon(world, 3, "Wien"), at_seed(seed, "").c_str());
            const std::vector<std::string> own{"", "Physics Uni Graz", "Physics Uni Graz", "Wien", ""};
            const auto teams_at = [&](std::size_t member) {
                std::string text;
                const ledger::OwnClaim claim{world.home(member).id(), own[member]};
                for (const auto& team : world.home(member).ledger.teams(world.run(), claim, "", 10))
                    text +=
                        team.team + " " + std::to_string(team.tokens.value) + " " + std::to_string(team.members) + "\n";
                return text;
            };
            QCOMPARE(std::ranges::count(teams_at(0), '\n'), 2);
            for (std::size_t i = 1; i < world.size(); ++i) QCOMPARE(teams_at(i), teams_at(0));
        }
    }

    void an_absent_member_keeps_its_team_until_it_says_otherwise() {
        World world(1, {.volunteers = 3, .rounds = 40});
        world.start_all();
        world.peer(1).set_team("Graz");
        QVERIFY(soon(world, 1, "Graz"));
        world.kill(1, Death::closes_sessions);
        QVERIFY(!world.run_until([&] { return !all_heard(world, 1, "Graz"); }, Duration{20'000}));
        world.start(1);  // without a team
        QVERIFY(soon(world, 1, ""));
    }

    void a_computer_without_a_team_takes_none_from_its_person() {
        World world(1, {.volunteers = 4, .rounds = 40, .owners = {{2, 1}}});
        world.start_all();
        world.peer(1).set_team("Graz");
        QVERIFY(soon(world, 1, "Graz"));
        world.peer(2).set_team("Wien");
        QVERIFY(soon(world, 1, "Wien"));
        world.peer(2).set_team("");
        QVERIFY(soon(world, 1, "Graz"));
        world.peer(1).set_team("");
        QVERIFY(soon(world, 1, ""));
    }
};

QTEST_APPLESS_MAIN(TeamsTest)
#include "test_teams.moc"
