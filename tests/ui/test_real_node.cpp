// The window over a real node: started as a child, its snapshot shown, a bad invite refused with the node's sentence,
// a second window on the same data folder, and an orderly end.
#include <QLabel>
#include <QLineEdit>
#include <QTemporaryDir>

#include "tests/ui/real_window.h"

using namespace potluck;
using namespace potluck::test;

namespace {

const QString program = QStringLiteral(POTLUCK_BIN_DIR "/potluck-node");

}  // namespace

class TestRealNode : public QObject {
    Q_OBJECT

private slots:
    void a_bad_invite_is_refused_in_a_sentence() {
        const QTemporaryDir folder;
        RealWindow real(program, folder.path());
        QTRY_VERIFY_WITH_TIMEOUT(real.isUp(), 20'000);
        auto* invite = real.window.findChild<QLineEdit*>(QStringLiteral("invite"));
        invite->setFocus();
        QTest::keyClicks(invite, QStringLiteral("potluck:?xt=urn:btmh:1220nothex"));
        QTest::mouseClick(real.window.findChild<QAbstractButton*>(QStringLiteral("join")), Qt::LeftButton);
        const auto* problem = real.window.findChild<QLabel*>(QStringLiteral("problem"));
        QTRY_VERIFY_WITH_TIMEOUT(problem->isVisible() && problem->text().size() > 20, 10'000);
        QVERIFY2(problem->text().contains(QLatin1Char(' ')) && problem->text().endsWith(QLatin1Char('.')),
                 qPrintable(problem->text()));
        QVERIFY(!real.node().run);
    }

    void the_name_is_kept_over_a_restart() {
        const QTemporaryDir folder;
        {
            RealWindow real(program, folder.path());
            QTRY_VERIFY_WITH_TIMEOUT(real.isUp(), 20'000);
            real.client.setName(QStringLiteral("Grace"));
            QTRY_COMPARE_WITH_TIMEOUT(real.node().name, std::string("Grace"), 10'000);
        }
        RealWindow again(program, folder.path());
        QTRY_VERIFY_WITH_TIMEOUT(again.isUp(), 20'000);
        QTRY_COMPARE_WITH_TIMEOUT(again.node().name, std::string("Grace"), 10'000);
        QVERIFY(!again.node().peer_id.empty());
    }

    void a_second_client_reaches_the_node_that_runs_already() {
        const QTemporaryDir folder;
        RealWindow first(program, folder.path());
        QTRY_VERIFY_WITH_TIMEOUT(first.isUp(), 20'000);
        RealWindow second(program, folder.path());
        QTRY_VERIFY_WITH_TIMEOUT(second.isUp(), 20'000);
        QCOMPARE(second.node().peer_id, first.node().peer_id);
    }
};

QTEST_MAIN(TestRealNode)
#include "test_real_node.moc"
