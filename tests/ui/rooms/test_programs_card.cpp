// Which programs run, as the settings show it.
#include <QLabel>

#include "tests/ui/rooms/settings_fixture.h"
#include "ui/client/plain_text.h"

using namespace potluck;
using namespace potluck::tests;
using control::ProgramKind;

namespace {

struct Settings : SettingsFixture {
    Settings() {
        snapshot.programs = control::ProgramList{
            .rows = {{ProgramKind::node, "/usr/bin/potluck-node", "0.1.0", 42, 30'000'000},
                     {ProgramKind::trainer, "/usr/lib/potluck/potluck-trainer", "0.1.1", 43, 900'000'000}},
            .complete = true};
        say();
    }
};

}  // namespace

class TestProgramsCard : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void each_program_stands_there_with_file_version_process_and_memory() {
        Settings page;
        QCOMPARE(page.text("program-window"), "version 0.1.0, process 41, " + ui::sizeText(7'000'000) + " of memory");
        QCOMPARE(page.text("path-window"), QStringLiteral("/usr/bin/potluck"));
        QCOMPARE(page.text("program-node"), "version 0.1.0, process 42, " + ui::sizeText(30'000'000) + " of memory");
        QCOMPARE(page.text("path-node"), QStringLiteral("/usr/bin/potluck-node"));
        QCOMPARE(page.text("program-trainer"),
                 "version 0.1.1, process 43, " + ui::sizeText(900'000'000) + " of memory");
        QCOMPARE(page.text("path-trainer"), QStringLiteral("/usr/lib/potluck/potluck-trainer"));
        QVERIFY(page.text("programsComplete").contains("Nothing else"));
        const QLabel* before = page.find<QLabel>("program-trainer");
        page.snapshot.programs->rows[1].resident = 0;
        page.snapshot.programs->rows[1].version.clear();
        page.say();
        QCOMPARE(page.text("program-trainer"), QStringLiteral("process 43"));
        QCOMPARE(page.find<QLabel>("program-trainer"), before);
    }

    void a_trainer_that_is_gone_is_not_running() {
        Settings page;
        page.snapshot.programs->rows[1] = {ProgramKind::trainer, "/usr/lib/potluck/potluck-trainer", "", 0, 0};
        page.say();
        QCOMPARE(page.text("program-trainer"), QStringLiteral("not running"));
        QVERIFY(page.hasShown("path-trainer"));
        page.snapshot.programs->rows[1].path.clear();
        page.say();
        QVERIFY(!page.hasShown("path-trainer"));
    }

    void whatever_else_was_started_is_shown() {
        Settings page;
        page.snapshot.programs->rows.push_back({ProgramKind::question, "/usr/lib/potluck/potluck-trainer", "", 44, 0});
        page.snapshot.programs->rows.push_back({ProgramKind::other, "/bin/sh", "", 45, 1'000});
        page.say();
        QCOMPARE(page.text("program-question"), QStringLiteral("process 44"));
        QCOMPARE(page.text("path-other"), QStringLiteral("/bin/sh"));
        page.snapshot.programs->rows.resize(2);
        page.snapshot.programs->complete = false;
        page.say();
        QVERIFY(page.window->findChild<QLabel*>("path-other") == nullptr);
        QVERIFY(!page.text("programsComplete").contains("Nothing else"));
    }

    void without_a_node_only_the_window_runs() {
        Settings page;
        page.node.die(ui::Transport::End::failed, {});
        page.settle();
        QVERIFY(page.text("program-window").contains("process 41"));
        QCOMPARE(page.text("program-node"), QStringLiteral("not running"));
        QCOMPARE(page.text("program-trainer"), QStringLiteral("not running"));
        QVERIFY(!page.hasShown("programsComplete"));
    }
};

QTEST_MAIN(TestProgramsCard)
#include "test_programs_card.moc"
