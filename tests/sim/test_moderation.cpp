// What a run's host changes while the run goes on: keys are shut out and let in, the model goes back.
#include <QTest>

#include "tests/sim/checks.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

run::AcceptList head_of(World& world, std::size_t member) { return *world.home(member).ledger.head(world.run()); }

bool contributes(const run::AcceptList& list, const PeerId& key) {
    return std::any_of(list.entries.begin(), list.entries.end(), [&](const auto& one) { return one.peer == key; });
}

/// Accepted contributions of `member` from `first` on.
std::size_t accepted_since(World& world, std::size_t member, std::uint64_t first) {
    std::size_t count = 0;
    const std::uint64_t rounds = world.home(0).ledger.totals(world.run()).rounds.value;
    for (RoundId round{first}; round.value < rounds; round = round.next()) {
        const auto list = run::AcceptList::decode(world.home(0).ledger.list(world.run(), round)->list);
        count += contributes(*list, world.home(member).id()) ? 1 : 0;
    }
    return count;
}

/// Round from which the host's action `number` was in force; 0 if it is not.
std::uint64_t in_force_from(World& world, std::uint32_t number) {
    const std::uint64_t rounds = world.home(0).ledger.totals(world.run()).rounds.value;
    for (RoundId round{0}; round.value < rounds; round = round.next()) {
        const auto list = run::AcceptList::decode(world.home(0).ledger.list(world.run(), round)->list);
        for (const run::SignedAction& one : list->actions) {
            if (one.action.number == number) return round.value + 1;
        }
    }
    return 0;
}

}  // namespace

class ModerationTest : public QObject {
    Q_OBJECT
private slots:
    void a_banned_key_contributes_no_more_until_it_is_readmitted() {
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, {.backbones = 1, .volunteers = 4, .rounds = 16});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(3); }, Duration{60'000}));
            const PeerId key = world.home(2).id();
            QCOMPARE(*world.peer(0).moderate(run::ActionKind::ban, key, {}), 1U);
            // What it trains until the ban is in force still counts, and it is not told otherwise.
            const auto is_told = [&] { return world.peer(2).view().why.reason == status::Reason::not_admitted; };
            QVERIFY(world.run_until([&] { return in_force_from(world, 1) > 0 || is_told(); }, Duration{20'000}));
            QVERIFY2(in_force_from(world, 1) > 0, at_seed(seed, "told too early").c_str());
            QVERIFY(world.run_until([&] { return world.round_of(0) >= 7; }, Duration{60'000}));
            const std::uint64_t banned = in_force_from(world, 1);
            QVERIFY(banned > 0);
            QCOMPARE(accepted_since(world, 2, banned), std::size_t{0});
            QVERIFY(accepted_since(world, 3, banned) > 0);
            QCOMPARE(*world.peer(0).moderate(run::ActionKind::readmit, key, {}), 2U);
            const std::string wrong = finish_run(world, Duration{200'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
            QVERIFY2(accepted_since(world, 2, in_force_from(world, 2)) > 0, at_seed(seed, "never let in").c_str());
        }
    }

    /// Nobody answers its questions when it is back, so the list with the ban never reaches it.
    void a_member_banned_while_away_hears_why() {
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, {.backbones = 1, .volunteers = 3, .rounds = 30});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(3); }, Duration{60'000}));
            world.kill(2, Death::closes_sessions);
            const bool all = seed % 2 == 0;  // or this one alone
            const PeerId key = all ? run::unvouched_keys : world.home(2).id();
            QCOMPARE(*world.peer(0).moderate(run::ActionKind::ban, key, {}), 1U);
            QVERIFY(world.run_until([&] { return in_force_from(world, 1) > 0; }, Duration{20'000}));
            world.start(2);
            const auto knows = [&] { return world.peer(2).view().why.reason == status::Reason::not_admitted; };
            QVERIFY2(world.run_until(knows, Duration{30'000}), at_seed(seed, "nobody told it").c_str());
            QVERIFY(accepted_since(world, 2, in_force_from(world, 1)) == 0);
            QVERIFY(world.peer(0).moderate(run::ActionKind::readmit, key, {}).ok());
            const std::string wrong = finish_run(world, Duration{300'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
            QVERIFY2(accepted_since(world, 2, in_force_from(world, 2)) > 0, at_seed(seed, "never let in").c_str());
        }
    }

    void a_closed_run_keeps_those_its_host_vouches_for_until_it_is_opened() {
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, {.backbones = 1, .volunteers = 4, .rounds = 24});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(3); }, Duration{60'000}));
            QCOMPARE(*world.peer(0).moderate(run::ActionKind::allow, world.home(2).id(), {}), 1U);
            QCOMPARE(*world.peer(0).moderate(run::ActionKind::ban, run::unvouched_keys, {}), 2U);
            QVERIFY(world.run_until([&] { return world.round_of(0) >= 8; }, Duration{100'000}));
            const std::uint64_t closed = in_force_from(world, 2);
            QVERIFY(closed > 0 && closed < 8);
            QVERIFY2(accepted_since(world, 2, closed) > 0, at_seed(seed, "nobody goes on").c_str());
            for (const std::size_t stranger : {1U, 3U, 4U}) {
                QCOMPARE(accepted_since(world, stranger, closed), std::size_t{0});
                QVERIFY(world.peer(stranger).view().why.reason == status::Reason::not_admitted);
            }
            QCOMPARE(*world.peer(0).moderate(run::ActionKind::readmit, run::unvouched_keys, {}), 3U);
            const std::string wrong = finish_run(world, Duration{300'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
            for (const std::size_t stranger : {1U, 3U, 4U})
                QVERIFY2(accepted_since(world, stranger, in_force_from(world, 3)) > 0,
                         at_seed(seed, "never let in").c_str());
        }
    }

    void a_banned_seat_goes_to_another() {
        for (const std::uint64_t seed : seeds(5)) {
            const bool has_heir = seed % 2 == 0;
            World world(seed, {.backbones = has_heir ? 5U : 4U, .volunteers = 2, .rounds = 12});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(3); }, Duration{60'000}));
            QVERIFY(world.peer(0).moderate(run::ActionKind::ban, world.home(2).id(), {}).ok());
            QVERIFY(world.run_until([&] { return world.round_of(0) >= 8; }, Duration{100'000}));
            const std::vector<PeerId> seats = world.committee_of(0);
            // With nobody to take it, it stays counted: a committee shrinks only if its host names a smaller one.
            QCOMPARE(std::count(seats.begin(), seats.end(), world.home(2).id()), has_heir ? 0 : 1);
            QCOMPARE(seats.size(), std::size_t{4});
            QVERIFY(world.divided().empty());
        }
    }

    void a_vouched_member_may_join_and_get_a_seat() {
        for (const std::uint64_t seed : seeds(3)) {
            // A run by invitation: the host and its backbone, and nobody else.
            World world(seed, {.backbones = 1, .volunteers = 4, .rounds = 16, .friends = true, .left_out = 3});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.round_of(0) >= 3; }, Duration{60'000}));
            QCOMPARE(accepted_since(world, 3, 0), std::size_t{0});
            QVERIFY(world.peer(3).view().why.reason == status::Reason::not_admitted);
            for (const std::size_t member : {2U, 3U, 4U}) {
                QVERIFY(world.peer(0).moderate(run::ActionKind::allow, world.home(member).id(), {}).ok());
            }
            const std::string wrong = finish_run(world, Duration{300'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
            QCOMPARE(world.committee_of(0).size(), std::size_t{4});
        }
    }

    void the_model_goes_back_to_a_checkpoint_everywhere() {
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, {.backbones = 1, .volunteers = 3, .rounds = 14, .checkpoint_every = 3});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(5); }, Duration{90'000}));
            world.run_for(Duration{static_cast<int>(world.rng().below(7'000))});
            const auto digest = world.home(0).ledger.digest_after(world.run(), RoundId{2});
            QVERIFY(world.peer(0).moderate(run::ActionKind::roll_back, {}, RoundId{3}).ok());
            QVERIFY(world.run_until([&] { return in_force_from(world, 1) > 0; }, Duration{3'000}));
            const std::uint64_t back = in_force_from(world, 1);
            QVERIFY(world.home(0).ledger.digest_after(world.run(), RoundId{back - 1}) == digest);
            const std::string wrong = finish_run(world, Duration{200'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
        }
    }

    void an_absent_member_follows_a_roll_back() {
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, {.backbones = 1, .volunteers = 3, .rounds = 16, .checkpoint_every = 3});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(4); }, Duration{90'000}));
            world.kill(1 + seed % 3, Death::closes_sessions);
            QVERIFY(world.peer(0).moderate(run::ActionKind::roll_back, {}, RoundId{3}).ok());
            QVERIFY(world.peer(0).moderate(run::ActionKind::ban, world.home(1).id(), {}).ok());
            QVERIFY(world.peer(0).moderate(run::ActionKind::readmit, world.home(1).id(), {}).ok());
            QVERIFY(world.run_until([&] { return world.all_at(9); }, Duration{90'000}));
            world.start_all();
            const std::string wrong = finish_run(world, Duration{200'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
            QVERIFY(in_force_from(world, 3) > 0);
        }
    }

    /// What the host has signed reaches the committee although the host goes at once.
    void an_action_outlives_its_host() {
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, {.backbones = 4, .volunteers = 3, .rounds = 12});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(2); }, Duration{60'000}));
            QVERIFY(world.peer(0).moderate(run::ActionKind::ban, world.home(5).id(), {}).ok());
            world.run_for(Duration{300});
            world.kill(0, Death::closes_sessions);
            for (const std::size_t member : {1U, 2U}) world.kill(member, Death::closes_sessions);
            world.run_for(Duration{2'000});
            for (const std::size_t member : {1U, 2U}) world.start(member);
            QVERIFY2(world.run_until([&] { return world.round_of(1) >= 8; }, Duration{100'000}),
                     at_seed(seed, "rounds stopped").c_str());
            world.start(0);
            QVERIFY(world.run_until([&] { return world.round_of(0) >= 9; }, Duration{100'000}));
            QVERIFY2(in_force_from(world, 1) > 0, at_seed(seed, "the action was forgotten").c_str());
            QVERIFY(world.divided().empty());
        }
    }

    void a_committee_without_a_quorum_is_replaced() {
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, {.backbones = 4, .volunteers = 3, .rounds = 10});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(3); }, Duration{60'000}));
            for (const std::size_t member : {2U, 3U}) world.kill(member, Death::closes_sessions);
            world.run_for(Duration{20'000});
            const std::uint64_t stuck = world.round_of(0);
            QVERIFY(stuck < 6);
            QVERIFY(world.peer(0).replace_committee({world.home(0).id()}, {}).ok());
            QVERIFY2(world.run_until([&] { return world.all_at(stuck + 3); }, Duration{60'000}),
                     at_seed(seed, "the new committee makes no rounds").c_str());
            QCOMPARE(head_of(world, 4).term, 1U);
            world.start_all();
            const std::string wrong = finish_run(world, Duration{200'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
        }
    }

    /// The host's side has no quorum and the other goes on without it; the host calls that back.
    void the_side_that_went_on_without_the_host_goes_back() {
        for (const std::uint64_t seed : seeds(10)) {
            World world(seed, {.backbones = 4, .volunteers = 4, .rounds = 14});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(3); }, Duration{60'000}));
            std::map<PeerId, int> groups;
            for (const std::size_t member : {1U, 2U, 3U, 4U, 5U}) groups[world.home(member).id()] = 1;
            world.network().split(groups);
            world.run_for(Duration{static_cast<int>(15'000 + world.rng().below(30'000))});
            const std::uint64_t further = world.round_of(1);
            QVERIFY(further > world.round_of(0));
            QVERIFY(world.peer(0).replace_committee({world.home(0).id()}, {}).ok());
            world.run_for(Duration{static_cast<int>(world.rng().below(20'000))});
            world.network().split({});
            const auto is_one = [&] {
                for (std::size_t i = 0; i < world.size(); ++i) {
                    if (head_of(world, i).term != 1) return false;
                }
                return true;
            };
            QVERIFY2(world.run_until(is_one, Duration{90'000}), at_seed(seed, "some did not go back").c_str());
            const std::string wrong = finish_run(world, Duration{300'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
        }
    }

    /// States are kept of the last rounds and of two checkpoints; a committee cannot begin before the older one.
    void no_committee_begins_where_there_is_no_state() {
        for (const std::uint64_t seed : seeds(3)) {
            World world(seed, {.backbones = 1, .volunteers = 3, .rounds = 26, .checkpoint_every = 6});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(20); }, Duration{200'000}));
            const std::vector<PeerId> alone{world.home(0).id()};
            QCOMPARE(world.peer(0).replace_committee(alone, RoundId{11}).error().code, ErrorCode::not_found);
            world.run_for(Duration{5'000});
            QCOMPARE(head_of(world, 0).term, 0U);
            QVERIFY(world.peer(0).replace_committee(alone, RoundId{13}).ok());
            const auto is_one = [&] { return head_of(world, 0).term == 1 && world.all_at(16); };
            QVERIFY2(world.run_until(is_one, Duration{90'000}), at_seed(seed, "nobody goes on").c_str());
            const std::string wrong = finish_run(world, Duration{300'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
        }
    }

    void only_the_host_moderates() {
        World world(1, {.backbones = 4, .volunteers = 2, .rounds = 4});
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(1); }, Duration{60'000}));
        const auto refused = world.peer(1).moderate(run::ActionKind::ban, world.home(5).id(), {});
        QCOMPARE(refused.error().code, ErrorCode::permission);
        QCOMPARE(world.peer(0).moderate(run::ActionKind::ban, world.home(0).id(), {}).error().code,
                 ErrorCode::invalid_argument);
        QCOMPARE(world.peer(0).moderate(run::ActionKind::roll_back, {}, RoundId{1}).error().code, ErrorCode::not_found);
        QCOMPARE(world.peer(1).replace_committee({world.home(1).id()}, {}).error().code, ErrorCode::permission);
        QCOMPARE(world.peer(0).replace_committee({world.home(5).id()}, {}).error().code, ErrorCode::invalid_argument);
        QCOMPARE(world.peer(0).replace_committee({world.home(0).id()}, RoundId{100}).error().code,
                 ErrorCode::invalid_argument);
    }
};

QTEST_APPLESS_MAIN(ModerationTest)
#include "test_moderation.moc"
