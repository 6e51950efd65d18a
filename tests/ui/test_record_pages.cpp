// The pages about what was: contribution and storage.
#include <QFileDialog>
#include <QMessageBox>
#include <QPushButton>

#include "tests/ui/window_fixture.h"
#include "ui/client/plain_text.h"
#include "ui/records/day_chart.h"
#include "ui/records/run_table.h"
#include "ui/widgets/parts.h"

using namespace potluck;
using namespace potluck::tests;
using ui::DayChart;
using ui::RunModel;
using ui::RunTable;
using Window = ui::MainWindow;

namespace {

/// A window on a page whose records have come.
struct Records : WindowFixture {
    explicit Records(Window::Page page, const char* snapshot = "before_joining") {
        push(snapshot);
        window->showPage(page);
        POTLUCK_CHECK(QTest::qWaitFor([&] { return table(page)->model()->rowCount() == 4; }, 5000));
    }
    [[nodiscard]] RunTable* table(Window::Page page) const {
        return find<RunTable>(page == Window::storage_page ? "storedRuns" : "pastRuns");
    }
    [[nodiscard]] QMessageBox* question() const {
        for (QMessageBox* box : window->findChildren<QMessageBox*>())
            if (box->isVisible()) return box;
        return nullptr;
    }
    void answer(QMessageBox::ButtonRole role) const {
        const auto buttons = question()->buttons();
        for (QAbstractButton* button : buttons)
            if (question() != nullptr && question()->buttonRole(button) == role) return button->click();
    }
};

}  // namespace

class TestRecordPages : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void the_tiles_sum_up_days_and_runs() {
        Records fixture(Window::contribution_page);
        const auto told = [&](const char* tile) {
            for (const auto* each : fixture.window->findChildren<ui::StatTile*>())
                if (each->isVisible() && each->accessibleName() == QLatin1String(tile))
                    return each->accessibleDescription();
            return QString();
        };
        const QString gap = QChar(0x202F);
        QTRY_COMPARE(told("Today"), "870" + gap + "k tokens");
        QCOMPARE(told("Last 7 days"), "7.12" + gap + "M 3.74" + gap + "M in the 7 days before");
        QCOMPARE(told("Runs"), QStringLiteral("4 credited in 4"));
        std::uint64_t sum = 0;
        for (const auto& run : fixture.client.view().runs) sum += run.my_tokens;
        QVERIFY(told("In total").startsWith(ui::shortCount(sum)));
    }

    void energy_is_what_was_measured_over_all_the_time_that_was_trained() {
        Records fixture(Window::contribution_page);
        control::NodeSnapshot snapshot = recordedSnapshot("before_joining");
        const auto say = [&](const control::Energy& energy) {
            snapshot.energy = energy;
            fixture.node.push(snapshot);
            WindowFixture::settle();
        };
        QCOMPARE(fixture.text("energyToday"), QStringLiteral("nothing trained"));
        say({.today = {}, .month = {7'200, 0, 0}, .total = {7'200, 0, 0}});
        QCOMPARE(fixture.text("energyToday"), QStringLiteral("nothing trained"));
        QVERIFY(fixture.text("energyMonth").startsWith(QStringLiteral("not measurable here; 2 h")));
        QVERIFY(fixture.text("energyNote").contains(QStringLiteral("does not report the power")));
        say({.today = {3'600, 1'800, 90'000}, .month = {3'600, 1'800, 90'000}, .total = {7'200, 1'800, 90'000}});
        QVERIFY2(fixture.text("energyToday").startsWith("about " + ui::energyText(180'000) + " in 1 h"),
                 qPrintable(fixture.text("energyToday")));
        QVERIFY(fixture.text("energyTotal").startsWith("about " + ui::energyText(360'000) + " in 2 h"));
        QVERIFY(fixture.text("energyNote").contains(ui::percent(0.25)));
    }

    void a_run_without_a_description_has_an_id_and_cannot_be_joined() {
        Records fixture(Window::contribution_page);
        auto* table = fixture.find<RunTable>("pastRuns");
        QVERIFY(
            table->model()->index(3, RunModel::name_column).data().toString().startsWith(QStringLiteral("Run 0000")));
        QVERIFY(!fixture.button("rejoin")->isEnabled());
        table->selectRow(3);
        QVERIFY(!fixture.button("rejoin")->isEnabled());
        table->selectRow(1);
        QVERIFY(fixture.button("rejoin")->isEnabled());
    }

    void outside_a_run_joining_again_is_one_click() {
        Records fixture(Window::contribution_page);
        fixture.find<RunTable>("pastRuns")->selectRow(1);
        fixture.click("rejoin");
        QTRY_COMPARE(fixture.node.count("rejoin"), 1);
        QCOMPARE(fixture.node.lastParams("rejoin").value("run", ""), fixture.client.view().runs[1].id);
        QCOMPARE(fixture.node.lastParams("rejoin").value("other_run", ""), std::string("keep"));
        QTRY_VERIFY(fixture.find<QWidget>("invite")->isVisible());  // home
    }

    void in_a_run_switching_asks_first_and_staying_is_the_default() {
        Records fixture(Window::contribution_page, "training");
        auto* table = fixture.find<RunTable>("pastRuns");
        table->selectRow(0);
        QVERIFY(!fixture.button("rejoin")->isEnabled());  // it is in that one
        table->selectRow(1);
        fixture.click("rejoin");
        QVERIFY(fixture.question() != nullptr);
        fixture.question()->defaultButton()->click();
        WindowFixture::settle();
        QCOMPARE(fixture.node.count("rejoin"), 0);
        fixture.click("rejoin");
        fixture.answer(QMessageBox::AcceptRole);
        QTRY_COMPARE(fixture.node.count("rejoin"), 1);
        QCOMPARE(fixture.node.lastParams("rejoin").value("other_run", ""), std::string("leave"));
    }

    void a_refusal_is_told_beside_the_runs() {
        Records fixture(Window::contribution_page);
        fixture.node.refuse("rejoin", "The description of that run is not on this computer.");
        fixture.find<RunTable>("pastRuns")->selectRow(1);
        fixture.click("rejoin");
        QTRY_VERIFY(fixture.text("rejoinOutcome").startsWith(QStringLiteral("The description")));
    }

    void days_are_read_out_by_keys() {
        Records fixture(Window::contribution_page);
        auto* chart = fixture.find<DayChart>("days");
        QVERIFY(chart->accessibleDescription().contains(QStringLiteral("30 day")));
        chart->setFocus();
        QTest::keyClick(chart, Qt::Key_End);
        QVERIFY(chart->readOut().endsWith(QStringLiteral("870000 tokens")));
        QTest::keyClick(chart, Qt::Key_Left);
        QVERIFY(chart->readOut().endsWith(QStringLiteral("1510000 tokens")));
        QCOMPARE(chart->accessibleDescription(), chart->readOut());
    }

    void storage_names_every_part_and_the_sum() {
        Records fixture(Window::storage_page, "training");
        QTRY_VERIFY(fixture.text("diskSum").contains(QStringLiteral("free")));
        QVERIFY(fixture.text("disk-runs").contains(QStringLiteral("3.3 GB")));
        QVERIFY(fixture.text("disk-trainers").contains(QStringLiteral("417 MB")));
        fixture.click("openStorage");
        QCOMPARE(fixture.openedFolder, QString::fromStdString(fixture.client.view().snapshot.data_folder));
    }

    void all_data_moves_to_another_disk_after_a_question_data() {
        QTest::addColumn<QString>("problem");
        QTest::addColumn<QString>("told");
        QTest::newRow("moved") << ""
                               << "Moved. Keep that disk attached.";
        QTest::newRow("no room") << "That disk has no <b>room</b>."
                                 << "That disk has no <b>room</b>.";
    }
    void all_data_moves_to_another_disk_after_a_question() {
        QFETCH(QString, problem);
        QFETCH(QString, told);
        Records fixture(Window::storage_page);
        const auto chosen = [&] {
            fixture.click("moveData");
            auto* dialog = fixture.find<QFileDialog>("moveTo");
            emit dialog->fileSelected(QStringLiteral("/mnt/big"));
            dialog->close();
        };
        chosen();
        QVERIFY(fixture.question() && fixture.question()->text().contains(QStringLiteral("/mnt/big")));
        fixture.answer(QMessageBox::RejectRole);
        QVERIFY(fixture.movedTo.isEmpty() && !fixture.find<QLabel>("moveOutcome")->isVisible());
        QTRY_VERIFY(fixture.question() == nullptr);
        chosen();
        fixture.answer(QMessageBox::AcceptRole);
        QCOMPARE(fixture.movedTo, QStringLiteral("/mnt/big"));
        QCOMPARE(fixture.text("moveOutcome"), QStringLiteral("Moving: 40 %"));
        fixture.moveEnded(problem);
        QCOMPARE(fixture.text("moveOutcome"), told);
        QCOMPARE(fixture.find<QLabel>("moveOutcome")->textFormat(), Qt::PlainText);
    }

    void files_are_deleted_after_a_question_that_names_their_size() {
        Records fixture(Window::storage_page, "training");
        auto* table = fixture.find<RunTable>("storedRuns");
        table->selectRow(0);
        QVERIFY(!fixture.button("deleteFiles")->isEnabled());  // the node is in it
        table->selectRow(3);
        QVERIFY(!fixture.button("deleteFiles")->isEnabled());  // nothing to delete
        table->selectRow(1);
        fixture.click("deleteFiles");
        QVERIFY(fixture.question()->text().contains(QStringLiteral("1.9 GB")));
        QVERIFY(!fixture.question()->text().contains(QStringLiteral("host")));
        fixture.question()->defaultButton()->click();
        WindowFixture::settle();
        QCOMPARE(fixture.node.count("delete_run_files"), 0);
        fixture.click("deleteFiles");
        const int asked = fixture.node.count("runs");
        fixture.answer(QMessageBox::AcceptRole);
        QTRY_COMPARE(fixture.node.count("delete_run_files"), 1);
        QCOMPARE(fixture.node.lastParams("delete_run_files").value("run", ""), fixture.client.view().runs[1].id);
        QTRY_VERIFY(fixture.text("deleteOutcome").startsWith(QStringLiteral("Deleted: “Bird songs”")));
        QTRY_VERIFY(fixture.node.count("runs") > asked);
    }

    void a_host_is_warned_that_its_files_may_be_the_last() {
        Records fixture(Window::storage_page);
        fixture.find<RunTable>("storedRuns")->selectRow(2);
        fixture.click("deleteFiles");
        QVERIFY(fixture.question()->text().contains(QStringLiteral("You host this run")));
    }

    void the_selection_stays_with_its_run() {
        Records fixture(Window::storage_page);
        auto* table = fixture.find<RunTable>("storedRuns");
        table->selectRow(2);
        std::vector<control::KnownRun> rows = fixture.client.view().runs;
        const std::string id = rows[2].id;
        std::swap(rows[1], rows[2]);
        table->show(rows);
        QCOMPARE(table->selected()->id, id);
        rows.erase(rows.begin() + 1);
        table->show(rows);
        QVERIFY(!table->selected());
    }
};

QTEST_MAIN(TestRecordPages)
#include "test_record_pages.moc"
