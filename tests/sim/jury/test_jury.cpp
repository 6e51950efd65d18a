// Runs with a jury: jurors that lie, pause and return, and what becomes of a suspension.
#include <QTest>

#include "tests/sim/jury/oracle.h"
#include "tests/sim/networks/topology.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

/// Members with a seat, as member 0 has it.
std::vector<std::size_t> seated(World& world) {
    const std::vector<PeerId> committee = world.committee_of(0);
    std::vector<std::size_t> seats;
    for (std::size_t i = 0; i < world.size(); ++i) {
        if (std::find(committee.begin(), committee.end(), world.home(i).id()) != committee.end()) seats.push_back(i);
    }
    return seats;
}

}  // namespace

class TestJury final : public QObject {
    Q_OBJECT
private slots:
    /// Of seven seats two lie together: of an honest member's work they say that it is noise, and of noise that it is
    /// work.
    void jurors_that_lie_suspend_nobody_and_keep_nobody_in_and_are_named() {
        World world(1, jury_plan(10, 71));
        Oracle oracle(world, 1);
        oracle.works[9] = Work::noise;
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(5); }, Duration{300'000}));
        const std::vector<std::size_t> seats = seated(world);
        QCOMPARE(seats.size(), std::size_t{7});
        std::size_t victim = 0;
        while (victim == seats[0] || victim == seats[1]) ++victim;
        oracle.lies[seats[0]] = oracle.lies[seats[1]] = {victim};
        const std::string wrong = played(world, 70);
        QVERIFY2(wrong.empty(), wrong.c_str());
        const auto found = suspensions_in(world, 0);
        QVERIFY(!found.contains(world.home(victim).id()));
        QVERIFY(found.contains(world.home(9).id()));
        QCOMPARE(found.size(), std::size_t{1});
        const peer::JuryView view = *world.peer(0).view().jury;
        QCOMPARE(view.accused.size(), std::size_t{1});
        QVERIFY(view.accused[0].person == world.home(victim).id());
        QCOMPARE(view.accused[0].verdicts, std::size_t{2});
    }

    /// Nobody shares what a single one says, and that is seen.
    void a_juror_that_lies_alone_is_named() {
        World world(2, jury_plan(10, 91));
        Oracle oracle(world, 2);
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(5); }, Duration{300'000}));
        const std::size_t liar = seated(world)[0];
        const std::size_t victim = liar == 0 ? 1 : 0;
        oracle.lies[liar] = {victim};
        const std::string wrong = played(world, 90);
        QVERIFY2(wrong.empty(), wrong.c_str());
        QVERIFY(suspensions_in(world, 0).empty());
        const peer::JuryView view = *world.peer(victim).view().jury;
        for (const peer::JuryView::Seat& seat : view.seats)
            QCOMPARE(seat.unshared, std::size_t{seat.id == world.home(liar).id() ? 1U : 0U});
        QCOMPARE(view.against_own, std::size_t{1});
        QVERIFY(view.suspended.empty());
    }

    /// So the tests above can fail: three of seven are enough.
    void as_many_liars_as_a_verdict_needs_suspend_an_honest_member() {
        World world(3, jury_plan(10, 81));
        Oracle oracle(world, 3);
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(5); }, Duration{300'000}));
        const std::vector<std::size_t> seats = seated(world);
        std::size_t victim = 0;
        while (std::find(seats.begin(), seats.begin() + 3, victim) != seats.begin() + 3) ++victim;
        for (std::size_t i = 0; i < 3; ++i) oracle.lies[seats[i]] = {victim};
        const PeerId& id = world.home(victim).id();
        QVERIFY(world.run_until([&] { return suspensions_in(world, 0).contains(id); }, Duration{1'600'000}));
        QVERIFY(world.run_until([&] { return !world.peer(victim).view().jury->suspended.empty(); }, Duration{10'000}));
        QVERIFY(world.peer(victim).view().why.reason == status::Reason::suspended);
        const std::string wrong = played(world, 80);
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void jurors_that_pause_judge_nothing_and_go_on_later() {
        World world(4, jury_plan(10, 41));
        Oracle oracle(world, 4);
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(5); }, Duration{300'000}));
        const std::vector<std::size_t> seats = seated(world);
        std::size_t bad = 0;
        while (std::find(seats.begin(), seats.end(), bad) != seats.end()) ++bad;
        for (const std::size_t seat : seats) world.peer(seat).pause(world.now());
        world.run_for(Duration{5'000});
        oracle.works[bad] = Work::noise;
        std::uint64_t before = 0, after = 0;
        for (const std::size_t seat : seats) before += oracle.asked[seat];
        QVERIFY(world.run_until([&] { return world.all_at(15); }, Duration{300'000}));
        for (const std::size_t seat : seats) after += oracle.asked[seat];
        QCOMPARE(after, before);
        QVERIFY(suspensions_in(world, 0).empty());
        for (const std::size_t seat : seats) world.peer(seat).resume(world.now());
        const std::string wrong = played(world, 40);
        QVERIFY2(wrong.empty(), wrong.c_str());
        QVERIFY(suspensions_in(world, 0).contains(world.home(bad).id()));
    }

    /// Nobody runs long enough to measure as much as a verdict takes.
    void measurements_are_kept_over_restarts() {
        World world(6, jury_plan(6, 90));
        Oracle oracle(world, 6);
        oracle.works[5] = Work::noise;
        for (std::uint64_t round = 8; suspensions_in(world, 0).empty() && round <= 80; round += 8) {
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(round); }, Duration{300'000}));
            for (std::size_t i = 0; i < world.size(); ++i) world.kill(i, Death::silent);
        }
        QCOMPARE(suspensions_in(world, 0).size(), std::size_t{1});
        QVERIFY(suspensions_in(world, 0).contains(world.home(5).id()));
    }

    /// Measuring takes long here: what is too much for one round is saved up.
    void a_juror_takes_its_share_of_the_time_and_no_more() {
        WorldPlan plan = jury_plan(6, 60);
        World world(7, plan);
        Oracle oracle(world, 7);
        world.start_all();
        for (std::size_t i = 0; i < world.size(); ++i) world.home(i).process->trainer->time_of_subject = Duration{100};
        const TimePoint begun = world.now();
        QVERIFY(world.run_until([&] { return world.all_at(59); }, Duration{1'200'000}));
        const Duration elapsed = world.now() - begun;
        for (std::size_t i = 0; i < world.size(); ++i) {
            const peer::JuryView view = *world.peer(i).view().jury;
            const auto share = Duration{static_cast<Duration::rep>(plan.jury * static_cast<double>(elapsed.count()))};
            const Duration once = static_cast<int>(peer::subjects_min) * Duration{100};
            QVERIFY(view.time_taken <= share + once);
            if (view.measured > 0) QCOMPARE(view.time_taken, static_cast<int>(view.measured) * Duration{100});
        }
        QVERIFY(oracle.asked[seated(world).back()] >= 2 * peer::subjects_min);
    }

    /// Fifty rounds exactly, over a restart of everybody; then as a newcomer; and longer the second time.
    void a_suspension_lasts_fifty_rounds_over_a_restart_and_is_longer_the_second_time() {
        World world(5, jury_plan(6, 90));
        Oracle oracle(world, 5);
        oracle.works[5] = Work::noise;
        const PeerId bad = world.home(5).id();
        world.start_all();
        QVERIFY(world.run_until([&] { return !suspensions_in(world, 0).empty(); }, Duration{400'000}));
        const std::uint64_t round = suspensions_in(world, 0).at(bad);
        QVERIFY(world.run_until([&] { return world.all_at(round + 2); }, Duration{100'000}));
        const std::uint64_t credit = world.home(0).ledger.credit_of(world.run(), bad).tokens.value;
        for (std::size_t i = 0; i < world.size(); ++i) world.kill(i, Death::silent);
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(round + 10); }, Duration{300'000}));
        for (std::size_t i = 0; i < world.size(); ++i) {
            QVERIFY(suspended_at(world, i) == std::set<PeerId>{bad});
            QCOMPARE(world.home(i).ledger.credit_of(world.run(), bad).tokens.value, credit);
        }
        const std::string wrong = played(world, std::min<std::uint64_t>(89, round + 70));
        QVERIFY2(wrong.empty(), wrong.c_str());
        std::optional<std::uint64_t> back;
        for (RoundId at{round}; at.value < round + 70; at = at.next()) {
            const auto list = run::AcceptList::decode(world.home(0).ledger.list(world.run(), at)->list).value();
            for (const run::Accepted& entry : list.entries) {
                if (entry.peer != bad) continue;
                if (!back) back = at.value;
                QCOMPARE(entry.newcomer, at.value <= round + 50 + world.plan().probation_rounds);
            }
        }
        QVERIFY(back && *back > round + 50 && *back <= round + 53);
        const run::RunRules rules = world.peer(1).committee().rules;
        QCOMPARE(run::find_suspended(rules.suspended, bad)->times, 2U);
        QVERIFY(run::find_suspended(rules.suspended, bad)->until.value > round + 500);
    }

    void all_computers_of_the_person_are_shut_out_until_the_host_lifts_it() {
        WorldPlan plan = jury_plan(7, 40);
        plan.owners = {{5, 50}, {6, 50}};
        World world(6, plan);
        Oracle oracle(world, 6);
        oracle.works[5] = oracle.works[6] = Work::noise;
        const PeerId person = world_key(50).id();
        world.start_all();
        QVERIFY(world.run_until([&] { return suspensions_in(world, 0).contains(person); }, Duration{400'000}));
        const std::uint64_t round = suspensions_in(world, 0).at(person);
        QVERIFY(world.run_until([&] { return world.all_at(round + 5); }, Duration{100'000}));
        for (RoundId at{round}; at.value < round + 5; at = at.next()) {
            const auto list = run::AcceptList::decode(world.home(0).ledger.list(world.run(), at)->list).value();
            for (const run::Accepted& entry : list.entries) QVERIFY(entry.person() != person);
        }
        oracle.works.clear();
        QVERIFY(world.peer(0).moderate(run::ActionKind::lift, person, {}).ok());
        const std::uint64_t lifted = world.round_of(0);
        const std::string wrong = played(world, std::min<std::uint64_t>(39, lifted + 8));
        QVERIFY2(wrong.empty(), wrong.c_str());
        QVERIFY(suspended_at(world, 0).empty());
        bool counts = false;
        for (RoundId at{lifted}; at.value < lifted + 8; at = at.next()) {
            const auto list = run::AcceptList::decode(world.home(0).ledger.list(world.run(), at)->list).value();
            for (const run::Accepted& entry : list.entries) counts = counts || entry.person() == person;
        }
        QVERIFY(counts);
    }

    /// The host goes back behind the list that suspends: nobody is suspended, and no credit void, until it comes anew.
    void a_replaced_committee_takes_a_suspension_back_with_its_list() {
        World world(7, jury_plan(6, 120));
        Oracle oracle(world, 7);
        oracle.works[5] = Work::noise;
        const PeerId bad = world.home(5).id();
        world.start_all();
        QVERIFY(world.run_until([&] { return !suspensions_in(world, 0).empty(); }, Duration{400'000}));
        const std::uint64_t round = suspensions_in(world, 0).at(bad);
        QVERIFY(world.run_until([&] { return world.all_at(round + 1); }, Duration{100'000}));
        const std::uint64_t left = world.home(0).ledger.credit_of(world.run(), bad).tokens.value;
        QVERIFY(world.peer(0).replace_committee({world.home(0).id()}, RoundId{round}).ok());
        const auto is_back = [&] {
            return world.home(0).ledger.totals(world.run()).rounds.value <= round &&
                   world.peer(0).committee().rules.suspended.empty();
        };
        QVERIFY(world.run_until(is_back, Duration{60'000}));
        QVERIFY(world.home(0).ledger.credit_of(world.run(), bad).tokens.value > left);
        const std::string wrong = played(world, round + 30);
        QVERIFY2(wrong.empty(), wrong.c_str());
        QVERIFY(suspensions_in(world, 0).at(bad) >= round);
    }

    /// Who takes the sum of a round from seats checks suspensions all the same.
    void light_members_know_who_is_suspended() {
        WorldPlan plan = jury_plan(7, 61);
        plan.friends = false;
        plan.step = numerics::StepForm::coded;
        plan.width = 64;
        plan.k = plan.k_max = 1024;
        plan.window = Duration{6'000};
        plan.collect = Duration{8'000};
        World world(8, plan);
        Topology topology = mesh(world.size());
        set_speeds(topology, {Duration{10}, 1e6});
        world.use(topology);
        const std::uint64_t payload = numerics::payload_bytes_max(world.initial_state().size(), 1024);
        for (std::size_t i = 1; i < world.size(); ++i)
            world.network().limit_uplink(world.home(i).id(), static_cast<double>(payload) / 1'200);
        Oracle oracle(world, 8);
        oracle.works[5] = Work::noise;
        std::size_t light = 0;
        world.on_list = [&](std::size_t member, RoundId) { light += world.peer(member).view().light ? 1 : 0; };
        const std::string wrong = played(world, 60);
        QVERIFY2(wrong.empty(), wrong.c_str());
        QVERIFY(light > 0);
        for (std::size_t i = 0; i < world.size(); ++i)
            QVERIFY(suspended_at(world, i) == std::set<PeerId>{world.home(5).id()});
    }
};

QTEST_GUILESS_MAIN(TestJury)
#include "test_jury.moc"
