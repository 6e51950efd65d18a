// Members come late, pause, finish, and there may be many of them.
#include <QTest>

#include "tests/sim/checks.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"

using namespace potluck;
using namespace potluck::sim;

class MembersTest : public QObject {
    Q_OBJECT
private slots:
    void a_late_joiner_takes_a_checkpoint_and_the_whole_ledger() {
        for (const std::uint64_t seed : seeds(10)) {
            WorldPlan plan;
            plan.volunteers = 3;
            plan.rounds = 14;
            World world(seed, plan);
            for (std::size_t i = 0; i + 1 < world.size(); ++i) world.start(i);
            QVERIFY(world.run_until([&] { return world.all_at(9 + seed % 3); }, Duration{200'000}));
            const std::size_t late = world.size() - 1;
            world.start(late);
            const auto in_step = [&] { return world.round_of(late) >= world.round_of(0); };
            QVERIFY(world.run_until(in_step, Duration{10'000}));
            QCOMPARE(world.home(late).ledger.totals(world.run()).rounds.value, world.round_of(late));
            for (const auto& held : world.home(late).disk.held()) QVERIFY(held.round.value >= 6);
            const std::string wrong = finish_run(world, Duration{300'000});
            QVERIFY2(wrong.empty(), wrong.c_str());
            QVERIFY(world.home(0).ledger.credit_of(world.run(), world.home(late).id()).rounds > 0);
        }
    }

    void a_newcomer_after_the_end_still_gets_the_model() {
        WorldPlan plan;
        plan.rounds = 6;
        World world(1, plan);
        world.start(0);
        world.start(1);
        QVERIFY(world.run_until([&] { return world.all_at(6); }, Duration{200'000}));
        world.start(2);
        QVERIFY(world.run_until([&] { return world.round_of(2) == 6; }, Duration{30'000}));
        QCOMPARE(world.peer(2).view().digest, world.peer(0).view().digest);
        QCOMPARE(world.peer(2).view().phase, run::Phase::finished);
    }

    void pausing_keeps_the_work_and_the_books() {
        for (const std::uint64_t seed : seeds(20)) {
            World world(seed, {.volunteers = 3, .rounds = 6});
            world.start_all();
            for (int i = 0; i < 6; ++i) {
                world.run_for(Duration{static_cast<int>(500 + world.rng().below(9'000))});
                world.peer(1).pause(world.now());
                world.run_for(Duration{1'300});
                const auto at_rest = [&] {
                    const run::Phase phase = world.peer(1).view().phase;
                    return phase == run::Phase::paused || phase == run::Phase::finished;
                };
                // A list that is being applied at this moment shows first.
                QVERIFY(world.run_until(at_rest, Duration{500}));
                QVERIFY(!world.home(1).process->trainer->running());
                world.run_for(Duration{static_cast<int>(world.rng().below(6'000))});
                world.peer(1).resume(world.now());
            }
            const std::string wrong = finish_run(world, Duration{300'000});
            QVERIFY2(wrong.empty(), ("seed " + std::to_string(seed) + ": " + wrong).c_str());
        }
    }

    void a_trainer_that_is_replaced_leaves_what_it_has_trained_to_the_next_contribution() {
        World world(5, {.rounds = 4});
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(1); }, Duration{60'000}));
        world.run_for(Duration{3'000});
        QCOMPARE(world.peer(1).accounting().carried.value, std::uint64_t{0});
        world.peer(1).restart_trainer();
        const auto goes_on = [&] {
            return world.peer(1).view().phase == run::Phase::training && world.home(1).process->trainer->running();
        };
        world.run_for(Duration{300});
        QVERIFY(world.run_until(goes_on, Duration{1'500}));
        QVERIFY(world.peer(1).accounting().carried.value > 0);
        const std::string wrong = finish_run(world, Duration{100'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void a_trainer_that_does_not_answer_is_stopped_within_a_second_or_so() {
        World world(2, {});
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(1); }, Duration{60'000}));
        world.home(1).process->trainer->mute = true;
        world.peer(1).pause(world.now());
        world.run_for(Duration{1'300});
        QVERIFY(!world.home(1).process->trainer->running());
        QCOMPARE(world.peer(1).view().phase, run::Phase::paused);
    }

    void a_run_goes_on_while_everybody_pauses_and_comes_back() {
        World world(3, {.rounds = 4});
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(1); }, Duration{60'000}));
        world.peer(1).pause(world.now());
        world.peer(2).pause(world.now());
        world.run_for(Duration{60'000});
        QVERIFY(world.round_of(0) <= 2);
        world.peer(1).resume(world.now());
        const std::string wrong = finish_run(world, Duration{100'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void finishing_contributes_the_window_and_stops_training() {
        World world(4, {.rounds = 4});
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(1); }, Duration{60'000}));
        world.run_for(Duration{3'000});
        world.peer(1).finish(world.now());
        QVERIFY(world.run_until([&] { return world.all_at(2); }, Duration{30'000}));
        QCOMPARE(world.home(0).ledger.credit_of(world.run(), world.home(1).id()).rounds, 2ULL);
        QCOMPARE(world.peer(1).view().phase, run::Phase::finished);
        const std::string wrong = finish_run(world, Duration{100'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void the_model_moves_toward_what_the_volunteers_train() {
        World world(6, {.rounds = 8});
        world.start_all();
        const std::string wrong = finish_run(world, Duration{300'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
        const double before = FakeTrainer::distance(world.initial_state());
        QVERIFY(FakeTrainer::distance(world.home(0).disk.state({8}).parameters) < 0.9 * before);
    }

    void sixty_four_members_stay_in_step() {
        World world(7, {.volunteers = 63, .rounds = 3});
        world.start_all();
        const std::string wrong = finish_run(world, Duration{60'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void thirty_two_members_survive_churn() {
        World world(8, {.volunteers = 31, .rounds = 4});
        world.start_all();
        churn(world, {}, 1, world.now() + Duration{30'000});
        const std::string wrong = finish_run(world, Duration{120'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
};

QTEST_APPLESS_MAIN(MembersTest)
#include "test_members.moc"
