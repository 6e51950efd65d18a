// The committee: who proposes dies, seats are away, sides are apart, a seat lies; and seats change hands.
#include <QTest>

#include "core/run/agreement/vote.h"
#include "tests/sim/checks.h"
#include "tests/sim/crash.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"
#include "tests/sim/stranger.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

/// A committee of four backbones, and those who train.
WorldPlan four_seats(std::uint64_t rounds) { return {.backbones = 4, .volunteers = 4, .rounds = rounds}; }

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

std::size_t proposer_index(World& world) {
    for (std::size_t i = 0; i < world.size(); ++i) {
        for (std::size_t j = 0; j < world.size(); ++j) {
            if (world.home(i).alive() && world.peer(i).view().proposer == world.home(j).id()) return j;
        }
    }
    return 0;
}

}  // namespace

class SeatsTest : public QObject {
    Q_OBJECT
private slots:
    void a_proposer_killed_at_any_moment_costs_at_most_a_view_data() {
        QTest::addColumn<int>("at");
        QTest::addColumn<bool>("silent");
        for (const int at : {100, 5'950, 6'150, 6'500}) {
            for (const bool silent : {false, true}) {
                QTest::addRow("%d ms, %s", at, silent ? "silent" : "closing") << at << silent;
            }
        }
    }
    void a_proposer_killed_at_any_moment_costs_at_most_a_view() {
        QFETCH(int, at);
        QFETCH(bool, silent);
        for (const std::uint64_t seed : seeds(3)) {
            World calm(seed, four_seats(5)), hit(seed, four_seats(5));
            calm.start_all();
            hit.start_all();
            const Duration normal = time_of_round(calm, 2, Duration{at}, [] {});
            const Duration longer = time_of_round(hit, 2, Duration{at}, [&] {
                hit.kill(proposer_index(hit), silent ? Death::silent : Death::closes_sessions);
            });
            const run::Recipe& recipe = hit.manifest().recipe;
            // Its time-out and two votes without it, and the others close half of `collect` later than it would have.
            const Duration view = recipe.grace + 2 * Duration{1'500} + recipe.collect / 2;
            QVERIFY2(longer <= normal + view,
                     qPrintable(QString("seed %1: %2 beside %3 ms").arg(seed).arg(longer.count()).arg(normal.count())));
            QVERIFY(normal <= recipe.window + Duration{2'500});
        }
    }

    void without_a_quorum_nobody_moves_and_with_it_again_all_do() {
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, four_seats(6));
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(2); }, Duration{60'000}));
            world.kill(0, Death::closes_sessions);
            QVERIFY(world.run_until([&] { return world.all_at(3); }, Duration{60'000}));
            world.kill(1, Death::closes_sessions);
            world.run_for(Duration{20'000});
            const std::uint64_t stuck = world.round_of(2);
            world.run_for(Duration{60'000});
            QCOMPARE(world.round_of(2), stuck);
            QVERIFY(world.peer(4).view().why.here == 2 && world.peer(4).view().why.needed == 3);
            world.start(1);
            QVERIFY(world.run_until([&] { return world.all_at(stuck + 1); }, Duration{60'000}));
            world.start(0);
            const std::string wrong = finish_run(world, Duration{300'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
        }
    }

    void sides_that_were_apart_have_one_chain_data() {
        QTest::addColumn<int>("backbones");
        QTest::newRow("one seat") << 1;
        QTest::newRow("four seats") << 4;
        QTest::newRow("seven seats") << 7;
    }
    void sides_that_were_apart_have_one_chain() {
        QFETCH(int, backbones);
        for (const std::uint64_t seed : seeds(10)) {
            WorldPlan plan{.backbones = static_cast<std::size_t>(backbones), .volunteers = 4 + seed % 3, .rounds = 10};
            World world(seed, plan);
            world.start_all();
            world.run_for(Duration{static_cast<int>(8'000 + world.rng().below(12'000))});
            split_at_random(world);
            world.run_for(Duration{static_cast<int>(2'000 + world.rng().below(50'000))});
            const std::string apart = heal_and_meet(world, Duration{90'000});
            QVERIFY2(apart.empty(), at_seed(seed, apart).c_str());
            const std::string wrong = finish_run(world, Duration{600'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
        }
    }

    void among_friends_the_committee_grows_and_outlives_its_host() {
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, {.backbones = 1, .volunteers = 4, .rounds = 12, .friends = true, .fit_rounds = 3});
            world.start_all();
            QCOMPARE(world.first_committee().size(), 1U);
            QVERIFY(world.run_until([&] { return world.all_at(6); }, Duration{120'000}));
            QCOMPARE(world.committee_of(1).size(), 4U);
            world.kill(0, Death::silent);
            QVERIFY(world.run_until([&] { return world.all_at(11); }, Duration{200'000}));
            world.start(0);
            const std::string wrong = finish_run(world, Duration{200'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
        }
    }

    /// The seats see each other, and what the others train, only through a member that has none.
    void a_star_whose_hub_has_no_seat_goes_on() {
        std::uint64_t passed_on = 0;
        for (const std::uint64_t seed : seeds(3)) {
            World world(seed, {.backbones = 4, .volunteers = 3, .rounds = 5});
            const std::size_t hub = world.size() - 1;
            world.use(star(world.size(), hub));
            world.start_all();
            const std::string wrong = finish_run(world, Duration{300'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
            for (std::size_t i = 4; i < hub; ++i) {
                passed_on += world.home(0).ledger.credit_of(world.run(), world.home(i).id()).rounds;
            }
        }
        QVERIFY(passed_on > 0);
    }

    void strangers_get_no_seat_however_long_they_stay() {
        World world(1, {.backbones = 1, .volunteers = 6, .rounds = 20, .fit_rounds = 1});
        world.start_all();
        const std::string wrong = finish_run(world, Duration{300'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
        QCOMPARE(world.committee_of(0), world.first_committee());
    }

    void a_seat_that_proposes_two_lists_divides_nobody() {
        int expulsions = 0;
        for (const std::uint64_t seed : seeds(6)) {
            // Every other time somebody whom the host vouches for is there to take the seat.
            const bool has_heir = seed % 2 == 1;
            World world(seed, {.backbones = has_heir ? 5U : 4U, .volunteers = 4, .rounds = 8});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(2); }, Duration{60'000}));
            world.kill(0, Death::closes_sessions);
            Stranger liar(world, world_key(0));
            const run::IdentityKeyring keyring(world.home(0).identity);
            for (int second = 0; second < 40; ++second) {
                const run::AcceptList head = *world.home(1).ledger.head(world.run());
                run::AcceptList list{world.run(),
                                     0,
                                     head.round.next(),
                                     head.hash(),
                                     *world.home(1).ledger.digest_after(world.run(), head.round),
                                     head.k,
                                     head.committee,
                                     {}};
                const run::Instance instance{world.run(), 0, list.round};
                for (std::size_t i = 1; i < world.size(); ++i) {
                    list.entries.clear();
                    for (std::size_t j = 4; j < world.size(); ++j) {
                        const auto heard = liar.last(world.home(j).id(), run::MessageKind::contribution);
                        if (!heard || (i + j) % 2 == 0) continue;
                        const auto own = run::decode_body(heard->kind, heard->body);
                        const auto& message = std::get<run::ContributionMessage>(*own);
                        list.entries.push_back(
                            {world.home(j).id(), message.payload, message.tokens, false, heard->signature});
                    }
                    std::sort(list.entries.begin(), list.entries.end());
                    const run::AgreementMessage proposal =
                        run::sign(run::Proposal{instance, 0, list.hash(), {}}, keyring);
                    liar.send(i, run::BallotMessage{run::encode(proposal), list.encode()});
                    for (const run::Step step : {run::Step::prevote, run::Step::precommit}) {
                        const run::AgreementMessage vote =
                            run::sign(run::Vote{instance, 0, step, list.hash()}, keyring);
                        liar.send(i, run::BallotMessage{run::encode(vote), {}});
                    }
                }
                world.run_for(Duration{1'000});
            }
            for (std::size_t i = 1; i < world.size(); ++i) {
                const std::vector<PeerId> seats = world.committee_of(i);
                const bool is_out = std::count(seats.begin(), seats.end(), liar.id()) == 0;
                QVERIFY2(seats.size() == 4 && (has_heir || !is_out), at_seed(seed, "the committee has shrunk").c_str());
                expulsions += is_out ? 1 : 0;
            }
            QVERIFY2(world.divided().empty(), at_seed(seed, world.divided()).c_str());
            const bool moved = world.run_until([&] { return world.all_at(5); }, Duration{100'000});
            QVERIFY2(moved, at_seed(seed, "no round beside the liar").c_str());
            QVERIFY2(world.divided().empty(), at_seed(seed, world.divided()).c_str());
            // Each has the proof, and whoever has it can check it; a restart forgets nothing.
            world.kill(1, Death::silent);
            world.start(1);
            for (std::size_t i = 1; i < world.size(); ++i) {
                const std::vector<run::Evidence> evidence = world.peer(i).committee().evidence;
                QVERIFY2(evidence.size() == 1, at_seed(seed, "no evidence").c_str());
                const auto file = run::check_evidence(world.home(i).disk.load_evidence()[0], run::Ed25519Verifier());
                QVERIFY2(file.ok() && *file == evidence[0] && file->author() == liar.id(), at_seed(seed, "").c_str());
            }
        }
        QVERIFY(expulsions > 0);
    }

    void a_seat_may_die_before_any_of_its_effects_data() {
        QTest::addColumn<bool>("power");
        QTest::newRow("killed") << false;
        QTest::newRow("power lost") << true;
    }
    void a_seat_may_die_before_any_of_its_effects() {
        QFETCH(bool, power);
        std::uint64_t effect = 0;
        for (bool reached = true; reached; effect += 5) {
            World world(effect, {.backbones = 4, .volunteers = 2, .rounds = 3});
            Crash crash(world, {.member = 1, .before = effect, .loss = power ? Loss::power : Loss::process});
            world.start_all();
            const std::string wrong = finish_run(world, Duration{200'000});
            QVERIFY2(wrong.empty(), ("before effect " + std::to_string(effect) + ": " + wrong).c_str());
            for (std::size_t i = 0; i < world.size(); ++i) {
                for (const auto& [verdict, count] : world.peer(i).verdicts()) {
                    QVERIFY(verdict != run::Verdict::contradicting || count == 0);
                }
            }
            reached = crash.happened();
        }
        QVERIFY(effect > 40);
    }
};

QTEST_APPLESS_MAIN(SeatsTest)
#include "test_seats.moc"
