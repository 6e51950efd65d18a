// A run that was started by clicks alone, in a window over a real node, is joined by a second computer that trains in
// it. Both are on loopback here; tests/homes has them in network namespaces.
#include "tests/integration/node_fixture.h"

using namespace potluck;
using namespace potluck::test;

class StartByClicksTest : public QObject {
    Q_OBJECT

private slots:
    void a_run_that_was_started_by_clicks_is_joined_and_trains() {
        const QTemporaryDir root;
        const std::filesystem::path folder = root.path().toStdString();
        write_text(folder / "text" / "words.txt");
        QProcess window;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("POTLUCK_TRAINER", fake_trainer());
        environment.insert("POTLUCK_LOOPBACK", "1");
        environment.insert("QT_QPA_PLATFORM", "offscreen");
        window.setProcessEnvironment(environment);
        window.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        window.start(QStringLiteral(POTLUCK_BIN_DIR) + "/start_by_clicks",
                     {node_program(), QString::fromStdString((folder / "host").string()),
                      QString::fromStdString((folder / "text").string())});
        QByteArray said;
        QTRY_VERIFY_WITH_TIMEOUT(
            (said += window.readAllStandardOutput()).contains('\n') || window.state() == QProcess::NotRunning, 120'000);
        QVERIFY2(said.startsWith("invite: potluck:"), said.constData());

        ServingNode volunteer(folder / "volunteer");
        volunteer.start();
        const std::string invite = said.mid(8).trimmed().toStdString();
        QVERIFY2(volunteer.call("join", {{"invite", invite}}).is_object(), volunteer.error().c_str());
        const auto credited = [](const control::NodeSnapshot& now) { return now.run && now.run->my_rounds >= 1; };
        QVERIFY(volunteer.wait_for(credited, 120'000));
        const control::NodeSnapshot now = volunteer.status();
        QCOMPARE(now.run->name, std::string("By clicks"));
        QCOMPARE(now.run->digests_equal, now.run->digests_compared);
        QVERIFY(!now.run->succession);  // it is not the host
        const Ended host =
            run_node({"status", "--json", "--data-dir", QString::fromStdString((folder / "host").string())});
        const auto hosting = printed_answer<control::NodeSnapshot>(host);
        QVERIFY(hosting.ok() && hosting->run && hosting->run->succession);
        QVERIFY(hosting->run->succession->seats.empty());  // it has vouched for nobody
        window.closeWriteChannel();
        QVERIFY(window.waitForFinished(30'000));
        QCOMPARE(window.exitCode(), 0);
    }
};

QTEST_GUILESS_MAIN(StartByClicksTest)
#include "test_start_by_clicks.moc"
