// The states that people rarely see, each brought about with a real node, and out of each by clicks. What the first
// walk (test_state_walk.cpp) and this one together leave out stands in walked.h, with the reason why.
#include <filesystem>
#include <fstream>

#include <QComboBox>
#include <QSpinBox>
#include <QUdpSocket>

#include "tests/integration/proxy_server.h"
#include "tests/ui/walk/walk.h"

using namespace potluck;
using namespace potluck::test;

namespace fs = std::filesystem;

class RareStatesTest : public QObject {
    Q_OBJECT
private slots:
    void an_invite_that_nobody_answers_says_so_and_is_given_up_or_replaced() {
        Swarm swarm;
        swarm.host(1000);
        const QTemporaryDir deaf, folder;
        const QString dead = "magnet:?xt=urn:btmh:1220" + QString(64, 'b') + "&dn=Gone";
        const QStringList patience = {"POTLUCK_SEARCH_PATIENCE", "1s"};
        {
            Walk walk(deaf.path(), Walk::World{.more = patience});
            IS_READY();
            QVERIFY(walk.join(dead));
            REACHES(walk.is(Reason::search_offline));
            QVERIFY(walk.click("cancelSearch"));
            IS_READY();
            CHECK_WALK();
        }
        // A node learns of others than its entry point only.
        ServingNode entry(swarm.root() / "entry"), other(swarm.root() / "other");
        const QString port = QString::number(free_port());
        entry.start({"--port", port});
        QVERIFY(entry.wait_for([](const auto& now) { return now.network.port > 0; }, soon));
        other.start({"--dht", "127.0.0.1:" + port});
        QVERIFY(entry.wait_for([](const auto& now) { return now.network.dht_nodes > 0; }, soon));
        Walk walk(folder.path(), Walk::World{.dht = "127.0.0.1:" + port, .more = patience});
        IS_READY();
        QTRY_VERIFY_WITH_TIMEOUT(walk.node().network.dht_nodes > 0, soon);
        QVERIFY(walk.join(dead));
        REACHES(walk.is(Reason::run_unreachable));
        QVERIFY(walk.find<QLabel>("reason")->text().contains("“Gone”"));
        QVERIFY(walk.join(QString::fromStdString(swarm.invite())));
        REACHES(walk.trains());
        CHECK_WALK();
    }

    void a_run_that_cannot_be_joined_is_tried_again_once_it_is_put_right() {
        Swarm swarm;
        swarm.host(1000);
        const QTemporaryDir folder;
        const fs::path manifest = run_folder(folder, swarm) / "manifest";
        fs::create_directories(manifest.parent_path());
        std::ofstream(manifest) << "not a manifest";
        Walk walk(folder.path(), dht_of(swarm));
        IS_READY();
        QVERIFY(walk.join(QString::fromStdString(swarm.invite())));
        REACHES(walk.is(Reason::run_refused));
        QVERIFY(walk.click("cancelSearch"));
        IS_READY();
        QVERIFY(walk.join(QString::fromStdString(swarm.invite())));
        REACHES(walk.is(Reason::run_refused));
        fs::remove(manifest);
        QVERIFY(walk.click("tryAgain"));
        REACHES(walk.trains());
        CHECK_WALK();
    }

    void a_trainer_that_is_missing_is_tried_again_once_it_is_there() {
        Swarm swarm;
        swarm.host(1000);
        const QTemporaryDir folder, programs;
        const QString trainer = programs.filePath("trainer");
        Walk walk(folder.path(),
                  Walk::World{.dht = dht_of(swarm), .trainer = trainer, .more = {"FAKE_TRAINER_REPLAN", "1"}});
        IS_READY();
        QVERIFY(walk.join(QString::fromStdString(swarm.invite())));
        REACHES(walk.is(Reason::trainer_missing));
        QVERIFY(QFile::copy(fake_trainer(), trainer));
        QVERIFY(walk.click("tryAgain"));
        REACHES(walk.is(Reason::trainer_changed));  // this trainer runs out of memory once, and goes on with less
        QVERIFY(walk.leave_now());
        IS_READY();
        CHECK_WALK();
    }

    void members_that_are_gone_are_waited_for() {
        Swarm swarm;
        swarm.host(1000);
        const QTemporaryDir folder;
        const fs::path manifest = run_folder(folder, swarm) / "manifest";
        fs::create_directories(manifest.parent_path());
        fs::copy_file(swarm.root() / "host" / "runs" / run_id(swarm) / "manifest", manifest);
        swarm.backbone().kill();
        Walk walk(folder.path(), Walk::World{});
        IS_READY();
        QVERIFY(walk.join(QString::fromStdString(swarm.invite())));
        REACHES(walk.is(Reason::members_unreachable));
        QVERIFY(walk.leave_now());
        IS_READY();
        CHECK_WALK();
    }

    /// Another volunteer goes on being heard of while the committee stands still.
    void a_committee_that_stands_still_is_waited_for() {
        Swarm swarm;
        swarm.host(1000);
        ServingNode& other = swarm.volunteer("other");
        QVERIFY(other.wait_for_round(1, later));
        const QTemporaryDir folder;
        Walk walk(folder.path(), dht_of(swarm));
        IS_READY();
        QVERIFY(walk.join(QString::fromStdString(swarm.invite())));
        REACHES(walk.trains() && walk.node().run->members.size() == 3);
        const auto host = static_cast<pid_t>(swarm.backbone().process().processId());
        ::kill(host, SIGSTOP);
        const bool waits = QTest::qWaitFor([&] { return walk.is(Reason::waiting_for_committee); }, later);
        ::kill(host, SIGCONT);
        QVERIFY2(waits, name_of(walk.node().why.reason));
        REACHES(walk.trains());
        QVERIFY(walk.leave_now());
        IS_READY();
        CHECK_WALK();
    }

    void a_key_that_is_used_twice_is_told_and_left() {
        Swarm swarm;
        swarm.host(1000);
        const QTemporaryDir folder;
        Walk walk(folder.path(), dht_of(swarm));
        IS_READY();
        QVERIFY(walk.join(QString::fromStdString(swarm.invite())));
        REACHES(walk.trains());
        fs::create_directories(swarm.root() / "twin");
        fs::copy_file(fs::path(folder.path().toStdString()) / "identity.key", swarm.root() / "twin" / "identity.key");
        swarm.volunteer("twin");
        REACHES(walk.is(Reason::identity_in_use));
        QVERIFY(walk.click("leaveRun") || walk.leave_now());
        IS_READY();
        CHECK_WALK();
    }

    void a_finished_member_trains_again() {
        Swarm swarm;
        swarm.host(1000);
        const QTemporaryDir folder;
        Walk walk(folder.path(), dht_of(swarm));
        IS_READY();
        QVERIFY(walk.join(QString::fromStdString(swarm.invite())));
        REACHES(walk.trains());
        QCOMPARE(run_node({"finish", "--data-dir", folder.path()}).code, 0);  // only the command line stays a member
        REACHES(walk.is(Reason::finished));
        QVERIFY(walk.click("trainAgain"));
        REACHES(walk.trains());
        QVERIFY(walk.leave_now());
        IS_READY();
        CHECK_WALK();
    }

    /// The data of the run is larger than what this computer may keep; the person allows more where the button leads.
    void a_disk_limit_that_is_too_small_is_told_until_more_is_allowed() {
        Swarm swarm;
        swarm.host(1000);
        const QTemporaryDir folder;
        Walk walk(folder.path(), dht_of(swarm));
        IS_READY();
        control::Resources resources = walk.node().resources.value();
        resources.disk = 40'000;
        walk.client.setResources(resources);
        QTRY_VERIFY_WITH_TIMEOUT(walk.node().resources->disk == resources.disk, soon);
        QVERIFY(walk.join(QString::fromStdString(swarm.invite())));
        REACHES(walk.is(Reason::disk_too_small));
        QVERIFY(walk.node().why.needed > 40'000 && walk.node().why.here == 40'000);
        QVERIFY(walk.find<QLabel>("reason")->text().contains("too small"));
        QVERIFY(walk.click("allowDisk"));
        auto* limit = walk.find<QSpinBox>("diskLimit");
        QVERIFY(limit != nullptr && limit->hasFocus());
        QCOMPARE(limit->text(), QStringLiteral("1 MB"));
        const std::set<Reason> before = std::exchange(walk.seen, {});
        QTest::keyClicks(limit, "500");
        QTest::keyClick(limit, Qt::Key_Return);
        walk.window.showPage(ui::MainWindow::home_page);
        REACHES(walk.trains());
        QVERIFY(!walk.seen.contains(Reason::hindered) && !walk.seen.contains(Reason::trouble));
        QVERIFY(walk.leave_now());
        IS_READY();
        walk.seen.insert(before.begin(), before.end());
        CHECK_WALK();
    }

    /// The window of a person who hosts a run and is its only member, and so its committee.
    void a_host_without_company_trains_alone_and_leaves() {
        Swarm swarm;
        swarm.host(1000);
        swarm.backbone().kill();
        const QTemporaryDir folder;
        const Ended made = run_node({"host",
                                     "--prepare",
                                     "--volunteer",
                                     "--data-dir",
                                     folder.path(),
                                     "--text",
                                     QString::fromStdString((swarm.root() / "text").string()),
                                     "--name",
                                     "Alone",
                                     "--context",
                                     "32",
                                     "--rounds",
                                     "1000",
                                     "--window",
                                     "0.6",
                                     "--collect",
                                     "1",
                                     "--grace",
                                     "1",
                                     "--density",
                                     "256",
                                     "--layers",
                                     "1",
                                     "--width",
                                     "32",
                                     "--heads",
                                     "2"});
        QVERIFY2(made.code == 0, qPrintable(made.err));
        Walk walk(folder.path(), Walk::World{});
        REACHES(walk.is(Reason::alone));
        QVERIFY(walk.leave_now());
        IS_READY();
        CHECK_WALK();
    }

    /// A window over the folder of a backbone, which decides and relays and trains nothing.
    void a_backbone_keeps_rounds_and_collects() {
        Swarm swarm;
        swarm.host(1000);
        ServingNode& other = swarm.volunteer("other");
        const QString data = swarm.backbone().data();
        Walk walk(data, Walk::World{});  // beside the node that runs there
        REACHES(walk.is(Reason::keeping));
        REACHES(walk.seen.contains(Reason::collecting));
        QCOMPARE(run_node({"pause", "--data-dir", other.data()}).code, 0);  // it stays, and contributes nothing
        REACHES(walk.is(Reason::window_reopened));
        QVERIFY(walk.leave_now());
        IS_READY();
        CHECK_WALK();
    }

    /// Memory that errs: the node of this computer is one whose results differ (faulty_node.cpp). Another volunteer
    /// keeps the rounds coming that show it.
    void a_computer_that_calculates_differently_is_told_and_left() {
        Swarm swarm;
        swarm.host(1000);
        QVERIFY(swarm.volunteer("other").wait_for_round(1, later));
        const QTemporaryDir folder;
        Walk walk(folder.path(),
                  Walk::World{.dht = dht_of(swarm), .node = QStringLiteral(POTLUCK_BIN_DIR) + "/faulty_node"});
        IS_READY();
        QVERIFY(walk.join(QString::fromStdString(swarm.invite())));
        REACHES(walk.is(Reason::calculates_differently));
        QTRY_COMPARE_WITH_TIMEOUT(walk.node().trainer.process, std::int64_t{0}, soon);
        QVERIFY(walk.click("showLog"));
        walk.window.showPage(ui::MainWindow::home_page);
        QVERIFY(walk.click("leaveRun") || walk.leave_now());
        IS_READY();
        CHECK_WALK();
    }

    /// Nothing of the network is left but this computer, whose node is started again in the middle of it.
    void a_computer_without_a_network_trains_on_until_it_is_back() {
        Swarm swarm;
        swarm.host(1000);
        const QTemporaryDir folder;
        Walk walk(folder.path(), dht_of(swarm));
        IS_READY();
        QVERIFY(walk.join(QString::fromStdString(swarm.invite())));
        REACHES(walk.trains());
        const QString port = QString::number(swarm.backbone().status().network.port);
        swarm.backbone().kill();
        walk.kill(walk.node_process());
        QTRY_VERIFY_WITH_TIMEOUT(walk.click("retry"), soon);
        REACHES(walk.is(Reason::offline));
        QVERIFY(walk.find<QLabel>("reason")->text().contains("check this computer's connection"));
        swarm.backbone().start({"--port", port});
        REACHES(walk.trains());
        QVERIFY(walk.leave_now());
        IS_READY();
        CHECK_WALK();
    }

    void a_proxy_that_is_gone_is_told_until_another_way_is_chosen() {
        Swarm swarm;
        swarm.host(1000);
        const QTemporaryDir folder;
        Walk walk(folder.path(), dht_of(swarm));
        IS_READY();
        walk.client.setProxy({control::ProxyKind::socks5, "127.0.0.1", static_cast<std::uint16_t>(free_port())});
        QTRY_VERIFY_WITH_TIMEOUT(walk.node().proxy->answer == control::ProxyAnswer::silent, soon);
        QVERIFY(walk.join(QString::fromStdString(swarm.invite())));
        REACHES(walk.is(Reason::search_proxy_shut));
        QVERIFY(walk.find<QLabel>("reason")->text().contains("127.0.0.1:"));

        auto server = std::make_unique<tests::ProxyServer>(net::Proxy{net::ProxyKind::socks5, {}, 0, {}, {}});
        walk.client.setProxy({control::ProxyKind::socks5, "127.0.0.1", server->address().port});
        REACHES(walk.trains());
        QVERIFY(server->bytes_relayed() > 0);
        server.reset();
        REACHES(walk.is(Reason::proxy_shut));
        QVERIFY(walk.click("setProxy"));
        auto* kind = walk.find<QComboBox>("proxyKind");
        QVERIFY(kind != nullptr && kind->hasFocus());
        kind->setCurrentIndex(0);
        QVERIFY(walk.click("saveProxy"));
        walk.window.showPage(ui::MainWindow::home_page);
        REACHES(walk.trains());
        QVERIFY(walk.leave_now());
        IS_READY();
        CHECK_WALK();
    }

    /// Stopped, as a computer stops a program that it has no memory for.
    void a_node_that_does_not_answer_is_told_until_it_does() {
        const QTemporaryDir folder;
        Walk walk(folder.path(), Walk::World{});
        IS_READY();
        const auto node = static_cast<pid_t>(walk.node_process());
        QVERIFY(node > 0);
        ::kill(node, SIGSTOP);
        const bool told = QTest::qWaitFor([&] { return walk.seen.contains(Reason::node_silent); }, later);
        ::kill(node, SIGCONT);
        QVERIFY(told);
        IS_READY();
        CHECK_WALK();
    }

    void no_state_is_forgotten() { HAS_SEEN(s_seen, walked_rarely); }

private:
    static QString dht_of(Swarm& swarm) {
        return "127.0.0.1:" + QString::number(swarm.backbone().status().network.port);
    }
    /// Of TCP and UDP.
    static int free_port() {
        QUdpSocket socket;
        (void)socket.bind(QHostAddress::LocalHost);
        return socket.localPort();
    }
    static std::string run_id(Swarm& swarm) { return swarm.backbone().status().run->id; }
    static fs::path run_folder(const QTemporaryDir& folder, Swarm& swarm) {
        return fs::path(folder.path().toStdString()) / "runs" / run_id(swarm);
    }
    static inline std::set<Reason> s_seen;
};

QTEST_MAIN(RareStatesTest)
#include "test_state_walk_rare.moc"
