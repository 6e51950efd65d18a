// What the command line answers from a data folder whose node does not run.
#include "tests/integration/node_fixture.h"

#include "core/control/node_methods.h"

using namespace potluck;
using namespace potluck::test;
namespace fs = std::filesystem;

class StoredNodeTest : public QObject {
    Q_OBJECT
private slots:
    void a_folder_answers_for_the_node_that_has_ended() {
        Swarm swarm;
        swarm.host(4);
        ServingNode& anna = swarm.volunteer("anna");
        QVERIFY(swarm.all_end_equal(40'000));
        const control::NodeSnapshot last = anna.status();
        QCOMPARE(anna.close(), 0);
        const QString data = anna.data();

        const Ended people = run_node({"status", "--data-dir", data});
        QCOMPARE(people.code, 3);
        QVERIFY2(people.out.startsWith("not_running: "), qPrintable(people.out + people.err));
        QVERIFY(people.out.contains("run: Test") && people.out.contains("round 4 of 4, training loss "));
        const Ended script = run_node({"status", "--json", "--data-dir", data});
        const auto stored = printed_answer<control::NodeSnapshot>(script);
        QVERIFY(stored.ok());
        QVERIFY(stored->activity == control::Activity::not_running);
        QVERIFY(stored->run.has_value());
        QCOMPARE(stored->run->digest, last.run->digest);
        QCOMPARE(stored->run->my_tokens, last.run->my_tokens);
        QVERIFY(stored->run->my_tokens > 0);
        QCOMPARE(stored->peer_id, last.peer_id);

        const Ended leaders = run_node({"leaderboard", "--json", "--data-dir", data});
        QCOMPARE(leaders.code, 0);
        const auto board = printed_answer<control::Leaderboard>(leaders);
        QVERIFY(board.ok());
        QCOMPARE(board->rows.size(), std::size_t{1});
        QVERIFY(board->rows.front().self && board->rows.front().name == "anna");
        const Ended found = run_node({"leaderboard", "--find", "ANN", "--data-dir", data});
        QVERIFY2(found.out.contains("anna"), qPrintable(found.out));
        const Ended missed = run_node({"leaderboard", "--find", "berta", "--data-dir", data});
        QVERIFY2(missed.out.startsWith("No name, team or key here contains berta"), qPrintable(missed.out));
        QVERIFY(run_node({"leaderboard", "--teams", "--data-dir", data}).out.contains("has named a team"));
        QCOMPARE(run_node({"team", "Uni Graz", "--data-dir", data}).code, 0);
        const Ended teams = run_node({"leaderboard", "--teams", "--find", "graz", "--data-dir", data});
        QVERIFY2(teams.out.contains("Uni Graz") && teams.out.contains("1 people 100.0%  (yours)"),
                 qPrintable(teams.out));
        QVERIFY(run_node({"leaderboard", "--find", "graz", "--data-dir", data}).out.contains("anna"));
        const Ended none = run_node({"leaderboard", "--teams", "--find", "wien", "--data-dir", data});
        QVERIFY2(none.out.startsWith("No team here contains wien"), qPrintable(none.out));

        const Ended rows = run_node({"checkpoints", "--json", "--data-dir", data});
        QCOMPARE(rows.code, 0);
        const auto checkpoints = printed_answer<control::Checkpoints>(rows);
        QVERIFY(checkpoints.ok() && !checkpoints->rows.empty());
        QCOMPARE(checkpoints->rows.front().round, std::uint64_t{3});
        QVERIFY(fs::file_size(checkpoints->rows.front().file) == checkpoints->rows.front().bytes);

        const fs::path exported = swarm.root() / "exported";
        const Ended written = run_node({"export", QString::fromStdString(exported.string()), "--data-dir", data});
        QVERIFY2(written.code == 0, qPrintable(written.err));
        QVERIFY(fs::exists(exported / "model.safetensors") && fs::exists(exported / "config.json"));
        const Ended sample = run_node({"sample", "--prompt", "The", "--tokens", "12", "--data-dir", data});
        QVERIFY2(sample.code == 0, qPrintable(sample.err));
        QCOMPARE(sample.out.trimmed().size(), qsizetype{12});
    }

    void a_node_that_runs_is_asked() {
        Swarm swarm;
        swarm.host(1000);
        const Ended script = run_node({"status", "--json", "--data-dir", swarm.backbone().data()});
        QCOMPARE(script.code, 0);
        const auto snapshot = printed_answer<control::NodeSnapshot>(script);
        QVERIFY(snapshot.ok());
        QVERIFY(snapshot->activity == control::Activity::sharing && snapshot->network.port > 0);
    }

    void a_locked_folder_whose_node_cannot_be_reached_is_left_alone() {
        const QTemporaryDir folder;
        ServingNode node(folder.path().toStdString());
        node.start();
        QVERIFY(node.wait_for([](const auto& now) { return now.network.port > 0; }, 8000));
        QVERIFY(fs::remove(node.folder() / "node.sock"));
        const Ended ended = run_node({"leaderboard", "--data-dir", folder.path()});
        QCOMPARE(ended.code, 4);
        QVERIFY(ended.out.isEmpty());
    }

    void a_folder_that_no_node_used_says_so_and_stays_empty() {
        const QTemporaryDir folder;
        const Ended script = run_node({"status", "--json", "--data-dir", folder.path()});
        QCOMPARE(script.code, 3);
        const auto object = nlohmann::json::parse(script.out.toStdString());
        QCOMPARE(object.at("activity").get<std::string>(), std::string("not_running"));
        QVERIFY(fs::is_empty(folder.path().toStdString()));
    }
};

QTEST_GUILESS_MAIN(StoredNodeTest)
#include "test_stored_node.moc"
