// What verbs print for people and for scripts, with a node and without one.
#include <fstream>

#include <QDir>
#include <QProcess>

#include "tests/integration/node_fixture.h"

using namespace potluck;
using namespace potluck::test;
using nlohmann::json;

namespace {

json parsed(const Ended& ended) { return json::parse(ended.out.toStdString(), nullptr, false); }

}  // namespace

class NodeVerbsTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_temporary;
    QString path(const char* name) const { return m_temporary.filePath(name); }

private slots:
    void every_answer_about_the_folder_comes_as_json() {
        const QStringList mine = {"--json", "--data-dir", path("json")};
        const json made = parsed(run_node(QStringList{"identity", "create"} + mine));
        const std::string id = made.at("id").get<std::string>();
        QCOMPARE(id.size(), std::size_t{64});
        QCOMPARE(made.at("version").get<int>(), 2);
        QCOMPARE(QString::fromStdString(made.at("data_folder").get<std::string>()), path("json"));
        QVERIFY(!made.contains("recovery_words"));
        const json words = parsed(run_node(QStringList{"identity", "show", "--words"} + mine));
        QCOMPARE(QString::fromStdString(words.at("recovery_words").get<std::string>()).split(' ').size(), 24);
        const json saved = parsed(run_node(QStringList{"identity", "export", path("copy.key")} + mine));
        QCOMPARE(QString::fromStdString(saved.at("file").get<std::string>()), path("copy.key"));
        const json taken =
            parsed(run_node({"identity", "import", path("copy.key"), "--json", "--data-dir", path("second")}));
        QCOMPARE(taken.at("id").get<std::string>(), id);

        QCOMPARE(parsed(run_node(QStringList{"name", "Grace"} + mine)).at("name").get<std::string>(),
                 std::string("Grace"));
        QCOMPARE(parsed(run_node(QStringList{"name"} + mine)).at("name").get<std::string>(), std::string("Grace"));
        QCOMPARE(parsed(run_node(QStringList{"team", "Graz"} + mine)).at("team").get<std::string>(),
                 std::string("Graz"));
        QCOMPARE(parsed(run_node(QStringList{"team"} + mine)).at("team").get<std::string>(), std::string("Graz"));
        QVERIFY(parsed(run_node(QStringList{"runs"} + mine)).at("runs").empty());
    }

    void the_demo_is_the_program_beside_the_node() {
#ifdef _WIN32
        QSKIP("A script stands for the demo here.");
#endif
        const QString folder = path("programs"), copy = folder + "/potluck-node", demo = folder + "/potluck-demo";
        QVERIFY(QDir().mkpath(folder) && QFile::copy(QStringLiteral(POTLUCK_BIN_DIR "/potluck-node"), copy));
        QProcess node;
        const QStringList words{"--data-dir", path("shown"), "demo", "--text", "a b"};
        node.start(copy, words);
        QVERIFY(node.waitForFinished());
        QCOMPARE(node.exitCode(), 1);
        QCOMPARE(QString::fromUtf8(node.readAllStandardError()),
                 QString("potluck-node: The demo is a program of its own, and %1 cannot be started (No such file or "
                         "directory). Install all of Potluck, or build the target potluck-demo.\n")
                     .arg(demo));
        // Its words, what confines trainers of a node (nothing: it confines none of its own), and what was typed.
        std::ofstream(demo.toStdString())
            << "#!/bin/sh\nprintf '%s|' \"$@\"\nenv | grep -c ^POTLUCK_CONFINE\ncat >&2\nexit 17\n";
        QVERIFY(QFile::setPermissions(demo, QFile::ReadOwner | QFile::ExeOwner));
        node.start(copy, words);
        node.write("typed");
        node.closeWriteChannel();
        QVERIFY(node.waitForFinished());
        QCOMPARE(node.exitCode(), 17);
        QCOMPARE(QString::fromUtf8(node.readAllStandardOutput()),
                 QString("--data-dir|%1|demo|--text|a b|0\n").arg(path("shown")));
        QCOMPARE(QString::fromUtf8(node.readAllStandardError()), QString("typed"));
    }

    void a_run_in_the_folder_is_a_row() {
        write_text(path("text").toStdString() + "/words.txt");
        const Ended made = run_node({"host", "--prepare", "--layers", "1", "--width", "32", "--heads", "2", "--context",
                                     "32", "--name", "Rows", "--text", path("text"), "--data-dir", path("rows")});
        QVERIFY2(made.code == 0, qPrintable(made.err));
        const json rows = parsed(run_node({"runs", "--json", "--data-dir", path("rows")})).at("runs");
        QCOMPARE(rows.size(), std::size_t{1});
        QCOMPARE(rows[0].at("name").get<std::string>(), std::string("Rows"));
        QVERIFY(rows[0].at("current").get<bool>() && rows[0].at("bytes").get<std::uint64_t>() > 150'000);
        QVERIFY(made.out.contains(QString::fromStdString(rows[0].at("id").get<std::string>())));
    }

    void every_json_has_a_version_and_no_progress_that_is_unknown() {
        write_text(path("spoken").toStdString() + "/words.txt");
        const Ended made = run_node({"host", "--prepare", "--layers", "1", "--width", "32", "--heads", "2", "--context",
                                     "32", "--text", path("spoken"), "--data-dir", path("asked")});
        QVERIFY2(made.code == 0, qPrintable(made.err));
        for (const char* verb : {"status", "leaderboard", "checkpoints", "runs"}) {
            const json answer = parsed(run_node({verb, "--json", "--data-dir", path("asked")}));
            QVERIFY2(answer.is_object() && answer.value("version", 0) == 2, verb);
            QVERIFY2(!answer.contains("progress"), verb);
        }
        const json nobody = parsed(run_node({"status", "--json", "--data-dir", path("nobody")}));
        QVERIFY(nobody.value("version", 0) == 2 && !nobody.contains("progress"));
        const json verified = parsed(run_node({"verify", path("nothing"), "--json"}));
        QVERIFY(verified.value("version", 0) == 2 && !verified.at("verified").get<bool>());
    }

    void a_refusal_is_json_too() {
        for (const QStringList& question :
             {QStringList{"identity", "show"}, QStringList{"name"}, QStringList{"team"}, QStringList{"runs"}}) {
            const Ended asked = run_node(question + QStringList{"--json", "--data-dir", path("typo")});
            QVERIFY(asked.code != 0);
            const json error = parsed(asked).at("error");
            QCOMPARE(error.at("kind").get<std::string>(), std::string("not_found"));
            QVERIFY(asked.err.contains(QString::fromStdString(error.at("message").get<std::string>())));
            QVERIFY(!QDir(path("typo")).exists());
        }
    }

    void a_node_that_is_told_to_end_says_so() {
        const QStringList stop = {"stop", "--json", "--data-dir", path("ending")};
        ServingNode node(path("ending").toStdString());
        for (const bool json_wanted : {false, true}) {
            node.start({"--standalone"});
            QVERIFY(QTest::qWaitFor([&] { return QFile::exists(path("ending") + "/node.sock"); }, 8000));
            const Ended ended = run_node(json_wanted ? stop : QStringList{"stop", "--data-dir", path("ending")});
            QCOMPARE(ended.code, 0);
            if (json_wanted) QCOMPARE(parsed(ended).at("activity").get<std::string>(), std::string("idle"));
            if (!json_wanted) QCOMPARE(ended.out, QString("The node ends.\n"));
            QVERIFY(node.process().waitForFinished(8000));
        }
        const Ended nobody = run_node(stop);
        QCOMPARE(nobody.code, 3);
        QCOMPARE(parsed(nobody).at("activity").get<std::string>(), std::string("not_running"));
    }

    void hosting_beside_a_running_node_fails_with_advice() {
        ServingNode node(path("busy").toStdString());
        node.start();
        QVERIFY(node.wait_for([](const auto& now) { return now.network.port > 0; }, 8000));
        write_text(path("busy-text").toStdString() + "/words.txt");
        const Ended ended = run_node({"host", "--text", path("busy-text"), "--data-dir", path("busy")});
        QCOMPARE(ended.code, 4);
        QVERIFY2(ended.err.contains("A node is running for " + path("busy")), qPrintable(ended.err));
        QVERIFY2(ended.err.contains("potluck-node stop"), qPrintable(ended.err));
    }

    void a_log_is_followed_into_the_next_file() {
        const QString file = path("log/node.log");
        QVERIFY(QDir().mkpath(path("log")));
        std::ofstream(file.toStdString()) << "one\ntwo\nthree\n";
        QProcess reader;
        reader.start(node_program(), {"log", "-f", "--lines", "2", "--data-dir", path("log")});
        QByteArray seen;
        const auto sees = [&](const QByteArray& all) {
            return QTest::qWaitFor([&] { return (seen += reader.readAllStandardOutput()) == all; }, 5000);
        };
        QVERIFY2(sees("two\nthree\n"), seen.constData());
        std::ofstream(file.toStdString(), std::ios::app) << "four\n";
        QVERIFY2(sees("two\nthree\nfour\n"), seen.constData());
        QVERIFY(QFile::rename(file, path("log/node.1.log")));
        std::ofstream(path("log/node.1.log").toStdString(), std::ios::app) << "five\n";
        std::ofstream(file.toStdString()) << "six\n";
        QVERIFY2(sees("two\nthree\nfour\nfive\nsix\n"), seen.constData());
        reader.kill();
        QVERIFY(reader.waitForFinished(2000));
    }
};

QTEST_GUILESS_MAIN(NodeVerbsTest)
#include "test_node_verbs.moc"
