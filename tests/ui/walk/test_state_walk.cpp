// Every state that a node can be brought into by what people do, and out of each by clicks alone back to "Ready".
#include "tests/ui/walk/walk.h"

using namespace potluck;
using namespace potluck::test;

class StateWalkTest : public QObject {
    Q_OBJECT
private slots:
    void every_state_leads_back_to_ready_by_clicks() {
        Swarm swarm;
        swarm.host(1000);
        const QString invite = QString::fromStdString(swarm.invite());
        const QTemporaryDir folder;
        Walk walk(folder.path(), dht_of(swarm));
        IS_READY();
        search_and_give_up(walk, invite);
        if (!QTest::currentTestFailed()) pause_and_give_way(walk);
        if (!QTest::currentTestFailed()) break_the_trainer(walk);
        if (!QTest::currentTestFailed()) finish_and_change_ones_mind(walk, swarm);
        if (!QTest::currentTestFailed()) lose_the_node(walk);
        if (!QTest::currentTestFailed()) be_shut_out(walk, swarm);
        CHECK_WALK();
    }

    void a_member_alone_or_at_the_end_gets_out_by_clicks() {
        Swarm first, second;
        first.host(1000);
        second.host(6);
        // Who stays when the first host is gone, so that this computer is alone in its run and not without a network: a
        // node counts others than its entry points only.
        ServingNode bystander(second.root() / "bystander");
        bystander.start({"--dht", dht_of(second)});
        const QTemporaryDir folder;
        Walk walk(folder.path(), "[" + dht_of(first) + "," + dht_of(second) + "]");
        IS_READY();
        QVERIFY(walk.join(QString::fromStdString(second.invite())));
        REACHES(walk.is(Reason::run_complete));
        QTRY_COMPARE_WITH_TIMEOUT(walk.node().trainer.process, std::int64_t{0}, soon);
        try_the_model(walk);
        walk.window.offerInvite(QString::fromStdString(second.invite()));
        QCOMPARE(walk.find<QLabel>("offer")->text(), QStringLiteral("You are in this run already."));
        QVERIFY(walk.click("dismiss"));
        walk.window.offerInvite(QString::fromStdString(first.invite()));
        QVERIFY(walk.click("switch"));
        REACHES(walk.trains());

        QTRY_VERIFY_WITH_TIMEOUT(walk.node().network.dht_nodes > 0, soon);
        first.backbone().kill();
        REACHES(walk.is(Reason::alone_waiting));
        QVERIFY(walk.find<QLabel>("reason")->text().contains("0 of the 1 needed"));
        first.backbone().start();
        REACHES(walk.trains());
        QVERIFY(walk.leave_now());
        IS_READY();
        QVERIFY(walk.join(QString::fromStdString(second.invite())));
        REACHES(walk.is(Reason::run_complete));
        QVERIFY(walk.click("leaveRun"));
        IS_READY();
        delete_what_is_left(walk);
        CHECK_WALK();
    }

    void no_state_is_forgotten() { HAS_SEEN(s_seen, walked_often); }

private:
    static inline std::set<Reason> s_seen;

    /// What everybody came for: the finished model writes.
    static void try_the_model(Walk& walk) {
        QVERIFY(walk.find<QLabel>("share") != nullptr);
        QVERIFY(walk.click("tryModel"));
        QVERIFY(walk.click("write"));
        QTRY_VERIFY_WITH_TIMEOUT(walk.find<QLabel>("sample") != nullptr, soon);
        walk.window.showPage(ui::MainWindow::home_page);
    }

    /// Its files go by two clicks, once the run is left for good.
    static void delete_what_is_left(Walk& walk) {
        const auto asks = [&] { return walk.find<QLabel>("leftText") != nullptr; };
        QTRY_VERIFY_WITH_TIMEOUT(asks(), soon);
        QVERIFY(walk.find<QLabel>("leftText")->text().contains("“Test”"));
        const auto gone = [&] {
            if (asks() && walk.click("deleteLeft")) (void)walk.accept();
            return !asks();
        };
        QTRY_VERIFY_WITH_TIMEOUT(gone(), soon);
    }

    static QString dht_of(Swarm& swarm) {
        return "127.0.0.1:" + QString::number(swarm.backbone().status().network.port);
    }

    /// An invite that nobody has ever seen, cancelled, and once more replaced by a good one.
    void search_and_give_up(Walk& walk, const QString& invite) {
        const QString dead = "magnet:?xt=urn:btmh:1220" + QString(64, 'a') + "&dn=Gone";
        walk.find<QLineEdit>("invite")->setText(dead);
        QVERIFY(walk.click("look"));
        QVERIFY(walk.click("join"));  // which ends the look
        QTRY_VERIFY_WITH_TIMEOUT(!walk.client.waitsFor(control::method_of<control::LookAtRun>), 5000);
        const auto searches = [&] { return walk.is(Reason::searching_network) || walk.is(Reason::searching_run); };
        REACHES(searches());
        QTRY_VERIFY(walk.find<QLabel>("reason")->text().contains("“Gone”"));
        QVERIFY(walk.click("cancelSearch"));
        IS_READY();
        QVERIFY(walk.join(dead));
        REACHES(searches());
        walk.find<QLineEdit>("invite")->setText(invite);
        QVERIFY(walk.click("look"));
        QTRY_COMPARE_WITH_TIMEOUT(walk.find<QLabel>("offerTitle")->text(), QStringLiteral("Test"), soon);
        QVERIFY(walk.find<QLabel>("offerSpeed") != nullptr);
        QVERIFY(searches());  // nothing was joined by that
        QVERIFY(walk.click("join"));
        REACHES(walk.trains());
    }

    void pause_and_give_way(Walk& walk) {
        QVERIFY(walk.choose("pause", 2));
        REACHES(walk.is(Reason::paused));
        QTRY_COMPARE_WITH_TIMEOUT(walk.node().trainer.process, std::int64_t{0}, 3000);
        QVERIFY(walk.click("pause"));
        REACHES(walk.trains());
        walk.client.giveWay({activity::Level::pause, activity::Signal::launcher, "game"}, std::chrono::seconds(60));
        REACHES(walk.is(Reason::yielding));
        QVERIFY(walk.click("pause"));
        REACHES(walk.trains());
    }

    void break_the_trainer(Walk& walk) {
        std::int64_t killed = 0;
        const auto kill_next = [&] {
            const std::int64_t process = walk.node().trainer.process;
            if (process > 0 && process != killed) walk.kill(killed = process);
            return walk.is(Reason::trainer_failed);
        };
        REACHES(kill_next());
        QVERIFY(walk.click("showLog"));
        QTRY_VERIFY_WITH_TIMEOUT(!walk.client.view().log.empty(), soon);
        QVERIFY(walk.click("copyDiagnostics"));
        walk.window.showPage(ui::MainWindow::home_page);
        QVERIFY(walk.click("tryAgain"));
        REACHES(walk.trains());
    }

    /// The host stands still meanwhile, so that the round does not end before one's mind is changed.
    void finish_and_change_ones_mind(Walk& walk, Swarm& swarm) {
        const auto host = static_cast<pid_t>(swarm.backbone().process().processId());
        REACHES(walk.hasTrained());
        ::kill(host, SIGSTOP);
        QVERIFY(walk.choose("more", 0));
        const bool finishes = QTest::qWaitFor([&] { return walk.is(Reason::finishing_to_leave); }, 5000);
        const bool changed = finishes && walk.click("trainAgain");
        ::kill(host, SIGCONT);
        QVERIFY2(changed, name_of(walk.node().why.reason));
        REACHES(walk.trains());
        QVERIFY(walk.choose("more", 0));
        IS_READY();
        QVERIFY(walk.join(QString::fromStdString(swarm.invite())));
        REACHES(walk.trains());
    }

    /// The node dies; the person does not wait until it is started again.
    void lose_the_node(Walk& walk) {
        QVERIFY(walk.node_process() > 0);
        walk.kill(walk.node_process());
        QTRY_VERIFY_WITH_TIMEOUT(walk.click("retry"), soon);
        REACHES(walk.trains());
    }

    /// The host bans this computer; its key stands in the snapshot.
    void be_shut_out(Walk& walk, Swarm& swarm) {
        const QString key = QString::fromStdString(walk.node().peer_id);
        QCOMPARE(run_node({"moderate", "ban", key, "--data-dir", swarm.backbone().data()}).code, 0);
        REACHES(walk.is(Reason::not_admitted));
        QVERIFY(walk.click("leaveRun"));
        IS_READY();
    }
};

QTEST_MAIN(StateWalkTest)
#include "test_state_walk.moc"
