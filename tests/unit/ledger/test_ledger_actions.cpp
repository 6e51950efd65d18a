// The actions of a run's host, as the ledger keeps them.
#include <QtTest>

#include "core/ledger/ledger.h"
#include "tests/unit/ledger/ledger_chain.h"
#include "tests/unit/ledger/ledger_file.h"

using namespace potluck;
using namespace potluck::test;
using ledger::Ledger;

namespace {

run::HostAction ban_of(std::uint32_t number, std::uint64_t person) {
    return {
        .number = number, .kind = run::ActionKind::ban, .key = key(person), .round = {}, .state = {}, .previous = {}};
}

run::HostAction roll_back_to(std::uint32_t number, std::uint64_t round) {
    return {.number = number,
            .kind = run::ActionKind::roll_back,
            .key = {},
            .round = {round},
            .state = {id<BlobId>(round), 4'096, run::BlobKind::plain, {}},
            .previous = {}};
}

std::array<std::byte, 64> signature_of(std::uint8_t fill) {
    std::array<std::byte, 64> signature{};
    signature.fill(std::byte{fill});
    return signature;
}

}  // namespace

class LedgerActionsTest : public QObject {
    Q_OBJECT
private slots:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }

    void actions_of_the_host_are_kept_by_run_and_number() {
        Ledger ledger = in_memory();
        QVERIFY(ledger.actions(id<RunId>(1)).empty());
        const run::SignedAction first{ban_of(1, 7), signature_of(1)}, second{roll_back_to(2, 5), signature_of(2)};
        const run::SignedAction other{ban_of(1, 8), signature_of(3)};
        QVERIFY(ledger.remember_action(id<RunId>(1), second).ok());
        QVERIFY(ledger.remember_action(id<RunId>(1), first).ok());
        QVERIFY(ledger.remember_action(id<RunId>(2), other).ok());
        QVERIFY(ledger.actions(id<RunId>(1)) == (std::vector{first, second}));
        QVERIFY(ledger.actions(id<RunId>(2)) == std::vector{other});
        QVERIFY(ledger.actions(id<RunId>(3)).empty());
        QCOMPARE(ledger.totals(id<RunId>(1)).rounds.value, 0U);
    }

    void a_later_action_of_a_number_replaces_the_earlier() {
        Ledger ledger = in_memory();
        const run::SignedAction first{ban_of(1, 7), signature_of(1)}, second{ban_of(2, 8), signature_of(2)};
        const run::SignedAction instead{ban_of(1, 9), signature_of(3)};
        for (const run::SignedAction& one : {first, second, instead}) {
            QVERIFY(ledger.remember_action(id<RunId>(1), one).ok());
        }
        QVERIFY(ledger.actions(id<RunId>(1)) == (std::vector{instead, second}));
    }

    void a_replacement_makes_later_actions_void() {
        Ledger ledger = in_memory();
        for (const std::uint32_t number : {1U, 2U, 3U}) {
            QVERIFY(ledger.remember_action(id<RunId>(1), {ban_of(number, 8), signature_of(2)}).ok());
        }
        run::SignedAction replacement{ban_of(2, 8), signature_of(3)};
        replacement.action.kind = run::ActionKind::replace;
        replacement.action.key = {};
        replacement.action.term = 1;
        replacement.action.committee = {key(8)};
        QVERIFY(ledger.remember_action(id<RunId>(1), replacement).ok());
        const std::vector<run::SignedAction> left = ledger.actions(id<RunId>(1));
        QCOMPARE(left.size(), std::size_t{2});
        QCOMPARE(left[0].action.number, 1U);
        QVERIFY(left[1] == replacement);
    }

    void a_retracted_list_takes_its_credit_with_it() {
        Ledger ledger = in_memory();
        Chain chain;
        const run::CommittedList first = chain.next({{7, 100}});
        Chain other = chain;
        QVERIFY(add(ledger, first).ok());
        QVERIFY(add(ledger, chain.next({{7, 200}, {8, 100}})).ok());
        QVERIFY(add(ledger, chain.next({{8, 100}})).ok());
        QCOMPARE(ledger.totals(chain.run()).rounds.value, 3U);
        QVERIFY(ledger.retract(chain.run(), RoundId{1}).ok());
        QCOMPARE(ledger.totals(chain.run()).rounds.value, 1U);
        QCOMPARE(ledger.totals(chain.run()).tokens.value, 100U);
        QCOMPARE(ledger.credit_of(chain.run(), key(8)).rounds, 0U);
        QVERIFY(add(ledger, other.next({{9, 300}})).ok());
        QCOMPARE(ledger.credit_of(chain.run(), key(9)).tokens.value, 300U);
        QVERIFY(verify(ledger, chain.run()).ok());
    }

    void an_action_that_does_not_parse_is_left_out() {
        Ledger ledger = std::move(Ledger::open(at("ledger"))).value();
        const run::SignedAction second{ban_of(2, 8), signature_of(2)};
        for (const std::uint32_t number : {1U, 2U, 3U}) {
            QVERIFY(ledger.remember_action(id<RunId>(1), {ban_of(number, 8), signature_of(2)}).ok());
        }
        QVERIFY(
            meddle(at("ledger"), "UPDATE actions SET action = substr(action, 1, length(action) - 1) WHERE number = 1"));
        QVERIFY(meddle(at("ledger"), "UPDATE actions SET action = x'00' WHERE number = 3"));
        QVERIFY(ledger.actions(id<RunId>(1)) == std::vector{second});
    }

    void actions_survive_reopening_and_migration_data() {
        QTest::addColumn<int>("version");
        for (const int version : {1, 2, 3, 4}) QTest::addRow("version %d", version) << version;
    }
    void actions_survive_reopening_and_migration() {
        QFETCH(const int, version);
        Chain chain;
        if (version == 1) {
            QVERIFY(meddle(at("ledger"), tables_of_version_1().c_str()));
        } else {
            Ledger ledger = std::move(Ledger::open(at("ledger"))).value();
            QVERIFY(add(ledger, chain.next({{1, 42}})).ok());
        }
        if (version == 2 || version == 3) QVERIFY(meddle(at("ledger"), back_to_version_3));
        // Version 2 had no actions; everything else in it is as in version 3.
        if (version == 2) QVERIFY(meddle(at("ledger"), "DROP TABLE actions; PRAGMA user_version = 2"));
        const std::vector<run::SignedAction> actions{{ban_of(1, 7), signature_of(1)},
                                                     {roll_back_to(2, 5), signature_of(2)}};
        {
            Ledger ledger = std::move(Ledger::open(at("ledger"))).value();
            QVERIFY(ledger.actions(chain.run()).empty());
            for (const run::SignedAction& one : actions) QVERIFY(ledger.remember_action(chain.run(), one).ok());
        }
        const Ledger ledger = std::move(Ledger::open(at("ledger"))).value();
        QVERIFY(ledger.actions(chain.run()) == actions);
        QCOMPARE(ledger.credit_of(chain.run(), key(1)).tokens.value, 42U);
        if (version > 1) QVERIFY(verify(ledger, chain.run()).ok());
    }

private:
    [[nodiscard]] std::filesystem::path at(const char* name) const {
        return std::filesystem::path(m_dir->path().toStdString()) / name;
    }
    std::unique_ptr<QTemporaryDir> m_dir;
};

QTEST_APPLESS_MAIN(LedgerActionsTest)
#include "test_ledger_actions.moc"
