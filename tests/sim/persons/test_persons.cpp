// People with several computers: each computer trains, votes and is counted as present by itself; credit, trust, bans
// and the weight of a list are the person's.
#include <QTest>

#include <algorithm>
#include <memory>
#include <optional>

#include "core/run/agreement/keyring.h"
#include "tests/sim/checks.h"
#include "tests/sim/scenario.h"
#include "tests/sim/seeds.h"
#include "tests/sim/stranger.h"

using namespace potluck;
using namespace potluck::sim;

namespace {

std::vector<run::AcceptList> lists_at(World& world, std::size_t member) {
    std::vector<run::AcceptList> lists;
    const std::uint64_t rounds = world.home(member).ledger.totals(world.run()).rounds.value;
    for (RoundId round{0}; round.value < rounds; round = round.next()) {
        lists.push_back(*run::AcceptList::decode(world.home(member).ledger.list(world.run(), round)->list));
    }
    return lists;
}

std::size_t accepted_since(World& world, std::size_t member, std::uint64_t first) {
    std::size_t count = 0;
    for (const run::AcceptList& list : lists_at(world, 0)) {
        const auto is_its = [&](const run::Accepted& one) { return one.peer == world.home(member).id(); };
        if (list.round.value >= first && std::any_of(list.entries.begin(), list.entries.end(), is_its)) ++count;
    }
    return count;
}

/// Round from which the host's action `number` was in force; 0 if it is not.
std::uint64_t in_force_from(World& world, std::uint32_t number) {
    for (const run::AcceptList& list : lists_at(world, 0)) {
        for (const run::SignedAction& one : list.actions) {
            if (one.action.number == number) return list.round.value + 1;
        }
    }
    return 0;
}

/// What the entries of `person` weigh in a list, and what all do.
struct Share {
    std::uint64_t own = 0, all = 0;
    std::size_t entries = 0;
    bool is_newcomer = false;
};

Share share_of(const run::AcceptList& list, const PeerId& person) {
    Share share;
    const std::vector<TokenCount> weights = run::weights_of(list);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const bool is_its = list.entries[i].person() == person;
        share.all += weights[i].value;
        share.own += is_its ? weights[i].value : 0;
        share.entries += is_its ? 1 : 0;
        share.is_newcomer = share.is_newcomer || (is_its && list.entries[i].newcomer);
    }
    return share;
}

/// The most tokens of anybody else, each of whom has one computer.
std::uint64_t most_of_others(const run::AcceptList& list, const PeerId& person) {
    std::uint64_t most = 0;
    for (const run::Accepted& entry : list.entries) {
        if (entry.person() != person) most = std::max(most, entry.tokens.value);
    }
    return most;
}

/// Computers of one person, each with its session, which contribute noise with as many tokens as can be named.
class Crowd {
public:
    Crowd(World& world, const identity::Identity& person, std::uint8_t count) {
        for (std::uint8_t number = 1; number <= count; ++number) {
            m_computers.push_back(std::make_unique<Stranger>(world, hostile_key(number)));
            m_certificates.push_back(run::certify(person, m_computers.back()->id()));
        }
    }
    [[nodiscard]] std::size_t size() const { return m_computers.size(); }
    /// Those from `first` to before `end`, to the round whose state has this digest.
    void contribute(RoundId round, const StateDigest& base, std::size_t first, std::size_t end) {
        for (std::size_t i = first; i < end; ++i) {
            const run::BlobRef payload = m_computers[i]->publish_payload(0.01F);
            m_computers[i]->broadcast(
                run::ContributionMessage{round, base, payload, {run::tokens_max}, m_certificates[i]});
        }
    }

private:
    std::vector<std::unique_ptr<Stranger>> m_computers;
    std::vector<run::DeviceCertificate> m_certificates;
};

}  // namespace

class PersonsTest : public QObject {
    Q_OBJECT
private slots:
    void two_computers_of_a_person_train_and_their_credit_is_one() {
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, {.volunteers = 4, .rounds = 6, .owners = {{2, 1}}});
            world.start_all();
            const std::string wrong = finish_run(world, Duration{200'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
            const PeerId person = world.home(1).id();
            std::uint64_t tokens = 0, rounds = 0;
            for (const run::AcceptList& list : lists_at(world, 0)) {
                const Share share = share_of(list, person);
                tokens += share.own;
                rounds += share.entries > 0 ? 1 : 0;
            }
            QVERIFY2(accepted_since(world, 1, 0) > 0 && accepted_since(world, 2, 0) > 0, at_seed(seed, "").c_str());
            for (std::size_t i = 0; i < world.size(); ++i) {
                const ledger::Credit credit = world.home(i).ledger.credit_of(world.run(), person);
                QCOMPARE(credit.tokens.value, tokens);
                QCOMPARE(credit.rounds, rounds);
                QCOMPARE(world.home(i).ledger.credit_of(world.run(), world.home(2).id()).rounds, 0U);
                QCOMPARE(world.home(i).ledger.leaderboard(world.run(), 10).size(), std::size_t{3});
            }
        }
    }

    void another_computer_of_an_old_member_is_no_newcomer() {
        for (const std::uint64_t seed : seeds(3)) {
            World world(seed, {.volunteers = 4, .rounds = 10, .probation_rounds = 3});
            World owned(seed, {.volunteers = 4, .rounds = 10, .probation_rounds = 3, .owners = {{4, 3}}});
            for (World* one : {&world, &owned}) {
                for (std::size_t i = 0; i + 1 < one->size(); ++i) one->start(i);
                QVERIFY(one->run_until([&] { return one->all_at(5); }, Duration{100'000}));
                one->start(4);
                const std::string wrong = finish_run(*one, Duration{200'000});
                QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
                bool was_newcomer = false, was_there = false;
                for (const run::AcceptList& list : lists_at(*one, 0)) {
                    for (const run::Accepted& entry : list.entries) {
                        if (entry.peer != one->home(4).id()) continue;
                        was_newcomer = was_newcomer || entry.newcomer;
                        was_there = true;
                    }
                }
                QVERIFY(was_there);
                QCOMPARE(was_newcomer, one == &world);
            }
        }
    }

    /// Four computers that are fit, of three people, are no committee of four.
    void a_person_has_one_seat() {
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, {.volunteers = 3, .rounds = 14, .friends = true, .owners = {{2, 1}}});
            world.start_all();
            const std::string wrong = finish_run(world, Duration{300'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
            QCOMPARE(world.committee_of(0).size(), std::size_t{1});
        }
    }

    /// Also where nobody's key is a computer's, the host's neither, and somebody has three computers.
    void computers_get_and_hold_seats() {
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, {.volunteers = 6,
                               .rounds = 14,
                               .friends = true,
                               .owners = {{0, 100}, {1, 101}, {2, 102}, {3, 103}, {4, 103}, {5, 103}, {6, 100}}});
            QCOMPARE(world.first_committee(), std::vector{world.home(0).id()});
            world.start_all();
            const std::string wrong = finish_run(world, Duration{300'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
            QCOMPARE(world.committee_of(0).size(), std::size_t{4});
        }
    }

    void a_seat_goes_to_another_computer_of_the_same_person() {
        for (const std::uint64_t seed : seeds(3)) {
            World world(seed, {.volunteers = 4, .rounds = 40, .friends = true, .owners = {{4, 3}}});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(2); }, Duration{60'000}));
            QVERIFY(world.run_until([&] { return world.committee_of(0).size() == 4; }, Duration{200'000}));
            // Until everybody has seen for long enough that the other computer is there, a seat is left empty.
            const std::uint64_t seen = world.round_of(0) + 1;
            QVERIFY(world.run_until([&] { return world.all_at(seen); }, Duration{60'000}));
            const auto seats = world.committee_of(0);
            const bool has_3 = std::count(seats.begin(), seats.end(), world.home(3).id()) == 1;
            const std::size_t seated = has_3 ? 3 : 4;
            world.quit(seated);
            const std::size_t other = 7 - seated;
            const auto is_taken = [&] {
                const auto now = world.committee_of(0);
                return std::count(now.begin(), now.end(), world.home(other).id()) == 1;
            };
            QVERIFY2(world.run_until(is_taken, Duration{100'000}), at_seed(seed, "the seat stays empty").c_str());
            QVERIFY2(world.divided().empty(), at_seed(seed, world.divided()).c_str());
        }
    }

    void a_ban_shuts_out_all_computers_of_a_person() {
        for (const std::uint64_t seed : seeds(5)) {
            World world(seed, {.volunteers = 4, .rounds = 18, .owners = {{3, 2}}});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(3); }, Duration{60'000}));
            // Whichever of them is pointed at.
            QVERIFY(world.peer(0).moderate(run::ActionKind::ban, world.home(3).id(), {}).ok());
            QVERIFY(world.run_until([&] { return world.round_of(0) >= 8; }, Duration{100'000}));
            const std::uint64_t banned = in_force_from(world, 1);
            QVERIFY(banned > 0);
            QCOMPARE(accepted_since(world, 2, banned) + accepted_since(world, 3, banned), std::size_t{0});
            QVERIFY(accepted_since(world, 4, banned) > 0);
            QVERIFY(world.peer(0).moderate(run::ActionKind::readmit, world.home(2).id(), {}).ok());
            const std::string wrong = finish_run(world, Duration{300'000});
            QVERIFY2(wrong.empty(), at_seed(seed, wrong).c_str());
            const std::uint64_t back = in_force_from(world, 2);
            QVERIFY2(accepted_since(world, 2, back) > 0 && accepted_since(world, 3, back) > 0,
                     at_seed(seed, "never let in").c_str());
        }
    }

    void an_invitation_is_for_all_computers_of_a_person() {
        for (const std::uint64_t seed : seeds(3)) {
            // Members 2 and 4 are one person's, which is on the list; member 3 is not.
            World world(seed, {.volunteers = 4, .rounds = 10, .friends = true, .left_out = 2, .owners = {{4, 2}}});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.round_of(0) >= 5; }, Duration{100'000}));
            QVERIFY2(accepted_since(world, 2, 0) > 0 && accepted_since(world, 4, 0) > 0,
                     at_seed(seed, "an invited person's computer is not let in").c_str());
            QCOMPARE(accepted_since(world, 3, 0), std::size_t{0});
        }
    }

    void a_host_moderates_from_any_of_its_computers() {
        World world(2, {.volunteers = 3, .rounds = 8, .owners = {{1, 0}}});
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(2); }, Duration{60'000}));
        QVERIFY(!world.peer(2).moderate(run::ActionKind::ban, world.home(3).id(), {}).ok());
        QVERIFY(world.peer(1).moderate(run::ActionKind::ban, world.home(3).id(), {}).ok());
        QVERIFY(!world.peer(1).moderate(run::ActionKind::ban, world.home(1).id(), {}).ok());
        const std::string wrong = finish_run(world, Duration{200'000}, {3});
        QVERIFY2(wrong.empty(), wrong.c_str());
        QVERIFY(in_force_from(world, 1) > 0);
    }

    void a_replaced_committee_is_of_computers_of_different_people() {
        World world(2, {.volunteers = 4, .rounds = 10, .friends = true, .owners = {{1, 101}, {2, 101}}});
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(2); }, Duration{60'000}));
        const auto id = [&](std::size_t member) { return world.home(member).id(); };
        QVERIFY(!world.peer(0).replace_committee({id(0), id(1), id(2), id(3)}, {}).ok());
        // A person's key stands for the computer by which it is here.
        QVERIFY(world.peer(0).replace_committee({id(0), world.home(1).person_id(), id(3), id(4)}, {}).ok());
        const std::string wrong = finish_run(world, Duration{200'000});
        QVERIFY2(wrong.empty(), wrong.c_str());
        const auto seats = world.committee_of(0);
        QCOMPARE(std::count(seats.begin(), seats.end(), id(1)) + std::count(seats.begin(), seats.end(), id(2)), 1);
    }

    /// What one key may weigh is what all keys of a person may.
    void many_computers_of_a_person_weigh_no_more_than_one_data() {
        QTest::addColumn<bool>("is_old");
        QTest::newRow("a newcomer") << false;
        QTest::newRow("of long standing") << true;
    }
    void many_computers_of_a_person_weigh_no_more_than_one() {
        QFETCH(const bool, is_old);
        for (const std::uint64_t seed : seeds(2)) {
            World world(seed, {.volunteers = 5, .rounds = 9});
            world.start_all();
            QVERIFY(world.run_until([&] { return world.all_at(4); }, Duration{100'000}));
            // A member's key that was stolen, or a key of its own.
            const identity::Identity person = is_old ? world_key(5) : hostile_key(200);
            Crowd crowd(world, person, 40);
            while (world.round_of(0) < 8) {
                const peer::PeerView now = world.peer(0).view();
                crowd.contribute(now.round, now.digest, 0, crowd.size());
                QVERIFY(world.run_until([&] { return world.round_of(0) > now.round.value; }, Duration{60'000}));
            }
            std::size_t entries = 0, as_newcomer = 0;
            for (const run::AcceptList& list : lists_at(world, 0)) {
                const Share share = share_of(list, person.id());
                if (list.round.value < 4) continue;
                entries += share.entries;
                as_newcomer += share.is_newcomer ? 1 : 0;
                QVERIFY(share.entries <= run::devices_per_person_max);
                QVERIFY2(share.own <= 4 * most_of_others(list, person.id()), at_seed(seed, "too heavy").c_str());
                QVERIFY2(!share.is_newcomer || 5 * share.own <= share.all, at_seed(seed, "no newcomer").c_str());
            }
            QVERIFY2(entries > 4, at_seed(seed, "nothing was accepted").c_str());
            // Sixteen entries in one round are one round of probation.
            QVERIFY2(as_newcomer == (is_old ? 0U : 2U), at_seed(seed, std::to_string(as_newcomer)).c_str());
            QVERIFY2(agreement(world).empty(), at_seed(seed, agreement(world)).c_str());
        }
    }

    /// What is late and what is in time are offered apart, and a list that held all of both would be none.
    void late_and_timely_offers_of_a_person_share_its_places() {
        World world(3, {.volunteers = 3, .rounds = 10, .rounds_late_max = 1});
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(2); }, Duration{60'000}));
        Crowd crowd(world, hostile_key(200), 32);
        std::optional<peer::PeerView> before;
        while (world.round_of(0) < 8) {
            const peer::PeerView now = world.peer(0).view();
            crowd.contribute(now.round, now.digest, 0, 16);
            if (before) crowd.contribute(before->round, before->digest, 16, 32);
            QVERIFY(world.run_until([&] { return world.round_of(0) > now.round.value; }, Duration{30'000}));
            before = now;
        }
        bool are_both_there = false;
        for (const run::AcceptList& list : lists_at(world, 0)) {
            std::size_t late = 0, timely = 0;
            for (const run::Accepted& entry : list.entries) {
                if (entry.person() == hostile_key(200).id()) ++(entry.late ? late : timely);
            }
            QVERIFY(late + timely <= run::devices_per_person_max);
            are_both_there = are_both_there || (late > 0 && timely > 0);
        }
        QVERIFY(are_both_there);
    }

    void a_persons_computer_needs_the_persons_signature() {
        World world(1, {.volunteers = 3, .rounds = 20, .owners = {{2, 1}}});
        world.start_all();
        QVERIFY(world.run_until([&] { return world.all_at(2); }, Duration{60'000}));
        Stranger stranger(world, hostile_key(1));
        const peer::PeerView view = world.peer(0).view();
        run::StatusMessage status = view.members.front().status;
        run::ContributionMessage own{view.round, view.digest, stranger.publish_payload(0.01F), {1'000}, {}};
        const run::DeviceCertificate others = run::certify(world_key(1), world.home(2).id());
        const run::DeviceCertificate forged = {world.home(1).id(),
                                               run::certify(hostile_key(1), stranger.id()).signature};
        for (const run::DeviceCertificate& certificate : {others, forged}) {
            status.certificate = own.certificate = certificate;
            ++status.sequence;
            QCOMPARE(stranger.verdict(0, stranger.envelope(status)), run::Verdict::bad_signature);
            QCOMPARE(stranger.verdict(0, stranger.envelope(own)), run::Verdict::bad_signature);
        }
        own.certificate = run::certify(world_key(1), stranger.id());
        QCOMPARE(stranger.verdict(0, stranger.envelope(own)), run::Verdict::accepted);
    }
};

QTEST_APPLESS_MAIN(PersonsTest)
#include "test_persons.moc"
