// Members die and return, messages are lost, leaders fall: the run goes on, all agree, the books balance.
#include <QTest>

#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

WorldPlan plan_of(std::uint64_t seed) {
    Rng rng(seed * 77);
    WorldPlan plan;
    plan.backbones = rng.below(3);
    plan.volunteers = 2 + rng.below(7);
    plan.rounds = 5 + rng.below(4);
    plan.checkpoint_every = 2 + rng.below(4);
    plan.links.loss = rng.below(2) == 0 ? 0 : 0.1 * rng.unit();
    plan.links.delay_max = Duration{static_cast<int>(20 + rng.below(300))};
    return plan;
}

template <class Scenario>
void for_seeds(std::uint64_t usual, Scenario scenario) {
    for (const std::uint64_t seed : seeds(usual)) {
        const std::string wrong = scenario(seed);
        QVERIFY2(wrong.empty(), ("seed " + std::to_string(seed) + ": " + wrong).c_str());
    }
}

}  // namespace

class ChurnTest : public QObject {
    Q_OBJECT
private slots:
    void lost_and_reordered_messages_change_nothing() {
        for_seeds(40, [](std::uint64_t seed) {
            WorldPlan plan = plan_of(seed);
            plan.links.loss = 0.2;
            World world(seed, plan);
            world.start_all();
            return finish_run(world, Duration{600'000});
        });
    }

    void thirty_percent_killed_in_every_round_do_no_harm() {
        for_seeds(100, [](std::uint64_t seed) {
            World world(seed, plan_of(seed));
            world.start_all();
            churn(world, {.trainer_crash = 0.05}, 0, world.now() + Duration{50'000});
            return finish_run(world, Duration{600'000});
        });
    }

    void damaged_states_are_repaired() {
        for_seeds(60, [](std::uint64_t seed) {
            World world(seed, plan_of(seed));
            world.start_all();
            churn(world, {.damaged = 0.5}, 0, world.now() + Duration{50'000});
            return finish_run(world, Duration{600'000});
        });
    }

    void states_damaged_under_a_running_member_do_not_divide_the_run() {
        for_seeds(40, [](std::uint64_t seed) {
            World world(seed, plan_of(seed));
            world.start_all();
            const Churn rates{.damaged = 0.3, .damaged_alive = 0.15, .trainer_crash = 0.1};
            churn(world, rates, 0, world.now() + Duration{50'000});
            return finish_run(world, Duration{600'000});
        });
    }
};

QTEST_APPLESS_MAIN(ChurnTest)
#include "test_churn.moc"
