// What is shown before anything is decided: a run by its description, and the newest lines of the log.
#include <cmath>
#include <fstream>

#include <QTemporaryDir>
#include <QTest>

#include "app/node/control/log_tail.h"
#include "app/node/member/view.h"
#include "core/model/state_layout.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::node;

class LookTest : public QObject {
    Q_OBJECT
private slots:
    void a_look_tells_what_the_description_says() {
        const run::Manifest manifest = run::samples::manifest();
        const control::OfferedRun offered = offered_run(RunId{}, manifest, PeerId{});
        QCOMPARE(offered.name, manifest.name);
        QCOMPARE(offered.purpose, manifest.purpose);
        QCOMPARE(offered.licence, manifest.licence);
        QCOMPARE(offered.host, manifest.host.hex());
        const std::uint64_t state = model::state_layout(manifest.model).file_size();
        std::uint64_t largest = 0;
        for (const run::Shard& shard : manifest.shards) largest = std::max(largest, shard.blob.size);
        QCOMPARE(offered.download, state + largest);
        QVERIFY(offered.disk > offered.download);
    }

    void a_day_of_traffic_follows_from_the_window_and_from_what_a_round_sends() {
        run::Manifest manifest = run::samples::manifest();
        manifest.recipe.k = 64;
        manifest.recipe.window = Duration{60'000};
        const std::uint64_t parameters = model::state_layout(manifest.model).parameters;
        const double payload = 0.1484 * static_cast<double>(parameters) / 8, rounds = 86'400 / 66.0;
        const auto day = static_cast<double>(traffic_of_a_day(manifest).for_each_other);
        QVERIFY2(std::abs(day / (payload * rounds) - 1) < 0.01, std::to_string(day).c_str());
        QCOMPARE(static_cast<double>(offered_run(RunId{}, manifest, PeerId{}).traffic.for_each_other), day);
        manifest.recipe.window = Duration{120'000};
        QVERIFY(std::abs(static_cast<double>(traffic_of_a_day(manifest).for_each_other) - day / 2) < 2);
    }

    /// A step of k = 64 keeps 512 of 4,096 means, of four bits each and about four and a half for where they are.
    void a_day_of_sums_is_a_contribution_and_a_step_a_round() {
        run::Manifest manifest = run::samples::manifest();
        manifest.recipe.k = 64;
        manifest.recipe.window = Duration{60'000};
        manifest.recipe.outer.form = numerics::StepForm::coded;
        const auto parameters = static_cast<double>(model::state_layout(manifest.model).parameters);
        const double day = (0.1484 + 8.5 / 8) * parameters / 8 * 86'400 / 66.0;
        const auto told = static_cast<double>(offered_run(RunId{}, manifest, PeerId{}).traffic.with_the_sum);
        QVERIFY2(std::abs(told / day - 1) < 0.01, std::to_string(told).c_str());
        manifest.recipe.outer.form = numerics::StepForm::exact;
        QCOMPARE(offered_run(RunId{}, manifest, PeerId{}).traffic.with_the_sum, std::uint64_t{0});
    }

    void a_list_admits_those_on_it_and_the_host() {
        run::Manifest manifest = run::samples::manifest();
        const auto listed = run::samples::id<PeerId>(1), stranger = run::samples::id<PeerId>(2);
        manifest.allowed.clear();
        QVERIFY(offered_run(RunId{}, manifest, stranger).admitted);
        QVERIFY(!offered_run(RunId{}, manifest, stranger).listed);
        manifest.allowed = {listed};
        QVERIFY(offered_run(RunId{}, manifest, listed).admitted);
        QVERIFY(offered_run(RunId{}, manifest, manifest.host).admitted);
        QVERIFY(!offered_run(RunId{}, manifest, stranger).admitted);
        QVERIFY(offered_run(RunId{}, manifest, stranger).listed);
    }

    void the_log_ends_with_its_newest_lines() {
        const QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath("node.log").toStdString();
        QVERIFY(!log_tail(file, 10));
        std::ofstream(file, std::ios::binary) << "one\ntwo\x1b[31m\nthree\n";
        const auto tail = log_tail(file, 2);
        QVERIFY(tail.ok());
        QCOMPARE(tail->lines, (std::vector<std::string>{"two?[31m", "three"}));
    }

    void of_a_long_log_only_whole_lines_are_read() {
        const QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath("node.log").toStdString();
        {
            std::ofstream out(file, std::ios::binary);
            // What is read from its end begins within a line: lines of seven bytes never end at a power of two.
            for (std::size_t n = 0; n * 7 < log_tail_bytes_max + 100; ++n) out << "line 9\n";
        }
        const auto tail = log_tail(file, control::log_lines_max);
        QVERIFY(tail.ok());
        QCOMPARE(tail->lines.size(), std::size_t{control::log_lines_max});
        const auto all = log_tail(file, log_tail_bytes_max);
        QVERIFY(all.ok());
        for (const std::string& line : all->lines) QCOMPARE(line, std::string("line 9"));
    }
};

QTEST_MAIN(LookTest)
#include "test_look.moc"
