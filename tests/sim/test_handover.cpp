// Seats that are handed over: who quits, shuts down or sleeps in an orderly way leaves nobody waiting.
#include <QTest>

#include "tests/sim/checks.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

std::size_t alive_count(World& world) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < world.size(); ++i) count += world.home(i).alive() ? 1 : 0;
    return count;
}

std::uint64_t furthest(World& world) {
    std::uint64_t round = 0;
    for (std::size_t i = 0; i < world.size(); ++i) round = std::max(round, world.round_of(i));
    return round;
}

}  // namespace

class HandoverTest : public QObject {
    Q_OBJECT
private slots:
    void the_only_seat_is_handed_over_at_any_moment_data() {
        QTest::addColumn<int>("at");
        for (const int at : {50, 1'000, 4'000, 5'950, 6'150, 6'700, 7'500}) QTest::addRow("%d ms", at) << at;
    }
    void the_only_seat_is_handed_over_at_any_moment() {
        QFETCH(int, at);
        for (const std::uint64_t seed : seeds(5)) {
            // Three members: too few for a committee of four.
            World world(seed, {.backbones = 1, .volunteers = 2, .rounds = 12, .friends = true});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(2); }, Duration{60'000}));
            world.run_for(Duration{at});
            const TimePoint asked = world.now();
            world.quit(0);
            const Duration took = world.now() - asked;
            // Two seconds for the vote, and what a job under way, the last snapshot and payloads under way take first.
            QVERIFY2(took <= Duration{3'000}, at_seed(seed, std::to_string(took.count()) + " ms").c_str());
            // Who has the seat knows it; who heard nothing before its sender went asks others after two heartbeats.
            const auto knows = [&](std::size_t member) {
                return world.committee_of(member) != world.first_committee();
            };
            QVERIFY2(knows(1) || knows(2), at_seed(seed, "the seat has gone").c_str());
            QVERIFY2(world.run_until([&] { return knows(1) && knows(2); }, Duration{3'000}),
                     at_seed(seed, "a member was not told").c_str());
            const std::uint64_t before = world.round_of(1);
            QVERIFY2(world.run_until([&] { return world.all_at(before + 3); }, Duration{40'000}),
                     at_seed(seed, "rounds stopped").c_str());
            world.start(0);
            const std::string wrong = finish_run(world, Duration{200'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
        }
    }

    void the_last_member_keeps_its_seat_when_it_leaves() {
        World world(1, {.backbones = 1, .volunteers = 1, .rounds = 6, .friends = true});
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(2); }, Duration{60'000}));
        world.quit(1);
        const TimePoint asked = world.now();
        world.quit(0);
        QVERIFY(world.now() - asked <= Duration{300});
        QCOMPARE(world.committee_of(0), world.first_committee());
        world.start_all();
        const std::string wrong = finish_run(world, Duration{200'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// In an open run nobody else may have the seat: the others wait, and nothing is lost.
    void strangers_inherit_no_seat() {
        World world(1, {.backbones = 1, .volunteers = 3, .rounds = 8});
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(3); }, Duration{60'000}));
        world.quit(0);
        const std::uint64_t left_at = world.round_of(1);
        world.run_for(Duration{60'000});
        QVERIFY(world.round_of(1) <= left_at + 1);
        const status::Why why = world.peer(1).view().why;
        QVERIFY(why.here == 0 && why.needed == 1);
        world.start(0);
        const std::string wrong = finish_run(world, Duration{200'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// The other three vote for it only because they were told that the fourth is about to go.
    void one_of_four_goes_and_no_round_is_lost_data() {
        QTest::addColumn<bool>("sleeps");
        QTest::newRow("quits") << false;
        QTest::newRow("sleeps") << true;
    }
    void one_of_four_goes_and_no_round_is_lost() {
        QFETCH(bool, sleeps);
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, {.backbones = 1, .volunteers = 5, .rounds = 14, .friends = true});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(6); }, Duration{120'000}));
            QCOMPARE(world.committee_of(0).size(), 4U);
            const PeerId leaver = world.committee_of(0)[seed % 4];
            std::size_t gone = 0;
            while (world.home(gone).id() != leaver) ++gone;
            if (sleeps) {
                QVERIFY2(world.put_to_sleep(gone, Duration{60'000}), at_seed(seed, "still has its seat").c_str());
            } else {
                world.quit(gone);
            }
            const std::size_t witness = gone == 0 ? 1 : 0;
            const std::vector<PeerId> seats = world.committee_of(witness);
            QCOMPARE(std::count(seats.begin(), seats.end(), leaver), 0);
            QVERIFY2(world.run_until([&] { return world.all_at(12); }, Duration{70'000}), at_seed(seed, "").c_str());
            world.start_all();
            const std::string wrong = finish_run(world, Duration{200'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
        }
    }

    /// Rounds go on while it sleeps, and minutes later it is in step again without a restart.
    void a_sleeping_member_hands_its_seat_over_and_comes_back_data() {
        QTest::addColumn<int>("seconds");
        // Sessions outlast the first and not the second.
        for (const int seconds : {60, 240}) QTest::addRow("%d s", seconds) << seconds;
    }
    void a_sleeping_member_hands_its_seat_over_and_comes_back() {
        QFETCH(int, seconds);
        const Duration time{1'000 * seconds};
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, {.backbones = 0, .volunteers = 3, .rounds = 70, .friends = true});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(4); }, Duration{60'000}));
            world.run_for(Duration{static_cast<int>(world.rng().below(7'000))});
            QCOMPARE(world.committee_of(0), std::vector{world.home(0).id()});
            QVERIFY2(world.put_to_sleep(0, time), at_seed(seed, "still has its seat").c_str());
            QVERIFY2(world.committee_of(0) != world.first_committee(),
                     at_seed(seed, "the seat is where it was").c_str());
            const std::uint64_t asleep_at = world.round_of(1);
            world.run_for(time - Duration{1'000});
            const std::uint64_t rounds = world.round_of(1) - asleep_at;
            // Each window is six seconds.
            QVERIFY2(rounds >= static_cast<std::uint64_t>(seconds) / 9, at_seed(seed, std::to_string(rounds)).c_str());
            QVERIFY2(world.run_until([&] { return world.round_of(0) >= world.round_of(1); }, Duration{30'000}),
                     at_seed(seed, "not in step").c_str());
            const std::uint64_t awake_at = world.round_of(0);
            QVERIFY(world.run_until([&] { return world.all_at(awake_at + 2); }, Duration{40'000}));
            QVERIFY2(world.peer(0).view().phase != run::Phase::leaving, at_seed(seed, "still leaving").c_str());
            // It contributes again, and may have a seat again: the others leave theirs to it.
            world.quit(1);
            world.quit(2);
            const auto contributes = [&] {
                const auto head = world.home(0).ledger.head(world.run());
                return world.committee_of(0) == world.first_committee() && head->entries.size() == 1;
            };
            QVERIFY2(world.run_until(contributes, Duration{40'000}), at_seed(seed, "no seat").c_str());
            QVERIFY2(world.divided().empty(), at_seed(seed, world.divided()).c_str());
        }
    }

    void a_member_whose_sleep_is_cancelled_goes_on() {
        World world(1, {.backbones = 0, .volunteers = 1, .rounds = 8, .friends = true});
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(2); }, Duration{60'000}));
        world.peer(0).begin_sleep(world.now());
        QCOMPARE(world.peer(0).view().phase, run::Phase::leaving);
        QVERIFY(world.peer(0).may_sleep());  // nobody is here who could take the seat
        world.peer(0).end_sleep(world.now());
        QVERIFY(world.peer(0).view().phase != run::Phase::leaving);
    }

    void a_leaving_member_goes_although_its_sleep_was_cancelled() {
        World world(1, {.backbones = 0, .volunteers = 3, .rounds = 8, .friends = true});
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(2); }, Duration{60'000}));
        world.peer(0).begin_sleep(world.now());
        world.peer(0).begin_leaving(world.now());
        world.peer(0).end_sleep(world.now());
        QCOMPARE(world.peer(0).view().phase, run::Phase::leaving);
        QVERIFY(world.run_until([&] { return world.peer(0).may_leave(); }, Duration{3'000}));
        QVERIFY(world.committee_of(0) != world.first_committee());
    }

    /// As people do with theirs: each computer is on for some hours and off for some, and never are all off.
    void computers_that_take_turns_for_a_week_lose_no_round() {
        constexpr std::uint64_t rounds = 2'016;  // of five minutes
        // A week takes as long as hundreds of the other runs.
        std::vector<std::uint64_t> few = seeds(1);
        few.resize(std::max<std::size_t>(1, few.size() / 10));
        for (const std::uint64_t seed : few) {
            World world(seed,
                        {.backbones = 0, .volunteers = 3, .rounds = rounds, .checkpoint_every = 10, .friends = true});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(3); }, Duration{60'000}));
            std::uint64_t stalls = 0, turns = 0;
            for (std::uint64_t before = furthest(world), after = 0; after < rounds; before = after, ++turns) {
                const std::size_t member = world.rng().below(world.size());
                if (!world.home(member).alive()) {
                    world.start(member);
                } else if (alive_count(world) > 1) {
                    world.quit(member);
                }
                const Duration hours{static_cast<int>(30'000 + world.rng().below(300'000))};
                world.run_for(hours);
                after = furthest(world);
                // At the least every second window has made a round.
                if (after < std::min(rounds, before + static_cast<std::uint64_t>(hours.count()) / 12'000)) ++stalls;
            }
            QCOMPARE(stalls, 0U);
            QVERIFY(turns > 20);
            QVERIFY2(world.divided().empty(), world.divided().c_str());
        }
    }
};

QTEST_APPLESS_MAIN(HandoverTest)
#include "test_handover.moc"
