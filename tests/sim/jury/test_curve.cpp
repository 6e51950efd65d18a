// The curve of a run: every member has the same, whenever it came and whoever lies, and gaps stay gaps.
#include <QTest>

#include <map>

#include "tests/sim/checks.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"
#include "tests/sim/world.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

constexpr std::uint64_t every = 5;

WorldPlan plan_of(std::size_t members, std::uint64_t rounds) {
    return {.backbones = 0,
            .volunteers = members,
            .rounds = rounds,
            .checkpoint_every = 10,
            .window = Duration{1'000},
            .collect = Duration{2'000},
            .friends = true,
            .fit_rounds = 2,
            .measure_every = every};
}

/// What honest members measure: falling, and not quite alike on different hardware.
double honest_loss(std::size_t member, RoundId round) {
    return 5.0 - 0.01 * static_cast<double>(round.value) + 0.001 * static_cast<double>(member);
}

bool reaches(World& world, std::uint64_t round) {
    return world.run_until([&] { return world.all_at(round); }, Duration{static_cast<Duration::rep>(round * 20'000)});
}

const run::LossCurve& curve_of(World& world, std::size_t member) { return world.peer(member).curve(); }

/// Rounds of the curve's points.
std::vector<std::uint64_t> rounds_of(const run::LossCurve& curve) {
    std::vector<std::uint64_t> rounds;
    for (const run::LossPoint& point : curve.points) rounds.push_back(point.round.value);
    return rounds;
}

/// Empty if all living members have the curve of member 0, which has `points` or more, each between what some honest
/// members of `size` measure.
std::string fault_of(World& world, std::size_t points) {
    const run::LossCurve& curve = curve_of(world, 0);
    if (curve.points.size() < points) return "only " + std::to_string(curve.points.size()) + " points";
    for (const run::LossPoint& point : curve.points) {
        const double loss = run::nats_of(point.loss);
        const bool is_honest =
            loss >= honest_loss(0, point.round) - 1e-6 && loss <= honest_loss(world.size(), point.round) + 1e-6;
        if (!is_honest) return "the point of round " + std::to_string(point.round.value) + " is a lie";
    }
    for (std::size_t i = 0; i < world.size(); ++i) {
        if (world.home(i).alive() && !(curve_of(world, i) == curve))
            return "member " + std::to_string(i) + " has another curve";
    }
    if (!world.divided().empty()) return world.divided();
    return agreement(world);
}

}  // namespace

class TestCurve : public QObject {
    Q_OBJECT
private slots:
    /// Three of seven sign what they like.
    void all_members_have_one_curve_that_a_lying_minority_does_not_move() {
        for (const std::uint64_t seed : seeds(3)) {
            World world(seed, plan_of(7, 60));
            world.on_measure = [](std::size_t member, RoundId round) -> std::optional<double> {
                if (member < 4) return honest_loss(member, round);
                return member == 5 ? 900.0 : 0.001;
            };
            world.start_all();
            QVERIFY(reaches(world, 45));
            const std::string fault = fault_of(world, 7);
            QVERIFY2(fault.empty(), qPrintable(QString::fromStdString(fault)));
        }
    }

    void a_late_joiner_and_a_restarted_member_have_the_hosts_curve() {
        World world(2, plan_of(6, 80));
        world.on_measure = [](std::size_t member, RoundId round) { return std::optional(honest_loss(member, round)); };
        for (std::size_t i = 0; i + 1 < world.size(); ++i) world.start(i);
        QVERIFY(reaches(world, 25));
        world.kill(2, Death::silent);
        world.start(2);
        world.start(5);
        QVERIFY(reaches(world, 40));
        const std::string fault = fault_of(world, 6);
        QVERIFY2(fault.empty(), qPrintable(QString::fromStdString(fault)));
        QVERIFY(rounds_of(curve_of(world, 5)).front() == 0);
    }

    /// It takes the curve from the chain's table, since nobody but the host has the lists of before.
    void a_newcomer_on_the_shortcut_has_the_hosts_curve_from_the_table() {
        WorldPlan plan = plan_of(5, 120);
        plan.table_every = 20;
        World world(3, plan);
        world.on_measure = [](std::size_t member, RoundId round) { return std::optional(honest_loss(member, round)); };
        for (std::size_t i = 0; i + 1 < world.size(); ++i) world.start(i);
        QVERIFY(reaches(world, 70));
        world.start(4);
        QVERIFY(reaches(world, 76));
        QVERIFY(world.home(4).ledger.kept_from(world.run()).value > 20);
        const std::string fault = fault_of(world, 12);
        QVERIFY2(fault.empty(), qPrintable(QString::fromStdString(fault)));
        QVERIFY(rounds_of(curve_of(world, 4)).front() == 0);
        QVERIFY(world.home(4).ledger.losses(world.run()) == curve_of(world, 4));
    }

    /// The only seat is a backbone without a trainer; the others are no friends of its host.
    void a_run_whose_seat_has_no_trainer_has_a_curve() {
        WorldPlan plan = plan_of(4, 60);
        plan.backbones = 1;
        plan.friends = false;
        plan.probation_rounds = 12;
        World world(4, plan);
        world.on_measure = [](std::size_t member, RoundId round) { return std::optional(honest_loss(member, round)); };
        world.start_all();
        QVERIFY(reaches(world, 30));
        const std::string fault = fault_of(world, 4);
        QVERIFY2(fault.empty(), qPrintable(QString::fromStdString(fault)));
        // Newcomers do not count.
        QVERIFY(rounds_of(curve_of(world, 0)).front() > 0);
    }

    void rounds_that_nobody_measured_stay_a_gap() {
        World world(5, plan_of(4, 60));
        world.on_measure = [](std::size_t member, RoundId round) -> std::optional<double> {
            if (round.value >= 10 && round.value < 20) return std::nullopt;
            return honest_loss(member, round);
        };
        world.start_all();
        QVERIFY(reaches(world, 32));
        const std::string fault = fault_of(world, 4);
        QVERIFY2(fault.empty(), qPrintable(QString::fromStdString(fault)));
        const std::vector<std::uint64_t> rounds = rounds_of(curve_of(world, 0));
        QVERIFY(std::find(rounds.begin(), rounds.end(), 10) == rounds.end());
        QVERIFY(std::find(rounds.begin(), rounds.end(), 15) == rounds.end());
        QVERIFY(std::find(rounds.begin(), rounds.end(), 20) != rounds.end());
    }

    /// Losses of states before it, which no list has yet, are left out.
    void the_closing_list_holds_the_losses_of_the_last_state_alone() {
        WorldPlan plan = plan_of(1, 6);
        plan.measure_every = 1;
        World world(10, plan);
        world.on_measure = [](std::size_t member, RoundId round) { return std::optional(honest_loss(member, round)); };
        world.start_all();
        const auto is_closed = [&] { return world.home(0).ledger.totals(world.run()).rounds.value == 7; };
        QVERIFY(world.run_until(is_closed, Duration{120'000}));
        QCOMPARE(rounds_of(curve_of(world, 0)).back(), std::uint64_t{6});
    }

    /// Its number is none that is due otherwise. Who joins when the run is over has the point, too.
    void the_closing_list_holds_the_losses_of_the_last_state() {
        World world(8, plan_of(5, 33));
        // The last state takes its time.
        std::map<std::size_t, int> asked;
        world.on_measure = [&](std::size_t member, RoundId round) -> std::optional<double> {
            if (round.value == 33 && ++asked[member] < 60) return std::nullopt;
            return honest_loss(member, round);
        };
        for (std::size_t i = 0; i + 1 < world.size(); ++i) world.start(i);
        const auto ends_with_its_point = [&](std::size_t member) {
            return !curve_of(world, member).points.empty() && curve_of(world, member).points.back().round.value == 33;
        };
        const auto all_have_it = [&] {
            for (std::size_t i = 0; i + 1 < world.size(); ++i)
                if (!ends_with_its_point(i)) return false;
            return true;
        };
        QVERIFY(world.run_until(all_have_it, Duration{300'000}));
        const auto trains = [&](std::size_t member) { return world.home(member).process->trainer->running(); };
        QVERIFY(world.run_until([&] { return !trains(0) && !trains(1); }, Duration{2'000}));
        world.kill(2, Death::silent);
        world.start(2);
        world.start(4);
        QVERIFY(world.run_until([&] { return ends_with_its_point(2) && ends_with_its_point(4); }, Duration{120'000}));
        const std::string fault = fault_of(world, 7);
        QVERIFY2(fault.empty(), qPrintable(QString::fromStdString(fault)));
    }

    void a_run_ends_though_nobody_measures_its_last_state() {
        World world(9, plan_of(4, 22));
        world.on_measure = [](std::size_t member, RoundId round) {
            return round.value == 22 ? std::nullopt : std::optional(honest_loss(member, round));
        };
        world.start_all();
        const auto is_closed = [&] { return world.home(0).ledger.totals(world.run()).rounds.value == 23; };
        QVERIFY(world.run_until(is_closed, Duration{300'000}));
        QCOMPARE(rounds_of(curve_of(world, 0)).back(), std::uint64_t{20});
    }

    void a_replaced_committee_takes_points_back_with_their_lists() {
        World world(6, plan_of(4, 90));
        world.on_measure = [](std::size_t member, RoundId round) { return std::optional(honest_loss(member, round)); };
        world.start_all();
        QVERIFY(reaches(world, 38));
        const std::size_t before = curve_of(world, 0).points.size();
        QVERIFY(world.peer(0).replace_committee({world.home(0).id()}, RoundId{31}).ok());
        const auto is_back = [&] {
            return world.home(0).ledger.totals(world.run()).rounds.value <= 32 &&
                   curve_of(world, 0).points.size() < before;
        };
        QVERIFY(world.run_until(is_back, Duration{60'000}));
        QVERIFY(reaches(world, 50));
        const std::string fault = fault_of(world, 8);
        QVERIFY2(fault.empty(), qPrintable(QString::fromStdString(fault)));
    }

    /// Its host is told, and nobody else.
    void the_host_of_a_run_that_gets_worse_is_told() {
        World world(7, plan_of(3, 60));
        world.on_measure = [](std::size_t, RoundId round) {
            return std::optional(round.value < 15 ? 5.0 - 0.1 * static_cast<double>(round.value) : 6.0);
        };
        world.start_all();
        const auto is_told = [&](std::size_t member) {
            return world.peer(member).view().why.reason == status::Reason::diverging;
        };
        bool guest_told = false;
        const auto host_told = [&] {
            guest_told = guest_told || is_told(1) || is_told(2);
            return is_told(0);
        };
        QVERIFY(reaches(world, 14));
        QVERIFY(!is_told(0));
        QVERIFY(world.run_until(host_told, Duration{200'000}));
        QCOMPARE(world.peer(0).view().why.round, std::uint64_t{10});
        QVERIFY(!guest_told);
    }
};

QTEST_GUILESS_MAIN(TestCurve)
#include "test_curve.moc"
