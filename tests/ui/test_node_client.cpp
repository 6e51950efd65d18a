// The client alone: what it makes of a node's lines, and of a node that dies.
#include <QSignalSpy>
#include <QtTest>

#include "tests/ui/fake_node.h"
#include "ui/client/node_client.h"

using namespace potluck;
using namespace potluck::tests;
using ui::Link;
using ui::NodeClient;
using ui::Transport;

namespace {

constexpr ui::Pace pace{std::chrono::milliseconds(30), std::chrono::milliseconds(120), std::chrono::milliseconds(300)};

}  // namespace

class TestNodeClient : public QObject {
    Q_OBJECT

private slots:
    void a_start_opens_a_node_of_our_own_and_subscribes() {
        FakeNode node;
        NodeClient client(node, pace);
        client.start();
        QCOMPARE(node.openings.size(), 1U);
        QCOMPARE(node.openings.front(), Transport::Way::serve);
        QCOMPARE(node.count("subscribe"), 1);
        QCOMPARE(client.view().link.state, Link::State::starting);
    }

    void a_snapshot_in_pieces_becomes_the_view() {
        FakeNode node;
        NodeClient client(node, pace);
        client.start();
        const QByteArray line =
            QByteArray::fromStdString(control::encode(control::Notification{"status", recorded("training")}));
        node.sayRaw(line.left(100));
        QVERIFY(!client.view().heard);
        node.sayRaw(line.mid(100));
        QCOMPARE(client.view().link.state, Link::State::up);
        QCOMPARE(client.view().snapshot.run->round, 42U);
        QCOMPARE(client.view().snapshot.run->members.size(), 6U);
    }

    void tables_are_asked_for_once_per_round() {
        FakeNode node;
        NodeClient client(node, pace);
        client.start();
        control::NodeSnapshot snapshot = recordedSnapshot("training");
        for (int second = 0; second < 3; ++second) {
            node.push(snapshot);
            QTest::qWait(2);
        }
        QCOMPARE(node.count("curve"), 1);
        QCOMPARE(node.count("leaderboard"), 1);
        QCOMPARE(client.view().curve.size(), 43U);
        QCOMPARE(client.view().leaderboard.rows.size(), 9U);
        snapshot.run->round = 43;
        node.push(snapshot);
        QCOMPARE(node.count("curve"), 2);
    }

    void leaving_a_run_empties_its_tables() {
        FakeNode node;
        NodeClient client(node, pace);
        client.start();
        node.pushRecorded("training");
        QTRY_VERIFY(!client.view().curve.empty());
        node.pushRecorded("before_joining");
        QVERIFY(client.view().curve.empty());
        QVERIFY(client.view().leaderboard.rows.empty());
    }

    void a_refusal_by_the_node_arrives_with_its_sentence() {
        FakeNode node;
        node.refuse("join", "The invite names no run.");
        NodeClient client(node, pace);
        QSignalSpy refused(&client, &NodeClient::refused);
        client.start();
        client.join(QStringLiteral("potluck:?xt=nothing"));
        QVERIFY(client.waitsFor(control::method_of<control::Join>));
        QVERIFY(refused.wait(1000));
        QCOMPARE(refused.front().at(0).value<control::Method>(), control::method_of<control::Join>);
        QCOMPARE(refused.front().at(1).toString(), QStringLiteral("The invite names no run."));
        QVERIFY(!client.waitsFor(control::method_of<control::Join>));
    }

    void a_node_that_runs_already_is_reached_through_control() {
        FakeNode node;
        NodeClient client(node, pace);
        client.start();
        node.die(Transport::End::already_running, QStringLiteral("in use"));
        QCOMPARE(node.openings, (std::vector{Transport::Way::serve, Transport::Way::control}));
        QVERIFY(client.view().link.state != Link::State::down);
        node.pushRecorded("training");
        QCOMPARE(client.view().link.state, Link::State::up);
    }

    void after_the_other_node_has_gone_one_of_our_own_is_started() {
        FakeNode node;
        NodeClient client(node, pace);
        client.start();
        node.die(Transport::End::already_running, {});
        node.pushRecorded("training");
        node.die(Transport::End::failed, {});
        QTRY_COMPARE(node.openings.size(), 3U);
        QCOMPARE(node.openings.back(), Transport::Way::serve);
    }

    void a_dead_node_is_reported_with_a_sentence_and_started_again() {
        FakeNode node;
        NodeClient client(node, pace);
        client.start();
        node.pushRecorded("training");
        node.die(Transport::End::failed, QStringLiteral("disk full"));
        QCOMPARE(client.view().link.state, Link::State::down);
        QVERIFY2(client.view().link.sentence.contains(QStringLiteral("disk full")),
                 qPrintable(client.view().link.sentence));
        QVERIFY(client.view().heard);
        QTRY_COMPARE(node.openings.size(), 2U);
        QCOMPARE(node.count("subscribe"), 2);
        QCOMPARE(client.view().link.state, Link::State::down);
        node.pushRecorded("training");
        QCOMPARE(client.view().link.state, Link::State::up);
    }

    void the_pauses_between_restarts_grow() {
        FakeNode node;
        NodeClient client(node, pace);
        client.start();
        QList<qint64> pauses;
        for (std::size_t death = 1; death <= 3; ++death) {
            QElapsedTimer timer;
            timer.start();
            node.die(Transport::End::failed, {});
            QTRY_COMPARE(node.openings.size(), death + 1);
            pauses << timer.elapsed();
        }
        QVERIFY2(pauses[0] >= 28 && pauses[1] >= 57 && pauses[2] >= 110,
                 qPrintable(QStringLiteral("%1 %2 %3").arg(pauses[0]).arg(pauses[1]).arg(pauses[2])));
    }

    void a_missing_program_is_named() {
        FakeNode node;
        NodeClient client(node, pace);
        client.start();
        node.die(Transport::End::missing, QStringLiteral("no such file"));
        QVERIFY(client.view().link.sentence.contains(QStringLiteral("potluck-node")));
    }

    void a_request_that_a_death_leaves_open_is_refused() {
        FakeNode node;
        node.hold("join");
        NodeClient client(node, pace);
        QSignalSpy refused(&client, &NodeClient::refused);
        client.start();
        client.join(QStringLiteral("potluck:?xt=x"));
        node.die(Transport::End::failed, {});
        QCOMPARE(refused.size(), 1);
        QVERIFY(!client.waitsFor(control::method_of<control::Join>));
        client.pause(std::chrono::seconds(0));
        QCOMPARE(refused.size(), 2);
    }

    void silence_is_noticed_and_forgiven() {
        FakeNode node;
        NodeClient client(node, pace);
        client.start();
        node.pushRecorded("training");
        QTRY_COMPARE(client.view().link.state, Link::State::silent);
        QVERIFY(!client.view().link.sentence.isEmpty());
        node.pushRecorded("training");
        QCOMPARE(client.view().link.state, Link::State::up);
    }

    void lines_that_make_no_sense_change_nothing() {
        FakeNode node;
        NodeClient client(node, pace);
        client.start();
        node.pushRecorded("training");
        node.sayRaw("not json at all\n{\"jsonrpc\":\"2.0\",\"id\":99999,\"result\":{}}\n");
        node.sayRaw("{\"jsonrpc\":\"2.0\",\"method\":\"unheard_of\",\"params\":{}}\n");
        QCOMPARE(client.view().link.state, Link::State::up);
        QCOMPARE(client.view().snapshot.run->round, 42U);
    }

    void a_snapshot_of_another_version_is_explained() {
        FakeNode node;
        NodeClient client(node, pace);
        client.start();
        nlohmann::json strange = recorded("training");
        strange["something_new"] = 1;
        node.sayRaw(QByteArray::fromStdString(control::encode(control::Notification{"status", strange})));
        QCOMPARE(client.view().link.state, Link::State::silent);
        QVERIFY(client.view().link.sentence.contains(QStringLiteral("version")));
    }

    void a_stop_closes_the_node_and_says_when_it_is_done() {
        FakeNode node;
        NodeClient client(node, pace);
        QSignalSpy stopped(&client, &NodeClient::stopped);
        client.start();
        node.pushRecorded("training");
        client.stop();
        QCOMPARE(client.view().link.state, Link::State::stopping);
        QVERIFY(stopped.wait(1000));
        QCOMPARE(node.closings, 1);
        QTest::qWait(100);
        QCOMPARE(node.openings.size(), 1U);
    }

    void a_stop_while_the_node_is_dead_ends_at_once() {
        FakeNode node;
        NodeClient client(node, pace);
        QSignalSpy stopped(&client, &NodeClient::stopped);
        client.start();
        node.die(Transport::End::failed, {});
        client.stop();
        QVERIFY(stopped.wait(1000));
        QTest::qWait(100);
        QCOMPARE(node.openings.size(), 1U);
    }

    void pauses_are_sent_in_seconds() {
        FakeNode node;
        NodeClient client(node, pace);
        client.start();
        client.pause(std::chrono::minutes(30));
        QCOMPARE(node.lastParams("pause").at("seconds").get<int>(), 1800);
    }
};

QTEST_GUILESS_MAIN(TestNodeClient)
#include "test_node_client.moc"
