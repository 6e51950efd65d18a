// The main job on real input from one command: `potluck-node demo` with the real trainer on this repository's text.
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

namespace {

constexpr int patience_ms = 240'000;

QString node() { return QStringLiteral(POTLUCK_BIN_DIR "/potluck-node"); }

QJsonObject read_json(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object() : QJsonObject();
}

}  // namespace

class DemoTest : public QObject {
    Q_OBJECT
private slots:
    void five_volunteers_learn_the_text_of_this_repository() {
        QTemporaryDir folder;
        const QString report = folder.filePath("report.json");
        QProcess demo;
        demo.setProcessChannelMode(QProcess::MergedChannels);
        demo.start(node(), {"demo", "--text", POTLUCK_SOURCE_DIR "/core", "--rounds", "24", "--report", report, "--keep",
                            folder.filePath("kept")});
        QVERIFY(demo.waitForFinished(patience_ms));
        const QByteArray said = demo.readAll();
        QVERIFY2(demo.exitStatus() == QProcess::NormalExit && demo.exitCode() == 0, said.right(3000).constData());

        const QJsonObject found = read_json(report);
        QCOMPARE(found["rounds"].toInt(), 24);
        QCOMPARE(found["rounds_lost"].toInt(-1), 0);
        QVERIFY(found["digests_compared"].toInt() > 100);
        QCOMPARE(found["digests_equal"].toInt(), found["digests_compared"].toInt());
        QVERIFY(found["trained_tokens_accepted"].toDouble() > 100'000);
        QCOMPARE(found["credited_tokens"].toDouble(), found["trained_tokens_accepted"].toDouble());
        QVERIFY(found["initial_loss"].toDouble() > 5.0);
        QVERIFY(found["final_loss"].toDouble() < found["bigram_loss"].toDouble());
        QVERIFY(found["late_volunteer_rounds"].toInt() > 0);
        QVERIFY(found["killed_volunteer_rounds_after_return"].toInt() > 0);
        QVERIFY(found["seconds_join_to_first_step"].toDouble() > 0);
        QVERIFY(found["upload_bytes_per_round"].toDouble() > 0);
        QCOMPARE(found["leaderboard"].toArray().size(), 5);
        QVERIFY(QFile::exists(found["checkpoint"].toString()));
        QVERIFY(!found["sample"].toString().isEmpty());
    }

    void text_that_cannot_train_is_refused_in_one_sentence() {
        QTemporaryDir folder;
        QProcess demo;
        demo.start(node(), {"demo", "--text", folder.path()});
        QVERIFY(demo.waitForFinished(30'000));
        QVERIFY(demo.exitCode() != 0);
        const QByteArray said = demo.readAllStandardError();
        QVERIFY2(said.startsWith("potluck-node: ") && said.count('\n') == 1, said.constData());
    }
};

QTEST_GUILESS_MAIN(DemoTest)
#include "test_demo.moc"
