// What keys that anybody can make are worth in a run that is open: how far noise of many of them, all in one direction
// and larger than any honest payload, takes the model from where it comes without them. Distances are mean ones of a
// parameter from what honest members train toward.
#include <QTest>

#include <optional>
#include <string>

#include "core/base/check.h"
#include "tests/sim/checks.h"
#include "tests/sim/networks/crowd.h"
#include "tests/sim/scenario.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

constexpr std::uint64_t rounds = 14;
constexpr float vast = 1e4F;  // beside an honest movement of at most 0.3
constexpr std::size_t honest_members = 3, crowd_keys = 40;
constexpr double rms = 0.2;

using Noise = Crowd::Plan::Noise;
enum class Trust { nobody, volunteers };

struct Outcome {
    double distance = 0;       // of the last state, as a share of the first one's
    double honest_credit = 0;  // share of the honest
};

/// A run of a host that only decides and three volunteers, with `keys` liars or none.
Outcome outcome(WorldPlan plan, Trust trust, std::size_t keys, Noise direction = Noise::of_all) {
    plan.backbones = 1;
    plan.volunteers = honest_members;
    plan.rounds = rounds;
    World world(7, plan);
    world.start_all();
    for (std::size_t i = 1; i <= honest_members && trust == Trust::volunteers; ++i) {
        const auto allowed = world.peer(0).moderate(run::ActionKind::allow, world.home(i).id(), {});
        POTLUCK_CHECK(allowed.ok());
    }
    std::optional<Crowd> crowd;
    if (keys > 0)
        crowd.emplace(world, Crowd::Plan{.keys = keys, .contributors = keys, .noise = vast, .direction = direction});
    const std::string wrong = finish_run(world, rounds * Duration{16'000});
    if (!wrong.empty()) qFatal("%s", wrong.c_str());
    Outcome out;
    const std::span<const float> last = world.home(0).disk.state(RoundId{rounds}).parameters;
    out.distance = FakeTrainer::distance(last) / FakeTrainer::distance(world.initial_state());
    double honest = 0;
    for (std::size_t i = 1; i <= honest_members; ++i)
        honest += static_cast<double>(world.home(0).ledger.credit_of(world.run(), world.home(i).id()).tokens.value);
    out.honest_credit = honest / static_cast<double>(world.home(0).ledger.totals(world.run()).tokens.value);
    qInfo("keys %zu: distance %.4f of the first, honest credit %.4f", keys, out.distance, out.honest_credit);
    return out;
}

}  // namespace

class OpenDoorTest : public QObject {
    Q_OBJECT
private slots:
    /// Nobody is established, and the median of norms and of claims is the liars'. What is left to them is a step of
    /// the recipe's size a round, and four times the least claim each.
    void newcomers_that_are_alone_move_the_model_by_the_recipes_norm() {
        const WorldPlan plan{.probation_rounds = 100, .newcomer_rms = rms};
        const double alone = outcome(plan, Trust::nobody, 0).distance;
        QCOMPARE(alone,
                 outcome({.probation_rounds = 100}, Trust::nobody, 0).distance);  // which no honest payload meets
        const Outcome beside = outcome(plan, Trust::nobody, crowd_keys);
        QVERIFY(alone < 0.05);
        QVERIFY(beside.distance < 15);
        QVERIFY(beside.honest_credit > 0.015);  // 3 of 3 + 4 x 40
        const Outcome unbounded = outcome({.probation_rounds = 100}, Trust::nobody, crowd_keys);
        QVERIFY(unbounded.distance > 1'000 && unbounded.honest_credit < 1e-6);
    }

    /// All keys are past their probation, and each outweighs an honest member.
    void unvouched_keys_have_half_of_each_list() {
        const WorldPlan plan{.probation_rounds = 2, .unvouched_share = 0.5};
        const Outcome alone = outcome(plan, Trust::volunteers, 0);
        const Outcome beside = outcome(plan, Trust::volunteers, crowd_keys, Noise::of_its_own);
        QVERIFY(alone.distance < 0.01);
        QVERIFY(beside.distance < 0.05);
        QVERIFY(beside.honest_credit > 0.5);
        const Outcome together = outcome(plan, Trust::volunteers, crowd_keys);
        QVERIFY(together.distance < 1);
        const Outcome unbounded = outcome({.probation_rounds = 2}, Trust::volunteers, crowd_keys, Noise::of_its_own);
        QVERIFY(unbounded.distance > 1'000);
    }

    /// Members that joined late, were killed or came back hold the same lists and states (finish_run compares them).
    void a_member_that_comes_late_takes_the_same_bounds() {
        WorldPlan plan{.volunteers = honest_members, .rounds = rounds, .probation_rounds = 100, .newcomer_rms = 0.05};
        World world(9, plan);
        for (std::size_t i = 0; i < honest_members; ++i) world.start(i);
        Crowd crowd(world, {.keys = 10, .contributors = 10, .noise = vast});
        QVERIFY(world.run_until([&] { return world.home(0).ledger.totals(world.run()).rounds.value >= 5; },
                                Duration{200'000}));
        world.kill(1, Death::silent);
        world.start(honest_members);
        world.run_for(Duration{10'000});
        world.start(1);
        const std::string wrong = finish_run(world, rounds * Duration{16'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
};

QTEST_APPLESS_MAIN(OpenDoorTest)
#include "test_open_door.moc"
