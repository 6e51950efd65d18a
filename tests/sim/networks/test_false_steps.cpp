// Seats that sign false steps: full members find each of them in the round of its lie, light ones by lot; the liars
// lose their seats, the run goes back where a quorum lied, honest members end with the state that F makes, and nobody
// honest is convicted.
#include <QTest>

#include <algorithm>
#include <cmath>

#include "core/proof/false_step.h"
#include "tests/sim/checks.h"
#include "tests/sim/networks/coded_run.h"
#include "tests/sim/networks/false_seats.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"
#include "tests/sim/stranger.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

WorldPlan plan_of(std::size_t backbones, std::size_t volunteers, std::uint64_t rounds) {
    WorldPlan plan = coded_plan(volunteers, rounds);
    plan.backbones = backbones;
    return plan;
}

/// Backbones have fast lines; volunteers' carry a payload in a fifth of the window on each link, so that they are light
/// after two rounds.
void use_lines(World& world) { use_lines(world, world.plan().backbones, 1'200); }

bool all_light(World& world) {
    for (std::size_t member = world.plan().backbones; member < world.size(); ++member)
        if (!world.peer(member).view().light) return false;
    return true;
}

/// What is wrong with the convictions that honest members have made, so far.
std::string wrongly_convicted(World& world, const FalseSeats& liars) {
    for (std::size_t member = 0; member < world.size(); ++member) {
        if (liars.members().contains(member)) continue;
        for (const auto& [key, lie] : world.peer(member).committee().lies) {
            if (!liars.has(key)) return "member " + std::to_string(member) + " has convicted an honest seat";
            const auto file = world.home(member).disk.load_false_step(lie.list);
            if (!file) return "member " + std::to_string(member) + " has no proof";
            const auto proven = proof::check_false_step(*file, world.run(), run::Ed25519Verifier(), 1);
            if (!proven.ok()) return proven.error().message;
            if (std::ranges::find(proven->seats, key) == proven->seats.end()) return "the proof names another seat";
            if (proven->round != lie.round) return "the proof names another round";
        }
    }
    return {};
}

/// How many honest members know of all the liars.
std::size_t informed(World& world, const FalseSeats& liars) {
    std::size_t count = 0;
    for (std::size_t member = 0; member < world.size(); ++member) {
        if (!liars.members().contains(member) && world.peer(member).committee().lies.size() == liars.members().size())
            ++count;
    }
    return count;
}

/// Rounds until a lie in each of them is found with this certainty, by so many light members (audit_lot.h).
double rounds_until_found(double members, double odds, double certainty) {
    return std::log(1 - certainty) / (members * std::log1p(-odds));
}

/// From now on `member` hears of steps from the liars alone, and not what lists have led to where others sit.
void keep_in_the_dark(World& world, std::size_t member, const FalseSeats& liars) {
    std::map<PeerId, std::size_t> seats;
    for (std::size_t seat = 0; seat < world.plan().backbones; ++seat) seats.emplace(world.home(seat).id(), seat);
    world.network().rewrites = [&world, &liars, seats, id = world.home(member).id(), lie = world.network().rewrites](
                                   const PeerId& from, const PeerId& to,
                                   const run::Envelope& envelope) -> std::optional<run::Envelope> {
        const auto seat = seats.find(envelope.sender);
        if (to != id || seat == seats.end()) return lie(from, to, envelope);
        if (envelope.kind == run::MessageKind::step && !liars.has(envelope.sender)) return std::nullopt;
        if (envelope.kind != run::MessageKind::status) return lie(from, to, envelope);
        auto status = std::get<run::StatusMessage>(run::decode_body(envelope.kind, envelope.body).value());
        status.list = {};
        return sealed(world.home(seat->second).identity, world.run(), status);
    };
}

bool sits(World& world, const FalseSeats& liars) {
    return std::ranges::any_of(world.committee_of(0), [&](const PeerId& seat) { return liars.has(seat); });
}

}  // namespace

class FalseStepsTest : public QObject {
    Q_OBJECT
private slots:
    void false_seats_lose_their_seats_within_three_rounds_data() {
        QTest::addColumn<int>("liars");
        QTest::newRow("one of four") << 1;
        QTest::newRow("two of four, on whose word light members act") << 2;
    }
    /// Those who have a spare backbone for each of their seats.
    void false_seats_lose_their_seats_within_three_rounds() {
        QFETCH(int, liars);
        const std::string wrong = first_wrong(seeds(3), [&](std::uint64_t seed) -> std::string {
            World world(seed, plan_of(6, 4, 16));
            use_lines(world);
            world.start_all();
            if (!world.run_until([&] { return all_light(world); }, Duration{200'000})) return "not all became light";
            std::set<std::size_t> members;
            const std::vector<PeerId> seats = world.committee_of(0);
            for (std::size_t i = 1; i < world.size() && members.size() < static_cast<std::size_t>(liars); ++i)
                if (std::ranges::find(seats, world.home(i).id()) != seats.end()) members.insert(i);
            FalseSeats bad(world, members, RoundId{world.round_of(0) + 1}, Falsified::steps);
            const auto lied = [&] { return bad.lies() >= members.size(); };
            if (!world.run_until(lied, Duration{60'000})) return "nobody lied";
            const auto known = [&] { return informed(world, bad) >= seats.size() - members.size(); };
            if (!world.run_until(known, Duration{3'000})) return "full members did not find it at once";
            if (!world.run_until([&] { return !sits(world, bad); }, Duration{60'000})) return "the liars still sit";
            // Two can keep the others from expelling them, so the host takes over; one cannot.
            if (world.home(0).ledger.head(world.run())->term != (liars == 1 ? 0U : 1U)) return "another term";
            const std::uint64_t rounds = world.round_of(0) - bad.first_lie()->value;
            if (rounds > 4) return "it took " + std::to_string(rounds) + " rounds to expel them";
            bad.stop();
            if (std::string failed = finish_run(world, Duration{400'000}); !failed.empty()) return failed;
            return wrongly_convicted(world, bad);
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// The next list tells it that it was misled, before it has audited anything.
    void a_light_member_that_seats_have_misled_is_mended_and_does_not_blame_its_computer() {
        World world(1, plan_of(4, 3, 16));
        use_lines(world);
        world.start_all();
        QVERIFY(world.run_until([&] { return all_light(world); }, Duration{200'000}));
        const std::size_t misled = world.size() - 1;
        FalseSeats bad(world, {1, 2}, RoundId{world.round_of(0) + 1}, Falsified::steps);
        keep_in_the_dark(world, misled, bad);
        QVERIFY(world.run_until([&] { return world.peer(misled).view().repairs > 0; }, Duration{60'000}));
        QVERIFY(!world.peer(misled).view().calculates_differently);
        QVERIFY(world.peer(misled).committee().lies.empty());
        bad.stop();
        const std::string wrong = finish_run(world, Duration{600'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
        QVERIFY(wrongly_convicted(world, bad).empty());
    }

    /// Three of four certify a false state; the host alone is honest, and has to name itself.
    void a_quorum_that_lies_is_replaced_and_the_run_goes_back() {
        const std::string wrong = first_wrong(seeds(3), [](std::uint64_t seed) -> std::string {
            World world(seed, plan_of(4, 5, 14));
            use_lines(world);
            world.start_all();
            if (!world.run_until([&] { return all_light(world); }, Duration{200'000})) return "not all became light";
            FalseSeats bad(world, {1, 2, 3}, RoundId{world.round_of(0) + 1}, Falsified::states);
            const auto replaced = [&] { return world.committee_of(0).size() == 1; };
            if (!world.run_until(replaced, Duration{60'000})) return "the host did not take over";
            const auto again = world.home(0).ledger.list(world.run(), *bad.first_lie());
            if (!again || run::AcceptList::decode(again->list)->term != 1)
                return "the false round was not decided anew";
            bad.stop();
            if (world.committee_of(0) != std::vector{world.home(0).id()}) return "another than the host decides";
            if (std::string failed = finish_run(world, Duration{600'000}); !failed.empty()) return failed;
            if (sits(world, bad)) return "a liar sits again";
            return wrongly_convicted(world, bad);
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// A full member without a seat waits for the host, which is away, and does not follow the liars; the host learns
    /// from it what they have signed.
    void a_quorum_that_lies_while_the_host_is_away_is_found_when_it_returns() {
        const std::string wrong = first_wrong(seeds(3), [](std::uint64_t seed) -> std::string {
            WorldPlan plan = plan_of(5, 4, 16);
            plan.checkpoint_every = 50;
            World world(seed, plan);
            use_lines(world);
            const std::size_t watcher = 4;
            for (std::size_t member = 5; member < world.size(); ++member)
                world.network().link(world.home(member).id(), world.home(watcher).id(), {Duration{10}, 1e6});
            world.start_all();
            if (!world.run_until([&] { return all_light(world); }, Duration{200'000})) return "not all became light";
            if (world.peer(watcher).view().light) return "the watcher is light";
            const std::uint64_t now = world.round_of(0);
            FalseSeats bad(world, {1, 2, 3}, RoundId{now + 1}, Falsified::states);
            if (!world.run_until([&] { return world.round_of(0) == now + 1; }, Duration{30'000})) return "no round";
            world.kill(0, Death::closes_sessions);
            const auto goes_on = [&] { return world.round_of(1) >= now + 4; };
            if (!world.run_until(goes_on, Duration{90'000})) return "the liars did not go on";
            if (world.peer(watcher).committee().lies.size() != 3) return "the watcher did not find them";
            if (world.round_of(watcher) > now + 2) return "the watcher has followed the liars";
            bad.stop();
            world.start(0);
            const auto replaced = [&] { return world.committee_of(0) == std::vector{world.home(0).id()}; };
            if (!world.run_until(replaced, Duration{90'000})) return "the host did not take over";
            if (std::string failed = finish_run(world, Duration{600'000}); !failed.empty()) return failed;
            return wrongly_convicted(world, bad);
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// A liar's word stays a lie after a restart of those who have heard it.
    void a_conviction_outlives_the_process() {
        World world(1, plan_of(5, 3, 12));
        use_lines(world);
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(2); }, Duration{60'000}));
        FalseSeats bad(world, {1}, RoundId{3}, Falsified::steps);
        QVERIFY(world.run_until([&] { return !world.peer(0).committee().lies.empty(); }, Duration{60'000}));
        bad.stop();
        world.kill(0, Death::closes_sessions);
        world.start(0);
        QVERIFY(world.run_until([&] { return !world.peer(0).committee().lies.empty(); }, Duration{5'000}));
        QVERIFY(world.peer(0).committee().lies.contains(world.home(1).id()));
        QVERIFY(wrongly_convicted(world, bad).empty());
        const std::string wrong = finish_run(world, Duration{400'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
        QVERIFY(!sits(world, bad));
    }

    /// Nobody but light members looks at the word of the only seat, which falsifies every round.
    void light_members_find_by_lot_what_no_full_member_sees() {
        constexpr std::size_t volunteers = 8;
        double odds = 0;
        std::vector<std::uint64_t> rounds_until;
        const std::string wrong = first_wrong(seeds(5), [&](std::uint64_t seed) -> std::string {
            World world(seed, plan_of(1, volunteers, 200));
            use_lines(world);
            world.start_all();
            if (!world.run_until([&] { return all_light(world); }, Duration{200'000})) return "not all became light";
            FalseSeats bad(world, {0}, RoundId{world.round_of(0) + 1}, Falsified::states);
            const auto found = [&] {
                for (std::size_t member = 1; member < world.size(); ++member)
                    if (!world.peer(member).committee().lies.empty()) return true;
                return false;
            };
            const bool is_found = world.run_until(found, Duration{200 * 12'000});
            const auto list = run::AcceptList::decode(world.home(0).ledger.list(world.run(), *bad.first_lie())->list);
            std::uint64_t payloads = 0;
            for (const run::Accepted& entry : list->entries) payloads += entry.payload.size;
            odds = peer::audit_odds(bad.step_bytes(), payloads);
            if (!is_found) return "nobody found it";
            rounds_until.push_back(world.round_of(0) - bad.first_lie()->value);
            return wrongly_convicted(world, bad);
        });
        QVERIFY2(wrong.empty(), wrong.c_str());
        const double needed = rounds_until_found(volunteers, odds, 0.999);
        std::string seen;
        for (const std::uint64_t rounds : rounds_until) seen += " " + std::to_string(rounds);
        qInfo("%zu light members that audit with odds of %.4f find a lie with 99.9 %% in %.0f rounds; seen:%s",
              volunteers, odds, needed, seen.c_str());
        // An audit's payloads take up to four rounds to come.
        for (const std::uint64_t rounds : rounds_until) QVERIFY(static_cast<double>(rounds) <= needed + 5);
    }

    /// What an honest seat has signed of other rounds, said again, and a stranger's words in its name.
    void an_honest_seat_cannot_be_made_a_liar() {
        World world(1, plan_of(4, 3, 12));
        world.start_all();
        Stranger stranger(world, hostile_key(1));
        QVERIFY(world.run_until([&] { return world.all_at(5); }, Duration{120'000}));
        std::vector<run::Envelope> heard;
        for (std::size_t seat = 0; seat < 4; ++seat) {
            const auto last = stranger.last(world.home(seat).id(), run::MessageKind::step);
            QVERIFY(last.has_value());
            heard.push_back(*last);
        }
        for (std::size_t member = 0; member < world.size(); ++member) {
            for (run::Envelope one : heard) {
                (void)stranger.verdict(member, one);
                run::StepMessage message = std::get<run::StepMessage>(run::decode_body(one.kind, one.body).value());
                message.step.size += 1;
                one.body = run::encode_body(message);
                const run::Verdict verdict = stranger.verdict(member, one);
                const bool is_own = one.sender == world.home(member).id();
                QCOMPARE(verdict, is_own ? run::Verdict::repeated : run::Verdict::bad_signature);
                (void)stranger.verdict(member, stranger.envelope(message));
            }
        }
        const std::string wrong = finish_run(world, Duration{400'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
        for (std::size_t member = 0; member < world.size(); ++member)
            QVERIFY(world.peer(member).committee().lies.empty());
    }
};

QTEST_APPLESS_MAIN(FalseStepsTest)
#include "test_false_steps.moc"
