// The ledger when power fails: what append and correct_result have returned is on the disk, and what they had not yet
// returned is there whole or not at all. SIGKILL alone shows nothing of this, since the kernel keeps what was written.
#include <QtTest>

#include <sqlite3.h>

#include "core/base/rng.h"
#include "core/ledger/database.h"
#include "core/ledger/ledger.h"
#include "tests/unit/ledger/forgetful_disk.h"
#include "tests/unit/ledger/ledger_chain.h"

using namespace potluck;
using namespace potluck::test;
using ledger::Ledger;
namespace fs = std::filesystem;

namespace {

constexpr auto losses = {ForgetfulDisk::Unsynced::lost, ForgetfulDisk::Unsynced::torn};

/// Length of the chain that is found in `folder`; -1 if the ledger does not open or does not verify.
std::int64_t length_found(const fs::path& folder, const RunId& run) {
    const Result<Ledger> opened = Ledger::open(folder / "ledger");
    if (!opened.ok() || !verify(*opened, run).ok()) return -1;
    return static_cast<std::int64_t>(opened->totals(run).rounds.value);
}

/// Whether the ledger in `folder` holds these lists and their credit, the last of them or not. Their thousands of
/// signatures are not looked at again.
bool holds_all_but_the_last(const fs::path& folder, const RunId& run, const std::vector<run::CommittedList>& lists) {
    const Result<Ledger> opened = Ledger::open(folder / "ledger");
    if (!opened.ok()) return false;
    const std::vector<run::CommittedList> found = opened->lists(run, {0}, lists.size() + 1);
    if (found.size() != lists.size() && found.size() + 1 != lists.size()) return false;
    const ledger::RunTotals totals = opened->totals(run);
    std::uint64_t contributions = 0, tokens = 0;
    for (const run::CommittedList& list : found) {
        const std::vector<run::Accepted> entries = run::AcceptList::decode(list.list)->entries;
        contributions += entries.size();
        for (const TokenCount& credit : run::weights_of(entries, {})) tokens += credit.value;
    }
    return std::equal(found.begin(), found.end(), lists.begin()) && totals.rounds.value == found.size() &&
           totals.contributions == contributions && totals.tokens.value == tokens;
}

}  // namespace

class TestLedgerPower : public QObject {
    Q_OBJECT
private slots:
    void init() {
        m_dir = std::make_unique<QTemporaryDir>();
        fs::create_directories(at("before"));
    }

    void the_database_syncs_at_every_commit() {
        ledger::Connection connection;
        QVERIFY(connection.open(at("before") / "ledger").ok());
        QVERIFY(connection.make_durable().ok());
        QCOMPARE(connection.number("PRAGMA synchronous").value(), std::int64_t{2});  // FULL
        QCOMPARE(connection.number("PRAGMA foreign_keys").value(), std::int64_t{1});
        QCOMPARE(connection.number("PRAGMA cell_size_check").value(), std::int64_t{1});
    }

    void appended_lists_survive_a_loss_of_power() {
        ForgetfulDisk disk;
        Rng rng(21);
        Chain chain;
        Ledger ledger = std::move(Ledger::open(at("before") / "ledger")).value();
        for (std::int64_t length = 1; length <= 12; ++length) {
            QVERIFY(add(ledger, chain.next({{1, 10}, {2, 20}})).ok());
            for (const auto unsynced : losses) {
                disk.lose_power(at("before"), at("after"), unsynced, rng);
                QCOMPARE(length_found(at("after"), chain.run()), length);
            }
        }
    }

    void a_corrected_result_survives_a_loss_of_power() {
        ForgetfulDisk disk;
        Rng rng(22);
        Chain chain;
        Ledger ledger = std::move(Ledger::open(at("before") / "ledger")).value();
        for (int i = 0; i < 5; ++i) QVERIFY(add(ledger, chain.next({{1, 10}})).ok());
        QVERIFY(ledger.correct_result(chain.run(), id<StateDigest>(77)).ok());
        for (const auto unsynced : losses) {
            disk.lose_power(at("before"), at("after"), unsynced, rng);
            QCOMPARE(length_found(at("after"), chain.run()), std::int64_t{5});
            const Ledger found = std::move(Ledger::open(at("after") / "ledger")).value();
            QVERIFY(found.digest_after(chain.run(), {4}) == id<StateDigest>(77));
        }
    }

    /// At each sync within an append, a checkpoint of the write-ahead log among them.
    void an_append_that_power_interrupts_is_there_whole_or_not_at_all() {
        ForgetfulDisk disk;
        Rng rng(23);
        Chain chain;
        std::vector<run::CommittedList> appended;  // the last may not have returned
        int interrupted = 0, wrong = 0;
        Ledger ledger = std::move(Ledger::open(at("before") / "ledger")).value();
        disk.before_sync = [&] {
            const auto outer = std::exchange(disk.before_sync, nullptr);  // looking syncs as well
            for (const auto unsynced : losses) {
                disk.lose_power(at("before"), at("after"), unsynced, rng);
                if (!holds_all_but_the_last(at("after"), chain.run(), appended)) ++wrong;
            }
            ++interrupted;
            disk.before_sync = outer;
        };
        // Lists of 1,500 entries are 267 kB each, with as many rows: the log passes SQLite's thousand pages, where it
        // is checkpointed.
        std::vector<Chain::Share> shares;
        for (std::uint64_t peer = 1; peer <= 1500; ++peer) shares.push_back({peer, peer});
        for (int i = 0; i < 14; ++i) {
            appended.push_back(chain.next(shares));
            QVERIFY(add(ledger, appended.back()).ok());
        }
        disk.before_sync = nullptr;
        QVERIFY2(interrupted > 14, qPrintable(QString::number(interrupted)));  // once each, and the checkpoints
        QCOMPARE(wrong, 0);
    }

private:
    [[nodiscard]] fs::path at(const char* name) const { return fs::path(m_dir->path().toStdString()) / name; }
    std::unique_ptr<QTemporaryDir> m_dir;
};

QTEST_APPLESS_MAIN(TestLedgerPower)
#include "test_ledger_power.moc"
