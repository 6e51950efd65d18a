// Members die and return, messages are lost, states are damaged: the run goes on, all agree, the books balance.
#include <QTest>

#include "tests/sim/checks.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

WorldPlan plan_of(std::uint64_t seed) {
    Rng rng(seed * 77);
    WorldPlan plan;
    plan.backbones = rng.below(5);
    plan.friends = rng.below(2) == 0;
    plan.volunteers = 2 + rng.below(7);
    plan.rounds = 5 + rng.below(4);
    plan.checkpoint_every = 2 + rng.below(4);
    plan.links.loss = rng.below(2) == 0 ? 0 : 0.1 * rng.unit();
    plan.links.delay_max = Duration{static_cast<int>(20 + rng.below(300))};
    plan.rounds_late_max = seed % 4 == 0 ? 0 : 1;
    return plan;
}

template <class Scenario>
void for_seeds(std::uint64_t usual, Scenario scenario) {
    for (const std::uint64_t seed : seeds(usual)) {
        const std::string wrong = scenario(seed);
        QVERIFY2(wrong.empty(), ("seed " + std::to_string(seed) + ": " + wrong).c_str());
    }
}

/// In a run in which nothing is damaged whoever computed a digest got the right one.
std::string finish_unharmed(World& world, DigestOrigins& all) {
    const std::string wrong = finish_run(world, Duration{600'000});
    if (!wrong.empty()) return wrong;
    const DigestOrigins origins = digest_origins(world);
    all.computed += origins.computed;
    all.copied += origins.copied;
    if (origins.wrong > 0) return std::to_string(origins.wrong) + " computed digests are wrong";
    return {};
}

/// Digests that were copied from lists prove nothing; they are told apart from those that were computed.
void report(const DigestOrigins& all) {
    qInfo("%llu digests computed, %llu copied", static_cast<unsigned long long>(all.computed),
          static_cast<unsigned long long>(all.copied));
    QVERIFY(all.computed > 4 * all.copied);
}

}  // namespace

class ChurnTest : public QObject {
    Q_OBJECT
private slots:
    void lost_and_reordered_messages_change_nothing() {
        DigestOrigins all;
        for_seeds(40, [&](std::uint64_t seed) {
            WorldPlan plan = plan_of(seed);
            plan.links.loss = 0.2;
            World world(seed, plan);
            world.start_all();
            return finish_unharmed(world, all);
        });
        report(all);
    }

    void thirty_percent_killed_in_every_round_do_no_harm() {
        DigestOrigins all;
        for_seeds(100, [&](std::uint64_t seed) {
            World world(seed, plan_of(seed));
            world.start_all();
            churn(world, {.trainer_crash = 0.05}, 0, world.now() + Duration{50'000});
            return finish_unharmed(world, all);
        });
        report(all);
    }

    void damaged_states_are_repaired() {
        for_seeds(60, [](std::uint64_t seed) {
            World world(seed, plan_of(seed));
            world.start_all();
            churn(world, {.damaged = 0.5}, 0, world.now() + Duration{50'000});
            return finish_run(world, Duration{600'000});
        });
    }

    /// A member that comes back one list behind waits seconds for that list's payloads, and the next answer would bring
    /// the same list again.
    void a_list_that_waits_to_be_applied_is_not_requested_again_at_once() {
        std::size_t questions = 0;
        for_seeds(20, [&](std::uint64_t seed) -> std::string {
            WorldPlan plan{.volunteers = 4, .rounds = 8};
            plan.links.blob_delay_min = Duration{5'000};
            plan.links.blob_delay_max = Duration{9'000};
            World world(seed, plan);
            std::map<std::pair<PeerId, Bytes>, std::vector<TimePoint>> asked;
            world.network().on_send = [&](const PeerId& from, const PeerId&, const run::Envelope& envelope) {
                if (envelope.kind == run::MessageKind::history_request)
                    asked[{from, envelope.body}].push_back(world.now());
            };
            world.start_all();
            churn(world, {.away_min = Duration{4'000}}, 1, world.now() + Duration{40'000});
            const std::string wrong = finish_run(world, Duration{600'000});
            for (const auto& [question, times] : asked) {
                questions += times.size();
                for (std::size_t i = 1; i < times.size(); ++i) {
                    const auto pause = (times[i] - times[i - 1]).count();
                    if (pause < 900)
                        return "the same history was asked for again after " + std::to_string(pause) + " ms";
                }
            }
            return wrong;
        });
        QVERIFY(questions >= seeds(20).size());
    }

    void states_damaged_under_a_running_member_do_not_divide_the_run() {
        int sound = 0, all = 0;
        for_seeds(40, [&](std::uint64_t seed) {
            WorldPlan plan = plan_of(seed);
            plan.damage_may_spread = true;
            World world(seed, plan);
            world.start_all();
            const Churn rates{.damaged = 0.3, .damaged_alive = 0.15, .trainer_crash = 0.1};
            churn(world, rates, 0, world.now() + Duration{50'000});
            const std::string wrong = finish_run(world, Duration{600'000});
            ++all;
            sound += follows_rules(world) ? 1 : 0;
            return wrong;
        });
        qInfo("%d of %d runs ended with what F gives", sound, all);
        QVERIFY(10 * sound >= 9 * all);
    }
};

QTEST_APPLESS_MAIN(ChurnTest)
#include "test_churn.moc"
