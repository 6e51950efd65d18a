// The log: which lines are shown, and that what is copied for others holds no secret.
#include <QClipboard>
#include <QComboBox>
#include <QPlainTextEdit>
#include <QToolButton>

#include "tests/ui/window_fixture.h"
#include "ui/log/diagnostics.h"

using namespace potluck;
using namespace potluck::tests;
using Window = ui::MainWindow;

namespace {

const char* const lines[] = {"2026-01-02T03:04:05.678Z info node: node 99a563ab is up",
                             "2026-01-02T03:04:06.678Z warning net: 203.0.113.7 reads too slowly",
                             "2026-01-02T03:04:07.678Z error trainer: it ended with code 3",
                             "2026-01-02T03:04:08.789Z critical storage: the disk is full"};

struct Log : WindowFixture {
    Log() {
        node.answer(control::ReadLog::name, {{"lines", lines}});
        push("training");
        window->showPage(Window::log_page);
        POTLUCK_CHECK(QTest::qWaitFor([&] { return !client.view().log.empty(); }, 5000));
        settle();
    }
    [[nodiscard]] QString shown() const { return find<QPlainTextEdit>("logLines")->toPlainText(); }
};

}  // namespace

class TestLogPage : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void lines_are_filtered_by_level_and_by_word() {
        Log fixture;
        QCOMPARE(fixture.shown().split(u'\n').size(), 4);
        QCOMPARE(fixture.text("logCount"), QStringLiteral("4 of 4 lines"));
        fixture.find<QComboBox>("logLevel")->setCurrentIndex(1);
        QCOMPARE(fixture.shown().split(u'\n').size(), 3);
        fixture.find<QComboBox>("logLevel")->setCurrentIndex(2);
        QVERIFY(fixture.shown().contains(QStringLiteral("code 3")));
        QCOMPARE(fixture.text("logCount"), QStringLiteral("2 of 4 lines"));
        fixture.find<QComboBox>("logLevel")->setCurrentIndex(0);
        fixture.type("logWord", QStringLiteral("SLOWLY"));
        QCOMPARE(fixture.shown(), QString::fromLatin1(lines[1]));
    }

    void the_button_of_a_failed_state_leads_here() {
        WindowFixture fixture;
        fixture.node.answer(control::ReadLog::name, {{"lines", lines}});
        fixture.push("failed");
        fixture.click("showLog");
        QTRY_VERIFY(fixture.find<QPlainTextEdit>("logLines")->isVisible());
        QTRY_VERIFY(!fixture.client.view().log.empty());
        WindowFixture::settle();
        fixture.click("readLog");
        QTRY_COMPARE(fixture.node.count("log"), 2);
        fixture.click("openLogFolder");
        QCOMPARE(fixture.openedFolder, QString::fromStdString(fixture.client.view().snapshot.data_folder));
    }

    void settings_lead_here_too_and_the_entry_stays_while_the_page_is_open() {
        WindowFixture fixture;
        fixture.push("training");
        fixture.window->showPage(Window::settings_page);
        WindowFixture::settle();
        fixture.click("openLog");
        QTRY_VERIFY(fixture.find<QPlainTextEdit>("logLines")->isVisible());
        const auto isOffered = [&] {
            for (const QToolButton* entry : fixture.window->findChildren<QToolButton*>(QStringLiteral("navigation")))
                if (entry->isVisible() && entry->accessibleName() == QStringLiteral("Log")) return true;
            return false;
        };
        QVERIFY(isOffered());
        fixture.window->showPage(Window::home_page);
        QVERIFY(!isOffered());
    }

    void copied_diagnostics_hold_state_and_lines_without_private_data() {
        Log fixture;
        fixture.click("copyDiagnostics");
        const QString copied = QGuiApplication::clipboard()->text();
        QVERIFY2(copied.contains(QStringLiteral("state: training")), qPrintable(copied));
        QVERIFY(copied.contains(QStringLiteral("round: 42 of 200")));
        QVERIFY(copied.contains(QStringLiteral("code 3")));
        QVERIFY(!copied.contains(QStringLiteral("203.0.113.7")));
        QVERIFY(!copied.contains(QStringLiteral("/home/ada")));
        QVERIFY(!copied.contains(QString::fromStdString(fixture.client.view().snapshot.peer_id)));
        QVERIFY(!copied.contains(QString::fromStdString(fixture.client.view().snapshot.run->id)));
        QTRY_VERIFY(fixture.text("logOutcome").startsWith(QStringLiteral("Copied")));
    }

    void diagnostics_tell_who_adds_up_contributions() {
        control::NodeSnapshot node;
        node.run.emplace();
        const auto sums = [&](const control::Exchange& exchange) {
            node.run->exchange = exchange;
            const QStringList lines = ui::diagnostics(node, {}, {}, {}).split(u'\n');
            return lines.filter(QStringLiteral("sums: ")).value(0);
        };
        QCOMPARE(sums({}), QStringLiteral("sums: all contributions"));
        QCOMPARE(sums({.sum_signers = 3}), QStringLiteral("sums: from 3 others"));
        QCOMPARE(sums({.offers = 40, .offers_in_time = 12}), QStringLiteral("sums: 12 of 40 contributions"));
    }

    void no_secret_is_left_in_a_line_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("left");
        const QString key(64, u'a');
        QTest::newRow("key") << "from " + key + " again" << QStringLiteral("from aaaaaaaa… again");
        QTest::newRow("invite") << "joins magnet:?xt=urn:btmh:1220" + key + "&dn=X now"
                                << QStringLiteral("joins <invite> now");
        QTest::newRow("link") << QStringLiteral("see https://a.example/p#potluck:?xt=1")
                              << QStringLiteral("see <invite>");
        QTest::newRow("address") << QStringLiteral("203.0.113.7:6881 is slow")
                                 << QStringLiteral("<address>:6881 is slow");
        QTest::newRow("long address") << QStringLiteral("[2001:db8::7]:6881") << QStringLiteral("[<address>]:6881");
        QTest::newRow("own") << QStringLiteral("/home/ada/x") << QStringLiteral("~/x");
        QTest::newRow("another's") << QStringLiteral("/home/bob/x") << QStringLiteral("~/x");
        QTest::newRow("words")
            << QStringLiteral(
                   "keep: abandon ability able about above absent absorb abstract absurd abuse access "
                   "accident, please")
            << QStringLiteral("keep: <words>, please");
        QTest::newRow("time") << QStringLiteral("2026-01-02T03:04:05.678Z info net: up")
                              << QStringLiteral("2026-01-02T03:04:05.678Z info net: up");
        QTest::newRow("loopback") << QStringLiteral("127.0.0.1:80") << QStringLiteral("127.0.0.1:80");
    }

    void no_secret_is_left_in_a_line() {
        QFETCH(QString, line);
        QFETCH(QString, left);
        QCOMPARE(ui::withoutSecrets(line, QStringLiteral("/home/ada")), left);
    }
};

QTEST_MAIN(TestLogPage)
#include "test_log_page.moc"
