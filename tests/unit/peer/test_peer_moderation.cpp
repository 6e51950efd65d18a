// What a host has signed and no list holds yet: what is taken, what is kept, and what the next list should hold.
#include <QTemporaryDir>
#include <QTest>

#include <sqlite3.h>

#include "core/peer/chain/moderation.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;
using run::Verdict;

namespace {

using Numbers = std::vector<std::uint32_t>;

Numbers numbers_of(const std::vector<run::SignedAction>& actions) {
    Numbers numbers;
    for (const run::SignedAction& one : actions) numbers.push_back(one.action.number);
    return numbers;
}

struct Bench : Fixture {
    Verdict receive(std::uint32_t number) { return moderation.receive(by_host(ban_of(5, number))); }
    Verdict receive_roll_back(std::uint32_t number) { return moderation.receive(by_host(roll_back_to(0, {}, number))); }
    /// The next list brings the bans of these numbers into force.
    void put_into_chain(const Numbers& numbers) {
        run::AcceptList list = unsigned_list_of({});
        for (const std::uint32_t number : numbers) list.actions.push_back(by_host(ban_of(5, number)));
        POTLUCK_CHECK(chain.append(committed(list, {1}), StateDigest{}).ok());
        moderation.settle();
    }
    [[nodiscard]] Numbers due() const { return numbers_of(moderation.due()); }
    [[nodiscard]] Numbers pending() const { return numbers_of(moderation.pending()); }

    Moderation moderation{context, chain, ledger, errors};
};

}  // namespace

class PeerModerationTest : public QObject {
    Q_OBJECT
private slots:
    void an_action_is_taken_once_and_is_on_disk_then() {
        Bench bench;
        const run::SignedAction action = Bench::by_host(ban_of(5, 1));
        QCOMPARE(bench.moderation.receive(action), Verdict::accepted);
        QVERIFY(bench.ledger.actions(bench.context.run) == std::vector{action});
        QVERIFY(bench.moderation.pending() == std::vector{action});
        QCOMPARE(bench.moderation.receive(action), Verdict::repeated);
    }

    void a_flood_of_shut_out_keys_costs_one_look_a_second() {
        Bench bench;
        QCOMPARE(bench.receive(1), Verdict::accepted);
        const PeerId banned = key_of(5).id();
        for (int i = 0; i < 10; ++i) bench.moderation.tell_why_shut_out(banned, banned);
        QCOMPARE(bench.swarm.sent_to.size(), std::size_t{1});
        QVERIFY(bench.swarm.sent_to[0].first == banned);
        bench.context.set_now(bench.context.now() + shut_out_told_apart);
        bench.moderation.tell_why_shut_out(banned, banned);
        QCOMPARE(bench.swarm.sent_to.size(), std::size_t{2});
    }

    void another_action_of_the_same_number_changes_nothing() {
        Bench bench;
        const run::SignedAction first = Bench::by_host(ban_of(5, 1));
        QCOMPARE(bench.moderation.receive(first), Verdict::accepted);
        QCOMPARE(bench.moderation.receive(Bench::by_host(ban_of(6, 1))), Verdict::repeated);
        QVERIFY(bench.moderation.due() == std::vector{first});
        QVERIFY(bench.ledger.actions(bench.context.run) == std::vector{first});
    }

    void an_action_in_force_is_known() {
        Bench bench;
        bench.put_into_chain({1, 2});
        QCOMPARE(bench.receive(1), Verdict::repeated);
        QCOMPARE(bench.receive(2), Verdict::repeated);
        QCOMPARE(bench.receive(3), Verdict::accepted);
    }

    void so_many_may_wait_and_not_one_more() {
        Bench bench;
        QCOMPARE(actions_waiting_max, 256U);
        QCOMPARE(bench.receive(actions_waiting_max + 1), Verdict::flood);
        QCOMPARE(bench.receive(actions_waiting_max), Verdict::accepted);
        bench.put_into_chain({1});
        QCOMPARE(bench.receive(actions_waiting_max + 2), Verdict::flood);
        QCOMPARE(bench.receive(actions_waiting_max + 1), Verdict::accepted);
        QCOMPARE(bench.receive(run::action_number_max), Verdict::flood);
    }

    void an_action_that_cannot_be_stored_is_not_accepted() {
        const QTemporaryDir folder;
        const std::string file = folder.filePath("ledger").toStdString();
        Bench bench;
        bench.ledger = std::move(ledger::Ledger::open(file)).value();
        sqlite3* other = nullptr;
        QCOMPARE(sqlite3_open(file.c_str(), &other), SQLITE_OK);
        QCOMPARE(sqlite3_exec(other, "DROP TABLE actions", nullptr, nullptr, nullptr), SQLITE_OK);
        QCOMPARE(sqlite3_close(other), SQLITE_OK);
        QCOMPARE(bench.receive(1), Verdict::stale);
        run::HostAction replaces = action_of(run::ActionKind::replace, 1, 1);
        replaces.term = 1;
        replaces.committee = ids_of({1});
        QCOMPARE(bench.moderation.receive(Bench::by_host(replaces)), Verdict::stale);
        QVERIFY(!bench.chain.last_replacement());
        QVERIFY(bench.due().empty() && bench.pending().empty());
        QVERIFY(!bench.errors.last().empty());
        QCOMPARE(bench.moderation.next_number(), 1U);
    }

    void the_next_list_holds_the_next_numbers_without_a_gap() {
        Bench bench;
        QVERIFY(bench.due().empty());
        QCOMPARE(bench.receive(2), Verdict::accepted);
        QVERIFY(bench.due().empty());
        QCOMPARE(bench.receive(4), Verdict::accepted);
        QCOMPARE(bench.receive(1), Verdict::accepted);
        QVERIFY(bench.due() == (Numbers{1, 2}));
        QVERIFY(bench.pending() == (Numbers{1, 2, 4}));
        QCOMPARE(bench.receive(3), Verdict::accepted);
        QVERIFY(bench.due() == (Numbers{1, 2, 3, 4}));
    }

    void the_next_list_holds_sixteen_actions_at_most() {
        Bench bench;
        for (std::uint32_t number = 1; number <= 20; ++number) QCOMPARE(bench.receive(number), Verdict::accepted);
        QCOMPARE(bench.due().size(), run::actions_per_list_max);
        QCOMPARE(bench.due().back(), 16U);
        bench.put_into_chain(bench.due());
        QVERIFY(bench.due() == (Numbers{17, 18, 19, 20}));
    }

    void a_roll_back_comes_alone_and_in_its_turn() {
        Bench bench;
        QCOMPARE(bench.receive(1), Verdict::accepted);
        QCOMPARE(bench.receive(2), Verdict::accepted);
        QCOMPARE(bench.receive_roll_back(3), Verdict::accepted);
        QCOMPARE(bench.receive(4), Verdict::accepted);
        QVERIFY(bench.due() == (Numbers{1, 2}));
        QVERIFY(!bench.moderation.roll_back_due());
        bench.put_into_chain({1, 2});
        QVERIFY(bench.due() == Numbers{3});
        QVERIFY(bench.moderation.roll_back_due());
        bench.put_into_chain({3});
        QVERIFY(bench.due() == Numbers{4});
        QVERIFY(!bench.moderation.roll_back_due());
    }

    void a_roll_back_behind_a_gap_is_not_due() {
        Bench bench;
        QVERIFY(!bench.moderation.roll_back_due());
        QCOMPARE(bench.receive_roll_back(2), Verdict::accepted);
        QVERIFY(!bench.moderation.roll_back_due());
    }

    void an_action_in_force_waits_no_more() {
        Bench bench;
        for (const std::uint32_t number : {1U, 2U, 3U}) QCOMPARE(bench.receive(number), Verdict::accepted);
        bench.put_into_chain({1, 2});
        QVERIFY(bench.pending() == Numbers{3});
        QVERIFY(bench.due() == Numbers{3});
        bench.put_into_chain({});
        QVERIFY(bench.pending() == Numbers{3});
    }

    void the_host_signs_the_number_behind_all_that_it_has_signed() {
        Bench bench;
        QCOMPARE(bench.moderation.next_number(), 1U);
        QCOMPARE(bench.receive(1), Verdict::accepted);
        QCOMPARE(bench.moderation.next_number(), 2U);
        bench.put_into_chain({1, 2, 3});
        QCOMPARE(bench.moderation.next_number(), 4U);
        QCOMPARE(bench.receive(6), Verdict::accepted);
        QCOMPARE(bench.moderation.next_number(), 7U);
    }

    void waiting_actions_survive_a_restart_and_those_in_force_wait_no_more() {
        Bench bench;
        for (const std::uint32_t number : {1U, 2U, 4U}) QCOMPARE(bench.receive(number), Verdict::accepted);
        bench.put_into_chain({1});
        ChainLog chain(bench.context, bench.ledger, bench.keyring);
        chain.load();
        Moderation next(bench.context, chain, bench.ledger, bench.errors);
        next.load();
        QVERIFY(numbers_of(next.pending()) == (Numbers{2, 4}));
        QVERIFY(numbers_of(next.due()) == Numbers{2});
        QCOMPARE(next.next_number(), 5U);
        QCOMPARE(next.receive(Bench::by_host(ban_of(5, 1))), Verdict::repeated);
    }
};

QTEST_APPLESS_MAIN(PeerModerationTest)
#include "test_peer_moderation.moc"
