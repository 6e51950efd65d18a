// A window over a real node: a run that was left stays listed with what was given to it, its files are deleted by
// clicks and really gone, its credit stays, and it is joined again by a click and trained on.
#include <QLabel>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/integration/node_fixture.h"
#include "tests/ui/real_window.h"
#include "ui/records/run_table.h"

using namespace potluck;
using namespace potluck::test;

namespace {

constexpr int soon = 20'000, later = 60'000;

struct Visitor : RealWindow {
    Visitor(const QString& folder, const QString& dht) : RealWindow(at(dht), folder) {}
    static QString at(const QString& dht) {
        qputenv("POTLUCK_TRAINER", fake_trainer().toUtf8());
        qputenv("POTLUCK_LOOPBACK", "1");
        qputenv("POTLUCK_DHT", dht.toUtf8());
        return node_program();
    }
    [[nodiscard]] std::uint64_t credited() const { return node().run ? node().run->my_rounds : 0; }
    /// Selects the only run of a table once it says whether it is open; nothing before.
    [[nodiscard]] std::optional<control::KnownRun> only_run(const char* name) const {
        auto* table = find<ui::RunTable>(name);
        if (table == nullptr || table->model()->rowCount() != 1) return std::nullopt;
        table->selectRow(0);
        return table->selected();
    }
};

std::uint64_t bytes_below(const std::filesystem::path& folder) {
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.is_regular_file()) bytes += entry.file_size();
    return bytes;
}

}  // namespace

class TestPastRuns : public QObject {
    Q_OBJECT

private slots:
    void a_run_that_was_left_is_deleted_and_joined_again_by_clicks() {
        Swarm swarm;
        swarm.host(1000);
        const QTemporaryDir folder;
        Visitor real(folder.path(), "127.0.0.1:" + QString::number(swarm.backbone().status().network.port));
        QTRY_VERIFY_WITH_TIMEOUT(real.is(status::Reason::no_run), soon);
        real.client.join(QString::fromStdString(swarm.invite()));
        QTRY_VERIFY_WITH_TIMEOUT(real.credited() >= 2, later);
        const std::string id = real.node().run->id;
        real.client.leave();
        QTRY_VERIFY_WITH_TIMEOUT(real.is(status::Reason::no_run), soon);

        real.window.showPage(ui::MainWindow::storage_page);
        const auto stored = [&] { return real.only_run("storedRuns"); };
        QTRY_VERIFY_WITH_TIMEOUT(stored() && stored()->bytes > 0 && (real.client.requestRecords(), !stored()->is_open),
                                 soon);
        const control::KnownRun before = *stored();
        QCOMPARE(before.id, id);
        QCOMPARE(before.name, std::string("Test"));
        QVERIFY(before.my_rounds >= 2 && before.my_tokens > 0 && before.rank == 1);
        const std::filesystem::path run = std::filesystem::path(folder.path().toStdString()) / "runs" / id;
        QVERIFY(std::filesystem::exists(run / "states"));
        QVERIFY(real.click("deleteFiles") && real.accept());
        const auto outcome = [&] { return real.find<QLabel>("deleteOutcome"); };
        QTRY_VERIFY_WITH_TIMEOUT(outcome() != nullptr && outcome()->text().startsWith("Deleted"), soon);
        QTRY_VERIFY_WITH_TIMEOUT(stored() && stored()->bytes == 0, soon);
        QVERIFY(!std::filesystem::exists(run / "states") && std::filesystem::exists(run / "manifest"));
        const std::filesystem::path blobs = std::filesystem::path(folder.path().toStdString()) / "network" / "blobs";
        QTRY_VERIFY_WITH_TIMEOUT(bytes_below(blobs) < before.bytes / 10, soon);
        QCOMPARE(stored()->my_tokens, before.my_tokens);

        real.window.showPage(ui::MainWindow::contribution_page);
        const auto listed = [&] { return real.only_run("pastRuns"); };
        QTRY_VERIFY_WITH_TIMEOUT(listed().has_value(), soon);
        QVERIFY(real.click("rejoin"));
        QTRY_VERIFY_WITH_TIMEOUT(real.credited() > before.my_rounds, later);
        QCOMPARE(real.node().run->id, id);
        QCOMPARE(real.node().run->digests_equal, real.node().run->digests_compared);
    }
};

QTEST_MAIN(TestPastRuns)
#include "test_past_runs.moc"
