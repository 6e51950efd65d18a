// Runs of coded steps: full members add up all payloads, light ones take the step that seats have signed, and all end
// with the same state, whatever happens on the way.
#include <QTest>

#include <algorithm>

#include "tests/sim/checks.h"
#include "tests/sim/networks/coded_run.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"
#include "tests/sim/stranger.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

/// What volunteers send takes `share` tenths of the window for each payload on each link; the host's line is fast.
void use_lines(World& world, double share) {
    use_lines(world, 1, share * (static_cast<double>(coded_window.count()) / 10));
}

std::size_t light_members(World& world) {
    std::size_t light = 0;
    for (std::size_t member = 0; member < world.size(); ++member)
        light += world.home(member).alive() && world.peer(member).view().light ? 1 : 0;
    return light;
}

/// Runs to the end; the most members that were light at once, or what went wrong.
std::string run_with(World& world, std::uint64_t rounds, std::size_t& most_light) {
    world.on_list = [&](std::size_t, RoundId) { most_light = std::max(most_light, light_members(world)); };
    return finish_run(world, Duration{static_cast<Duration::rep>(rounds * 20'000)});
}

/// Bytes of payloads and steps that a round comes to for each volunteer, once all of them are light; 0 if they never
/// are.
std::uint64_t bytes_of_light_member(std::size_t volunteers) {
    World world(1, coded_plan(volunteers, 40));
    use_lines(world, 2);
    world.start_all();
    if (!world.run_until([&] { return light_members(world) == volunteers; }, Duration{200'000})) return 0;
    const auto carried = [&] { return world.network().traffic()[0].bytes; };
    const std::uint64_t begun = world.round_of(0) + 1;
    if (!world.run_until([&] { return world.all_at(begun); }, Duration{60'000})) return 0;
    const std::uint64_t before = carried();
    if (!world.run_until([&] { return world.all_at(begun + 2); }, Duration{60'000})) return 0;
    return (carried() - before) / 2 / volunteers;
}

}  // namespace

class StepsTest : public QObject {
    Q_OBJECT
private slots:
    void fast_lines_add_up_every_payload() {
        World world(1, coded_plan(4, 8));
        use_lines(world, 0.1);
        world.start_all();
        std::size_t most_light = 0;
        const std::string wrong = run_with(world, 8, most_light);
        QVERIFY2(wrong.empty(), wrong.c_str());
        QCOMPARE(most_light, std::size_t{0});
        QVERIFY(follows_rules(world));
    }

    void slow_lines_take_the_step_and_end_with_the_same_state() {
        const std::string wrong = first_wrong(seeds(4), [](std::uint64_t seed) -> std::string {
            World world(seed, coded_plan(6, 12));
            use_lines(world, 2);
            world.start_all();
            std::size_t most_light = 0;
            if (std::string failed = run_with(world, 12, most_light); !failed.empty()) return failed;
            if (most_light < 5) return "light at once: " + std::to_string(most_light);
            if (!follows_rules(world)) return "the chain does not follow the rules";
            return agreement(world);
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// Among full members it is a payload more for each member.
    void a_light_members_exchange_does_not_grow_with_the_swarm() {
        const std::uint64_t eight = bytes_of_light_member(8), many = bytes_of_light_member(24);
        qInfo("a light member's bytes of payloads and steps in a round: %llu of eight, %llu of 24",
              static_cast<unsigned long long>(eight), static_cast<unsigned long long>(many));
        QVERIFY(eight > 0 && many > 0);
        QVERIFY(many * 10 <= eight * 11);
    }

    /// Members die and return, with damaged states among them.
    void churn_leaves_light_and_full_members_alike() {
        const std::string wrong = first_wrong(seeds(4), [](std::uint64_t seed) -> std::string {
            World world(seed, coded_plan(6, 14));
            use_lines(world, 2);
            world.start_all();
            churn(world, {.killed_each_round = 0.2, .damaged = 0.2}, 1, TimePoint{Duration{90'000}});
            std::size_t most_light = 0;
            if (std::string failed = run_with(world, 14, most_light); !failed.empty()) return failed;
            return agreement(world);
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// Where nobody is light otherwise; who is two rounds behind takes payloads.
    void a_member_that_was_away_takes_the_steps_of_old_rounds() {
        for (const std::uint64_t away : {2, 5}) {
            WorldPlan plan = coded_plan(4, 14);
            plan.checkpoint_every = 50;
            World world(1, plan);
            use_lines(world, 0.1);
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(3); }, Duration{90'000}));
            const std::uint64_t left = world.round_of(4);
            world.kill(4, Death::closes_sessions);
            QVERIFY(world.run_until([&] { return world.round_of(0) >= left + away; }, Duration{90'000}));
            const auto asked = [&] {
                return world.network().traffic()[static_cast<std::size_t>(run::MessageKind::step_request)].messages;
            };
            QCOMPARE(asked(), std::uint64_t{0});
            world.start(4);
            QVERIFY(world.run_until([&] { return world.all_at(left + away + 1); }, Duration{60'000}));
            QCOMPARE(asked() > 0, away == 5);
            std::size_t most_light = 0;
            const std::string wrong = run_with(world, 14, most_light);
            QVERIFY2(wrong.empty(), wrong.c_str());
            QCOMPARE(most_light, std::size_t{0});
            QVERIFY(agreement(world).empty());
        }
    }

    /// A seat of one that signs nothing: payloads are taken after a while, and the run goes on.
    void a_step_that_nobody_signs_is_made_of_payloads() {
        World world(2, coded_plan(4, 10));
        use_lines(world, 2);
        std::uint64_t dropped = 0;
        world.network().loses = [&](const run::Envelope& envelope) {
            const bool is_step = envelope.kind == run::MessageKind::step;
            dropped += is_step ? 1 : 0;
            return is_step;
        };
        world.start_all();
        std::size_t most_light = 0;
        const std::string wrong = run_with(world, 20, most_light);
        QVERIFY2(wrong.empty(), wrong.c_str());
        QVERIFY(dropped > 0);
        QVERIFY(most_light > 0);
        QVERIFY(agreement(world).empty());
    }

    void only_seats_may_announce_a_step() {
        World world(1, coded_plan(2, 6));
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(3); }, Duration{120'000}));
        Stranger stranger(world, hostile_key(1));
        const Digest list =
            run::AcceptList::decode(world.home(1).ledger.list(world.run(), RoundId{2})->list).value().hash();
        const run::BlobRef blob = stranger.publish_payload(1);
        const auto verdict = [&](std::uint64_t round, std::uint64_t size) {
            const run::StepMessage message{RoundId{round}, list, {blob.root, size, run::BlobKind::plain, {}}, {}};
            return stranger.verdict(1, stranger.envelope(message));
        };
        QCOMPARE(verdict(2, blob.size), run::Verdict::wrong_author);
        QCOMPARE(verdict(3, blob.size), run::Verdict::wrong_author);
        QCOMPARE(verdict(3, 1U << 30U), run::Verdict::too_large);
        QCOMPARE(verdict(3, 32), run::Verdict::too_large);
        QCOMPARE(verdict(6, blob.size), run::Verdict::stale);
        QCOMPARE(stranger.verdict(1, stranger.envelope(run::StepRequest{RoundId{2}})), run::Verdict::accepted);
        QCOMPARE(stranger.verdict(1, stranger.envelope(run::StepRequest{RoundId{2}})), run::Verdict::repeated);
        QCOMPARE(stranger.verdict(1, stranger.envelope(run::StepRequest{RoundId{40}})), run::Verdict::stale);
    }

    /// Nine volunteers have a say once they are no newcomers, so that the rule is used.
    void with_centered_clip_light_and_full_members_end_with_the_same_state() {
        WorldPlan plan = coded_plan(9, 8);
        plan.robust = numerics::RobustRule::centered_clip;
        World world(1, plan);
        use_lines(world, 2);
        world.start_all();
        std::size_t most_light = 0;
        std::string wrong = run_with(world, 8, most_light);
        QVERIFY2(wrong.empty(), wrong.c_str());
        wrong = agreement(world);
        QVERIFY2(wrong.empty(), wrong.c_str());
        QVERIFY(most_light >= 5);
        const auto list = run::AcceptList::decode(world.home(0).ledger.list(world.run(), RoundId{6})->list).value();
        QVERIFY(std::ranges::count(run::with_a_say(list.entries, list.bounds), true) >= 8);
    }

    void an_exact_run_knows_no_steps() {
        WorldPlan plan = coded_plan(2, 6);
        plan.step = numerics::StepForm::exact;
        World world(1, plan);
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(2); }, Duration{120'000}));
        QCOMPARE(world.network().traffic()[static_cast<std::size_t>(run::MessageKind::step)].messages, 0U);
        Stranger stranger(world, hostile_key(1));
        const run::StepMessage message{RoundId{1}, {}, stranger.publish_payload(1), {}};
        QCOMPARE(stranger.verdict(1, stranger.envelope(message)), run::Verdict::not_allowed);
    }
};

QTEST_APPLESS_MAIN(StepsTest)
#include "test_steps.moc"
