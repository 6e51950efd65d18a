// What the command line prints of a node whose every text is a stranger's and hostile: nothing that commands a
// terminal, as text and as JSON. This test is the node: it answers at the socket in the data folder.
#include <functional>

#include <QFile>
#include <QLocalServer>
#include <QLocalSocket>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include "core/control/node_methods.h"
#include "core/control/rpc.h"
#include "tests/hostile_answers.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

nlohmann::json recorded(const char* name) {
    QFile file(QStringLiteral(POTLUCK_SOURCE_DIR "/tests/ui/snapshots/%1.json").arg(QLatin1String(name)));
    if (!file.open(QIODevice::ReadOnly)) qFatal("%s is not recorded", name);
    return nlohmann::json::parse(file.readAll().toStdString());
}

class HostileNode : public QObject {
    Q_OBJECT
public:
    explicit HostileNode(const QString& socket) {
        connect(&m_server, &QLocalServer::newConnection, this, [this] {
            QLocalSocket* caller = m_server.nextPendingConnection();
            connect(caller, &QLocalSocket::readyRead, this, [this, caller] {
                while (caller->canReadLine()) answer(*caller, caller->readLine().toStdString());
            });
        });
        if (!m_server.listen(socket)) qFatal("%s", qPrintable(m_server.errorString()));
    }

    std::map<std::string, nlohmann::json> answers;

private:
    void answer(QLocalSocket& caller, const std::string& line) {
        const auto decoded = control::decode(line.substr(0, line.size() - 1));
        if (!decoded) return;
        const auto* request = std::get_if<control::Request>(&*decoded);
        if (request == nullptr) return;
        control::Reply reply{request->id, nlohmann::json::object(), std::nullopt};
        if (const auto found = answers.find(request->method); found != answers.end()) {
            reply.result = found->second;
        } else {
            reply.result = nullptr;
            reply.error = Error{ErrorCode::invalid_argument, m_sentence};
        }
        caller.write(QByteArray::fromStdString(control::encode(reply)));
    }

    QLocalServer m_server;

public:
    std::string m_sentence;
};

struct Printed {
    int code = -1;
    QByteArray out, err;
};

/// The program to its end, while this process goes on answering.
Printed printed_by(const QStringList& arguments) {
    QProcess process;
    process.start(QStringLiteral(POTLUCK_BIN_DIR "/potluck-node"), arguments);
    Printed printed;
    if (QTest::qWaitFor([&] { return process.state() == QProcess::NotRunning; }, 20'000))
        printed.code = process.exitCode();
    process.kill();
    process.waitForFinished(1000);
    printed.out = process.readAllStandardOutput();
    printed.err = process.readAllStandardError();
    return printed;
}

}  // namespace

class TerminalTest : public QObject {
    Q_OBJECT
private slots:
    void printed_text_cannot_command_a_terminal_data() {
        QTest::addColumn<std::string>("text");
        for (const HostileString& one : hostile_strings()) QTest::newRow(one.name) << one.utf8;
    }
    void printed_text_cannot_command_a_terminal() {
        QFETCH(std::string, text);
        using namespace control;
        const QTemporaryDir folder;
        HostileNode node(folder.filePath("node.sock"));
        node.m_sentence = hostile_answer<Committee>({{"seats", nlohmann::json::array()},
                                                     {"needed", 1},
                                                     {"waiting", {"a"}},
                                                     {"banned", nlohmann::json::array()},
                                                     {"vouched", nlohmann::json::array()},
                                                     {"evidence", nlohmann::json::array()}},
                                                    text)["waiting"][0]
                              .get<std::string>();
        nlohmann::json committee = recorded("committee");
        committee["waiting"] = {"a change"};
        PauseHistory pauses;
        pauses.rows.emplace_back().detail = "a game";
        node.answers[std::string(ReadStatus::name)] = hostile_answer<NodeSnapshot>(recorded("training"), text);
        node.answers[std::string(ReadLeaderboard::name)] = hostile_answer<Leaderboard>(recorded("leaderboard"), text);
        node.answers[std::string(ReadCommittee::name)] = hostile_answer<Committee>(committee, text);
        node.answers[std::string(ReadPauses::name)] = hostile_answer<PauseHistory>(to_json(pauses), text);
        node.answers[std::string(ReadCheckpoints::name)] = hostile_answer<Checkpoints>(
            {{"rows", {{{"round", 3}, {"magnet", "m"}, {"file", "f"}, {"digest", "d"}, {"bytes", 9}}}}}, text);
        node.answers[std::string(SampleText::name)] = hostile_answer<SampledText>({{"text", "a"}, {"round", 3}}, text);
        node.answers[std::string(MakeInvite::name)] = hostile_answer<InviteLink>({{"magnet", "m"}}, text);
        int shown = 0;
        for (const QStringList& verb : {QStringList{"status"},
                                        {"leaderboard"},
                                        {"leaderboard", "--teams"},
                                        {"leaderboard", "--find", "x"},
                                        {"committee", "show"},
                                        {"pauses"},
                                        {"checkpoints"},
                                        {"sample"},
                                        {"invite"},
                                        {"name"},
                                        {"team"},
                                        {"rollback", "3"},
                                        {"status", "--json"},
                                        {"leaderboard", "--json"},
                                        {"checkpoints", "--json"}}) {
            const Printed printed = printed_by(verb + QStringList{"--data-dir", folder.path()});
            const QString what =
                verb.join(u' ') + ": " + printed.out.toPercentEncoding(" \n") + printed.err.toPercentEncoding(" \n");
            QVERIFY2(printed.code >= 0, qPrintable(what));
            QVERIFY2(!commands_terminals(printed.out.toStdString(), "\n"), qPrintable(what));
            QVERIFY2(!commands_terminals(printed.err.toStdString(), "\n"), qPrintable(what));
            shown += printed.code == 0;
            if (verb.contains("--json")) {
                // A program reads what the node said.
                const auto parsed = nlohmann::json::parse(printed.out.toStdString(), nullptr, false);
                QVERIFY(!parsed.is_discarded());
                if (verb.front() == "leaderboard")
                    QCOMPARE(parsed["rows"][0]["name"].get<std::string>(),
                             node.answers[std::string(ReadLeaderboard::name)]["rows"][0]["name"].get<std::string>());
            }
        }
        QVERIFY2(shown >= 10, qPrintable(QString::number(shown)));
    }

    void status_tells_who_adds_up_contributions_data() {
        QTest::addColumn<int>("signers");
        QTest::addColumn<int>("offers");
        QTest::addColumn<QString>("told");
        QTest::newRow("all here") << 0 << 0 << "sums: adds up all contributions\n";
        QTest::newRow("some here") << 0 << 40 << "sums: adds up 12 of 40 contributions, as many as this line carries";
        QTest::newRow("others") << 3 << 0 << "sums: takes the sum from 3 others";
    }
    void status_tells_who_adds_up_contributions() {
        QFETCH(const int, signers);
        QFETCH(const int, offers);
        QFETCH(const QString, told);
        const QTemporaryDir folder;
        HostileNode node(folder.filePath("node.sock"));
        nlohmann::json& status = node.answers[std::string(control::ReadStatus::name)] = recorded("training");
        status["run"]["sum_signers"] = signers;
        status["run"]["offers"] = offers;
        status["run"]["offers_in_time"] = 12;
        const Printed printed = printed_by({"status", "--data-dir", folder.path()});
        QVERIFY2(QString::fromUtf8(printed.out).contains(told), printed.out.constData());
    }
};

QTEST_GUILESS_MAIN(TerminalTest)
#include "test_terminal.moc"
