// What lists come to, chains that begin with it, and lists that are forgotten.
#include <QTest>

#include "core/ledger/ledger.h"
#include "tests/unit/ledger/ledger_chain.h"
#include "tests/unit/ledger/ledger_file.h"

using namespace potluck;
using namespace potluck::test;
using ledger::Ledger;
using potluck::run::CreditTable;

namespace {

run::RunRules rules_of(const Chain& chain) { return {chain.run(), Chain::first_committee()[0], {}, {}}; }

/// A list that names what all before it come to in `ledger`, and takes it there.
run::CommittedList add_with_table(Ledger& ledger, Chain& chain, std::vector<Chain::Share> shares) {
    const Bytes content = ledger.table(rules_of(chain)).encode();
    run::AcceptList list = chain.draft(std::move(shares));
    list.table = run::table_ref(content);
    const run::CommittedList committed = chain.commit(list);
    const auto round = static_cast<std::int64_t>(list.round.value);
    const Status added = ledger.append(committed, id<StateDigest>(list.round.value + 1), 1000 + round, content);
    return added.ok() ? committed : run::CommittedList{};
}

/// Six lists, of which the fifth has a table; the committee changes with the second and with the fourth.
struct LongChain {
    LongChain() {
        for (std::uint64_t round = 0; round < 4; ++round) {
            if (round == 1) chain.hand_over({2'000'001});
            if (round == 3) chain.hand_over({2'000'002});
            lists.push_back(chain.next({{1, 10 + round}, {2 + round % 2, 20}}));
            added = added && add(full, lists.back()).ok();
        }
        lists.push_back(add_with_table(full, chain, {{1, 50}, {9, 60}}));
        lists.push_back(chain.next({{9, 70}}));
        added = added && add(full, lists.back()).ok();
    }
    /// Where a ledger begins that holds nothing before the list with the table.
    [[nodiscard]] ledger::Beginning beginning() const {
        return {full.tables(chain.run()).at(0).content,
                full.committee_changes(chain.run(), RoundId{0}, RoundId{3}, 100), lists[3], id<StateDigest>(4)};
    }

    Chain chain;
    Ledger full = in_memory();
    std::vector<run::CommittedList> lists;
    bool added = true;
};

}  // namespace

class LedgerTablesTest : public QObject {
    Q_OBJECT
private slots:
    void a_table_says_what_the_lists_before_it_come_to() {
        const LongChain run;
        QVERIFY(run.added);
        const std::vector<ledger::KeptTable> kept = run.full.tables(run.chain.run());
        QCOMPARE(kept.size(), std::size_t{1});
        QCOMPARE(kept[0].round.value, 4U);
        const Result<CreditTable> table = CreditTable::decode(kept[0].content);
        QVERIFY(table.ok());
        QCOMPARE(table->round.value, 4U);
        QCOMPARE(table->tokens.value, 10U + 11 + 12 + 13 + 4 * 20);
        QCOMPARE(table->contributions, 8U);
        QCOMPARE(table->credits.size(), std::size_t{3});
        for (const run::TableCredit& credit : table->credits) {
            const std::uint64_t rounds = credit.peer == key(1) ? 4 : 2;
            QCOMPARE(credit.rounds, rounds);
            QCOMPARE(credit.tokens.value, credit.peer == key(1) ? 46U : 40U);
        }
        QVERIFY(verify(run.full, run.chain.run()).ok());
    }

    void a_chain_that_begins_with_a_table_goes_on_like_any_other() {
        LongChain run;
        const RunId id_of_run = run.chain.run();
        Ledger young = in_memory();
        QVERIFY(young.begin_at(run.beginning(), 1'003).ok());
        QCOMPARE(young.totals(id_of_run).rounds.value, 4U);
        QCOMPARE(young.kept_from(id_of_run).value, 3U);
        QVERIFY(young.list(id_of_run, RoundId{3}) == run.lists[3]);
        QVERIFY(*young.digest_after(id_of_run, RoundId{3}) == id<StateDigest>(4));
        const Bytes content = run.full.tables(id_of_run)[0].content;
        QVERIFY(young.append(run.lists[4], id<StateDigest>(5), 1'004, content).ok());
        QVERIFY(add(young, run.lists[5]).ok());
        QVERIFY(verify(young, id_of_run).ok());
        QVERIFY(young.table(rules_of(run.chain)) == run.full.table(rules_of(run.chain)));
        QCOMPARE(young.totals(id_of_run).tokens.value, run.full.totals(id_of_run).tokens.value);
        QCOMPARE(young.totals(id_of_run).contributions, run.full.totals(id_of_run).contributions);
        QCOMPARE(young.credit_of(id_of_run, key(9)).rounds, 2U);
        QCOMPARE(young.leaderboard(id_of_run, 10).size(), run.full.leaderboard(id_of_run, 10).size());
        // The lists before are not there, but for those that changed the committee.
        QVERIFY(young.lists(id_of_run, RoundId{0}, 10).empty());
        QVERIFY(young.list(id_of_run, RoundId{1}) == run.lists[1]);
        QVERIFY(!young.list(id_of_run, RoundId{2}));
        QVERIFY(young.committee_changes(id_of_run, RoundId{0}, RoundId{9}, 10) ==
                run.full.committee_changes(id_of_run, RoundId{0}, RoundId{9}, 10));
    }

    void a_beginning_behind_the_chain_or_that_does_not_fit_changes_nothing() {
        const LongChain run;
        Ledger young = in_memory();
        ledger::Beginning other = run.beginning();
        other.before = run.lists[2];
        QCOMPARE(young.begin_at(other, 0).error().code, ErrorCode::invalid_argument);
        other = run.beginning();
        other.table.pop_back();
        QCOMPARE(young.begin_at(other, 0).error().code, ErrorCode::malformed);
        QCOMPARE(young.totals(run.chain.run()).rounds.value, 0U);
        for (std::size_t round = 0; round < 4; ++round) QVERIFY(add(young, run.lists[round]).ok());
        QCOMPARE(young.begin_at(run.beginning(), 0).error().code, ErrorCode::invalid_argument);
        QVERIFY(verify(young, run.chain.run()).ok());
    }

    void a_chain_that_slept_keeps_what_changed_its_committee() {
        const LongChain run;
        Ledger young = in_memory();
        for (std::size_t round = 0; round < 2; ++round) QVERIFY(add(young, run.lists[round]).ok());
        ledger::Beginning beginning = run.beginning();
        beginning.changes.clear();  // it has them
        QVERIFY(young.begin_at(beginning, 1'003).ok());
        QVERIFY(verify(young, run.chain.run()).ok());
        QVERIFY(young.committee_changes(run.chain.run(), RoundId{0}, RoundId{9}, 10).size() == 3);
    }

    void forgotten_lists_leave_credit_and_committees() {
        LongChain run;
        const CreditTable before = run.full.table(rules_of(run.chain));
        QCOMPARE(run.full.prune(run.chain.run(), RoundId{6}).error().code, ErrorCode::invalid_argument);
        QVERIFY(run.full.prune(run.chain.run(), RoundId{3}).ok());
        QVERIFY(!run.full.list(run.chain.run(), RoundId{2}));
        QVERIFY(run.full.list(run.chain.run(), RoundId{1}).has_value());
        QVERIFY(run.full.lists(run.chain.run(), RoundId{2}, 10).empty());
        QCOMPARE(run.full.lists(run.chain.run(), RoundId{3}, 10).size(), std::size_t{3});
        QCOMPARE(run.full.kept_from(run.chain.run()).value, 3U);
        QVERIFY(run.full.table(rules_of(run.chain)) == before);
        QVERIFY(verify(run.full, run.chain.run()).ok());
        QVERIFY(add(run.full, run.chain.next({{1, 5}})).ok());
        QVERIFY(run.full.prune(run.chain.run(), RoundId{1}).ok());
        QCOMPARE(run.full.kept_from(run.chain.run()).value, 3U);
    }

    void retracted_lists_are_gone_from_the_sums() {
        LongChain run;
        QVERIFY(run.full.retract(run.chain.run(), RoundId{5}).ok());
        QCOMPARE(run.full.credit_of(run.chain.run(), key(9)).tokens.value, 60U);
        QVERIFY(verify(run.full, run.chain.run()).ok());
        QVERIFY(run.full.retract(run.chain.run(), RoundId{2}).ok());
        QCOMPARE(run.full.credit_of(run.chain.run(), key(1)).tokens.value, 21U);
        QVERIFY(run.full.tables(run.chain.run()).empty());
        QVERIFY(verify(run.full, run.chain.run()).ok());
    }

    void a_chain_that_cannot_be_taken_back_so_far_is_forgotten() {
        const LongChain run;
        for (const std::uint64_t first : {1U, 3U}) {
            Ledger young = in_memory();
            QVERIFY(young.begin_at(run.beginning(), 1'003).ok());
            QVERIFY(young.retract(run.chain.run(), RoundId{first}).ok());
            QCOMPARE(young.totals(run.chain.run()).rounds.value, 0U);
            QVERIFY(young.leaderboard(run.chain.run(), 10).empty());
            for (const run::CommittedList& list : run.lists) QVERIFY(add(young, list).ok());
            QVERIFY(verify(young, run.chain.run()).ok());
        }
    }

    void tampering_with_what_is_left_is_found_data() {
        QTest::addColumn<QByteArray>("sql");
        QTest::newRow("a sum") << QByteArray("UPDATE credits SET tokens = tokens + 1 WHERE rounds = 5");
        QTest::newRow("a count") << QByteArray("UPDATE credits SET rounds = rounds + 1 WHERE rounds = 5");
        QTest::newRow("somebody more") << QByteArray(
            "INSERT INTO peers(key) VALUES(zeroblob(32)); INSERT INTO credits SELECT 1, max(id), 5, 1 FROM peers");
        QTest::newRow("somebody less") << QByteArray("DELETE FROM credits WHERE rounds = 5");
        QTest::newRow("the table") << QByteArray(
            "UPDATE tables SET content = CAST(substr(content, 1, length(content) - 8) "
            "|| x'0900000000000000' AS BLOB)");
        QTest::newRow("what nobody is credited") << QByteArray(
            "UPDATE tables SET content = CAST(substr(content, 1, 56) || x'0900000000000000' || substr(content, 65) AS "
            "BLOB)");
        QTest::newRow("a change") << QByteArray(
            "UPDATE lists SET certificate = (SELECT certificate FROM lists "
            "WHERE round = 3) WHERE round = 1");
        QTest::newRow("no change") << QByteArray("DELETE FROM lists WHERE round = 1");
    }
    void tampering_with_what_is_left_is_found() {
        QFETCH(const QByteArray, sql);
        const QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath("ledger").toStdString();
        const LongChain run;
        {
            Ledger young = std::move(Ledger::open(file)).value();
            QVERIFY(young.begin_at(run.beginning(), 1'003).ok());
            QVERIFY(young.append(run.lists[4], id<StateDigest>(5), 1'004, run.full.tables(run.chain.run())[0].content)
                        .ok());
            QVERIFY(verify(young, run.chain.run()).ok());
        }
        QVERIFY(meddle(file, sql.constData()));
        const Ledger young = std::move(Ledger::open(file)).value();
        const Status verified = verify(young, run.chain.run());
        QVERIFY(!verified.ok());
        QCOMPARE(verified.error().code, ErrorCode::untrusted);
    }

    void a_member_left_out_of_a_full_table_begins_anew() {
        CreditTable table;
        table.run = id<RunId>(1);
        table.round = {4};
        for (std::uint64_t i = 0; i < run::table_credits_max; ++i) {
            run::TableCredit credit{{}, {1}, 1};
            for (std::size_t byte = 0; byte < 8; ++byte) {
                credit.peer.bytes[byte] = static_cast<std::byte>(i >> (56 - 8 * byte));
            }
            table.credits.push_back(credit);
        }
        const Bytes bytes = table.encode();
        QVERIFY(bytes.size() <= run::table_bytes_max);
        const Result<CreditTable> read = CreditTable::decode(bytes);
        QVERIFY(read.ok() && *read == table);
        Chain chain;
        std::vector<run::CommittedList> lists;
        for (int round = 0; round < 4; ++round) lists.push_back(chain.next({{1, 1}}));
        Ledger ledger = in_memory();
        QVERIFY(ledger.begin_at({bytes, {}, lists[3], id<StateDigest>(4)}, 0).ok());
        // One more than a table holds: of those with one token the one with the highest key is left out.
        QVERIFY(add(ledger, chain.next({{7, 100}})).ok());
        const run::CommittedList list = add_with_table(ledger, chain, {{8, 100}});
        QVERIFY(!list.list.empty());
        QCOMPARE(ledger.credit_of(chain.run(), key(7)).rounds, 1U);
        QCOMPARE(ledger.credit_of(chain.run(), key(8)).rounds, 1U);
        QCOMPARE(ledger.credit_of(chain.run(), table.credits.front().peer).rounds, 1U);
        QCOMPARE(ledger.credit_of(chain.run(), table.credits.back().peer).rounds, 0U);
    }
};

QTEST_GUILESS_MAIN(LedgerTablesTest)
#include "test_ledger_tables.moc"
