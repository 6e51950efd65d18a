// Nothing that was trained is lost or sent twice, in each coordinate, whatever happens to messages and windows.
#include <QTest>

#include "tests/sim/checks.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

/// Eight rounds without decay of the error feedback, so that movement is conserved.
WorldPlan plan_of(std::uint64_t seed) {
    WorldPlan plan;
    plan.backbones = seed % 5;
    plan.friends = seed % 3 == 0;
    plan.volunteers = 4 + seed % 3;
    plan.rounds = 8;
    plan.error_decay = 1;
    return plan;
}

std::string finished(World& world) {
    const std::string wrong = finish_run(world, Duration{600'000});
    return wrong.empty() ? movement(world) : wrong;
}

template <class Scenario>
void for_seeds(std::uint64_t usual, Scenario scenario) {
    for (const std::uint64_t seed : seeds(usual)) {
        const std::string wrong = scenario(seed);
        QVERIFY2(wrong.empty(), ("seed " + std::to_string(seed) + ": " + wrong).c_str());
    }
}

}  // namespace

class MovementTest : public QObject {
    Q_OBJECT
private slots:
    void movement_is_conserved_when_nothing_goes_wrong() {
        for_seeds(6, [](std::uint64_t seed) {
            World world(seed, plan_of(seed));
            world.start_all();
            return finished(world);
        });
    }

    void movement_is_conserved_when_messages_are_lost() {
        for_seeds(15, [](std::uint64_t seed) {
            WorldPlan plan = plan_of(seed);
            plan.links.loss = 0.2;
            World world(seed, plan);
            world.start_all();
            return finished(world);
        });
    }

    void movement_is_conserved_when_payloads_come_after_the_list() {
        for_seeds(15, [](std::uint64_t seed) {
            WorldPlan plan = plan_of(seed);
            plan.links.delay_max = Duration{2'500};
            plan.links.blob_delay_max = Duration{2'500};
            World world(seed, plan);
            world.start_all();
            return finished(world);
        });
    }

    void movement_is_conserved_when_encoding_outlasts_the_round() {
        for_seeds(15, [](std::uint64_t seed) {
            WorldPlan plan = plan_of(seed);
            plan.answer_max = Duration{5'000};
            World world(seed, plan);
            world.start_all();
            return finished(world);
        });
    }

    void movement_is_conserved_when_members_pause() {
        for_seeds(15, [](std::uint64_t seed) {
            World world(seed, plan_of(seed));
            world.start_all();
            const std::size_t member = world.size() - 1;
            for (int i = 0; i < 6; ++i) {
                world.run_for(Duration{static_cast<int>(500 + world.rng().below(9'000))});
                world.peer(member).pause(world.now());
                world.run_for(Duration{static_cast<int>(1'300 + world.rng().below(6'000))});
                world.peer(member).resume(world.now());
            }
            return finished(world);
        });
    }

    void movement_is_conserved_when_trainers_are_replaced() {
        for_seeds(15, [](std::uint64_t seed) {
            World world(seed, plan_of(seed));
            world.start_all();
            const std::size_t member = world.size() - 1;
            for (int i = 0; i < 6; ++i) {
                world.run_for(Duration{static_cast<int>(500 + world.rng().below(9'000))});
                world.peer(member).restart_trainer();
            }
            return finished(world);
        });
    }

    void movement_is_conserved_when_the_members_were_divided() {
        for_seeds(20, [](std::uint64_t seed) {
            World world(seed, plan_of(seed));
            world.start_all();
            world.run_for(Duration{static_cast<int>(8'000 + world.rng().below(12'000))});
            split_at_random(world);
            world.run_for(Duration{static_cast<int>(2'000 + world.rng().below(50'000))});
            world.heal();
            return finished(world);
        });
    }
};

QTEST_APPLESS_MAIN(MovementTest)
#include "test_movement.moc"
