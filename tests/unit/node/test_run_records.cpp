// What is found in a data folder, what a deletion leaves there, and how days are cut.
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <fstream>
#include <numeric>

#include "app/node/member/view.h"
#include "app/node/owner/usage.h"
#include "app/node/paths.h"
#include "app/node/records/disk_files.h"
#include "app/node/records/run_records.h"
#include "core/run/manifest.h"
#include "tests/unit/ledger/ledger_chain.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::node;
using namespace potluck::test;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& file, std::size_t bytes) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << std::string(bytes, 'x');
}

/// A folder as a run leaves it: 300 bytes that may go, and what must stay.
RunId make_run(const fs::path& data_folder, std::uint64_t number) {
    const RunId run = id<RunId>(number);
    const fs::path folder = run_folder(data_folder, run);
    run::Manifest manifest = run::samples::manifest();
    manifest.host = key(7);
    const std::string json = manifest.to_json_text();
    const Bytes file = run::manifest_file(as_bytes(json), person(7).sign(run::manifest_domain, as_bytes(json)));
    fs::create_directories(folder);
    std::ofstream(folder / "manifest", std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
    write(folder / "states" / "3.safetensors", 200);
    write(folder / "scratch" / "error", 60);
    write(folder / "record", 40);
    write(folder / "votes", 11);
    write(folder / "evidence" / "one.evidence", 13);
    return run;
}

std::uint64_t sum_of(const std::vector<control::DiskPart>& parts) {
    return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const control::DiskPart& part) { return sum + part.bytes; });
}

}  // namespace

class RunRecordsTest : public QObject {
    Q_OBJECT
    std::unique_ptr<QTemporaryDir> m_folder;
    [[nodiscard]] fs::path folder() const { return m_folder->path().toStdString(); }

private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void a_run_is_found_with_its_name_and_what_may_go() {
        const RunId run = make_run(folder(), 1);
        const auto found = run_files(folder(), {});
        QCOMPARE(found.size(), 1U);
        QCOMPARE(found[0].id, run);
        QCOMPARE(found[0].name, run::samples::manifest().name);
        QCOMPARE(found[0].host, key(7));
        QCOMPARE(found[0].bytes, 300U);
    }

    void a_folder_without_a_signed_description_is_no_run() {
        const fs::path damaged = run_folder(folder(), make_run(folder(), 1)) / "manifest";
        std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(20).put('x');
        file.close();
        write(run_folder(folder(), id<RunId>(2)) / "states" / "1", 5);
        write(folder() / "runs" / "notes" / "manifest", 5);
        QVERIFY(run_files(folder(), {}).empty());
    }

    void each_file_is_counted_once_and_a_link_not_at_all() {
        make_run(folder(), 1);
        write(folder() / "network" / "blobs" / "b", 1000);
        write(folder() / "packs" / "cpu" / "trainer", 500);
        write(folder() / "ledger.db", 70);
        write(folder() / "ledger.db-wal", 7);
        write(folder() / "trainer.log", 5);
        write(folder() / "identity.key", 3);
        fs::create_directory_symlink(folder() / "packs", folder() / "again");
        std::uint64_t all = 0;
        for (const auto& entry : fs::recursive_directory_iterator(folder()))
            if (entry.is_regular_file() && !entry.is_symlink()) all += entry.file_size();
        const auto parts = disk_parts(folder(), {});
        const auto of = [&](control::DiskKind kind) {
            return std::ranges::find(parts, kind, &control::DiskPart::kind)->bytes;
        };
        QCOMPARE(sum_of(parts), all);
        QCOMPARE(of(control::DiskKind::trainers), 500U);
        QCOMPARE(of(control::DiskKind::ledger), 77U);
        QCOMPARE(of(control::DiskKind::log), 5U);
        QCOMPARE(of(control::DiskKind::other), 3U);
    }

    void a_deletion_leaves_description_votes_and_proofs() {
        const RunId run = make_run(folder(), 1);
        const fs::path here = run_folder(folder(), run);
        QVERIFY(set_aside(folder(), run).ok());
        QVERIFY(!fs::exists(here / "states") && !fs::exists(here / "scratch") && !fs::exists(here / "record"));
        QVERIFY(fs::exists(here / "manifest") && fs::exists(here / "votes") && fs::exists(here / "evidence"));
        QCOMPARE(run_files(folder(), {}).at(0).bytes, 0U);
        QCOMPARE(sum_of(disk_parts(trash_in(folder()), {})), 300U);  // until the worker is there
        QVERIFY(empty_trash(folder()).ok());
        QVERIFY(!fs::exists(trash_in(folder())));
    }

    void a_run_that_came_back_meanwhile_can_be_deleted_again() {
        const RunId run = make_run(folder(), 1);
        QVERIFY(set_aside(folder(), run).ok());
        make_run(folder(), 1);
        QVERIFY(set_aside(folder(), run).ok());
        QCOMPARE(sum_of(disk_parts(trash_in(folder()), {})), 600U);
        QVERIFY(set_aside(folder(), id<RunId>(9)).ok());  // nothing of it is here
    }

    void days_are_cut_at_local_midnight_and_add_up() {
        ledger::Ledger ledger = in_memory();
        Chain chain;
        const std::int64_t now = 1'772'540'000, today = midnight_before(now);
        const std::int64_t yesterday = midnight_before(today - 1);
        const auto give = [&](std::uint64_t tokens, std::int64_t at) {
            QVERIFY(ledger.append(chain.next({{1, tokens}}), {}, at).ok());
        };
        give(1000, midnight_before(yesterday - 1) - 5);  // before the first of the three days
        give(1, yesterday - 1);
        give(10, yesterday);
        give(100, today - 1);
        give(500, today);
        const auto days = days_of(ledger, key(1), now, 3).rows;
        QCOMPARE(days.size(), 3U);
        QCOMPARE(days[0].tokens, 1U);
        QCOMPARE(days[1].tokens, 110U);
        QCOMPARE(days[2].tokens, 500U);
        QCOMPARE(days[2].begins, today);
        QCOMPARE(days[1].begins, yesterday);
    }

    void a_year_of_days_has_each_day_once() {
        const auto days = days_of(in_memory(), key(1), 1'772'540'000, 400).rows;
        for (std::size_t i = 1; i < days.size(); ++i) {
            const std::int64_t hours = (days[i].begins - days[i - 1].begins) / 3600;
            QVERIFY2(hours >= 23 && hours <= 25, qPrintable(QString::number(hours)));
        }
    }

    void the_open_run_comes_first_then_the_last_given_to() {
        control::KnownRun old, open, late, never;
        old.last = 5;
        old.id = "old";
        open.is_open = true;
        open.id = "open";
        late.last = 9;
        late.id = "late";
        never.id = "never";
        const auto sorted = known_runs({never, old, late, open});
        std::string order;
        for (const auto& row : sorted.rows) order += row.id + " ";
        QCOMPARE(order, std::string("open late old never "));
    }
};

QTEST_GUILESS_MAIN(RunRecordsTest)
#include "test_run_records.moc"
