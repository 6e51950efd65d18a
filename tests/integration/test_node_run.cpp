// Real nodes train over loopback with the fake trainer: whoever joins late, dies or is damaged, all end with one state.
#include <algorithm>
#include <fstream>
#include <map>

#include "app/node/session/settings.h"
#include "core/ledger/ledger.h"
#include "tests/integration/node_fixture.h"

using namespace potluck;
using namespace potluck::test;

class NodeRunTest : public QObject {
    Q_OBJECT
private slots:
    void three_volunteers_end_with_one_digest_and_credit() {
        Swarm swarm;
        swarm.host(5);
        for (const char* name : {"anna", "ben", "cleo"}) swarm.volunteer(name);
        for (const std::size_t one : {0, 1}) swarm.volunteers()[one]->call("set_team", {{"team", "Physics Uni Graz"}});
        QVERIFY(swarm.all_end_equal(40'000));
        std::uint64_t mine = 0;
        for (const auto& node : swarm.volunteers()) {
            const auto now = node->status();
            QVERIFY(now.run->my_tokens > 0);
            QCOMPARE(now.run->digests_compared, now.run->digests_equal);
            QCOMPARE(now.run->rounds_lost, std::uint64_t{0});
            QCOMPARE(now.activity, control::Activity::finished);
            mine += now.run->my_tokens;
        }
        QCOMPARE(mine, swarm.backbone().status().run->accepted_tokens);
        const auto rows = swarm.backbone().call("leaderboard", {{"most", 10}}).at("rows");
        QCOMPARE(rows.size(), std::size_t{3});
        QVERIFY(rows[0].at("name") != "");
        // Two of them have named a team, which the backbone has heard.
        const auto teams = swarm.backbone().call("leaderboard", {{"find", "graz"}}).at("teams");
        QCOMPARE(teams.size(), std::size_t{1});
        QCOMPARE(teams[0].at("team").get<std::string>(), std::string("Physics Uni Graz"));
        QCOMPARE(teams[0].at("members").get<int>(), 2);
        QCOMPARE(teams[0].at("tokens").get<std::uint64_t>(),
                 swarm.volunteers()[0]->status().run->my_tokens + swarm.volunteers()[1]->status().run->my_tokens);
        QVERIFY(!swarm.backbone().call("curve", {{"most", 10}}).at("points").empty());
        QVERIFY(!swarm.backbone().call("checkpoints").at("rows").empty());
        // Heartbeats alone go both ways over every connection.
        const auto is_told = [](const control::MemberRow& one) {
            return one.self ? one.seat : one.connected && one.sent_per_second > 0 && one.received_per_second > 0;
        };
        QVERIFY(swarm.backbone().wait_for(
            [&](const auto& now) { return std::ranges::all_of(now.run->members, is_told); }, 20'000));
    }

    /// An identity that was imported on a second computer trains there beside the first.
    void two_computers_of_a_person_train_side_by_side() {
        Swarm swarm;
        swarm.host(9);
        ServingNode& desk = swarm.volunteer("desk");
        const auto at = [&](const char* name) { return QString::fromStdString((swarm.root() / name).string()); };
        QCOMPARE(run_node({"identity", "export", at("copy.key"), "--data-dir", desk.data()}).code, 0);
        QCOMPARE(run_node({"identity", "import", at("copy.key"), "--data-dir", at("laptop")}).code, 0);
        ServingNode& laptop = swarm.volunteer("laptop");
        ServingNode& ben = swarm.volunteer("ben");
        QVERIFY(swarm.all_end_equal(60'000));
        const control::NodeSnapshot one = desk.status(), two = laptop.status(), other = ben.status();
        QVERIFY(one.peer_id != two.peer_id);
        QCOMPARE(two.person_id, one.person_id);
        QCOMPARE(one.activity, control::Activity::finished);
        QCOMPARE(two.activity, control::Activity::finished);
        QCOMPARE(two.run->my_tokens, one.run->my_tokens);
        QCOMPARE(one.run->my_tokens + other.run->my_tokens, one.run->accepted_tokens);
        const auto rows = swarm.backbone().call("leaderboard", {{"most", 10}}).at("rows");
        QCOMPARE(rows.size(), std::size_t{2});
        for (const auto& row : rows) QVERIFY(row.at("id") == one.person_id || row.at("id") == other.person_id);
        const control::NodeSnapshot hosted = swarm.backbone().status();
        const auto its = [&](const control::MemberRow& row) {
            return row.id == two.peer_id && row.person == one.person_id;
        };
        QCOMPARE(std::count_if(hosted.run->members.begin(), hosted.run->members.end(), its), 1);
        // Both have contributed, each what it has signed itself.
        QCOMPARE(swarm.backbone().close(), 0);
        const auto ledger = ledger::Ledger::open(swarm.root() / "host" / "ledger.db");
        QVERIFY(ledger.ok());
        std::map<std::string, int> entries;
        for (const auto& list : ledger->lists(*RunId::parse(hosted.run->id), RoundId{0}, 100)) {
            const Result<run::AcceptList> decoded = run::AcceptList::decode(list.list);
            QVERIFY(decoded.ok());
            for (const run::Accepted& entry : decoded->entries) ++entries[entry.peer.hex()];
        }
        QVERIFY(entries[one.peer_id] > 0 && entries[two.peer_id] > 0);
    }

    /// A computer is gone, and with it all but the recovery words.
    void recovery_words_bring_name_and_team_back() {
        Swarm swarm;
        swarm.host(400);
        ServingNode& desk = swarm.volunteer("desk");
        desk.call("set_team", {{"team", "Graz"}});
        const auto team_at_host = [&] {
            const auto rows = swarm.backbone().call("leaderboard", {{"most", 10}}).at("rows");
            return rows.empty() ? std::string() : rows[0].at("team").get<std::string>();
        };
        QTRY_COMPARE_WITH_TIMEOUT(team_at_host(), std::string("Graz"), 20'000);
        const Ended shown = run_node({"identity", "show", "--words", "--data-dir", desk.data()});
        const QString words = shown.out.section("(keep them secret): ", 1).trimmed();
        desk.kill();
        const auto folder = swarm.root() / Swarm::nameless;
        const QString data = QString::fromStdString(folder.string());
        node::NodeSettings other;
        other.name = "somebody else's";
        std::filesystem::create_directories(folder);
        QVERIFY(other.save(folder).ok());
        QCOMPARE(run_node({"identity", "import", "--words", "--data-dir", data, words}).code, 0);
        QCOMPARE(node::NodeSettings::load(folder)->name, std::string());
        ServingNode& back = swarm.volunteer(Swarm::nameless);
        const auto is_named = [](const control::NodeSnapshot& now) { return now.name == "desk" && now.team == "Graz"; };
        QVERIFY(back.wait_for(is_named, 20'000));
        const auto is_listed = [&](const control::NodeSnapshot& now) {
            return std::ranges::any_of(now.run->members, [&](const control::MemberRow& one) {
                return one.name == "desk" && one.id == back.status().peer_id;
            });
        };
        QVERIFY(swarm.backbone().wait_for(is_listed, 20'000));
        QCOMPARE(back.close(), 0);
        QCOMPARE(node::NodeSettings::load(folder)->name, std::string("desk"));
    }

    /// And a host hosts from whichever it likes.
    void a_host_hosts_from_another_of_its_computers() {
        Swarm swarm;
        const auto at = [&](const char* name) { return QString::fromStdString((swarm.root() / name).string()); };
        QCOMPARE(run_node({"identity", "create", "--data-dir", at("home")}).code, 0);
        QCOMPARE(run_node({"identity", "export", at("copy.key"), "--data-dir", at("home")}).code, 0);
        QCOMPARE(run_node({"identity", "import", at("copy.key"), "--data-dir", at("host")}).code, 0);
        swarm.host(5);
        swarm.volunteer("anna");
        swarm.volunteer("home");
        QVERIFY(swarm.all_end_equal(60'000));
        const control::NodeSnapshot host = swarm.backbone().status();
        QVERIFY(host.peer_id != host.person_id);
        QCOMPARE(swarm.volunteers()[1]->status().peer_id, host.person_id);
        QVERIFY(host.run->my_tokens > 0);
    }

    void a_late_joiner_is_credited_and_in_step() {
        Swarm swarm;
        swarm.host(9);
        swarm.volunteer("anna");
        swarm.volunteer("ben");
        QVERIFY(swarm.backbone().wait_for_round(4, 30'000));
        ServingNode& late = swarm.volunteer("late");
        QVERIFY(swarm.all_end_equal(40'000));
        QVERIFY(late.status().run->my_tokens > 0);
        QVERIFY(late.status().run->join_seconds > 0);
    }

    void a_killed_volunteer_comes_back_from_its_disk() {
        Swarm swarm;
        swarm.host(10);
        swarm.volunteer("anna");
        ServingNode& victim = swarm.volunteer("ben");
        QVERIFY(victim.wait_for_round(3, 30'000));
        const auto before = victim.status();
        victim.kill();
        QTRY_VERIFY_WITH_TIMEOUT(::kill(static_cast<pid_t>(before.trainer.process), 0) != 0,
                                 3000);  // its trainer went with it
        QVERIFY(swarm.backbone().wait_for_round(5, 30'000));
        victim.start({"--dht", "127.0.0.1:" + QString::number(swarm.backbone().status().network.port)});
        QVERIFY(swarm.all_end_equal(40'000));
        QVERIFY(victim.status().run->my_tokens > before.run->my_tokens);
        QCOMPARE(victim.status().peer_id, before.peer_id);
    }

    void among_friends_the_run_outlives_its_host() {
        Swarm swarm;
        swarm.host(14, swarm.allowing({"anna", "ben", "cleo"}) + QStringList{"--fit-rounds", "2"});
        ServingNode& anna = swarm.volunteer("anna");
        ServingNode& ben = swarm.volunteer("ben");
        swarm.volunteer("cleo");
        QVERIFY(anna.wait_for_round(6, 60'000));
        swarm.backbone().kill();
        const auto ended = [](const control::NodeSnapshot& now) {
            return now.run && now.run->round == now.run->total_rounds;
        };
        QVERIFY(anna.wait_for(ended, 60'000));
        QVERIFY(ben.wait_for(ended, 10'000));
        QCOMPARE(anna.status().run->digest, ben.status().run->digest);
    }

    void a_host_that_quits_hands_its_seat_to_a_friend() {
        Swarm swarm;
        swarm.host(10, swarm.allowing({"anna", "ben"}));
        ServingNode& anna = swarm.volunteer("anna");
        ServingNode& ben = swarm.volunteer("ben");
        QVERIFY(anna.wait_for_round(2, 60'000));
        QElapsedTimer clock;
        clock.start();
        QCOMPARE(swarm.backbone().close(), 0);
        QVERIFY(clock.elapsed() < 4'000);
        const auto ended = [](const control::NodeSnapshot& now) {
            return now.run && now.run->round == now.run->total_rounds;
        };
        QVERIFY(anna.wait_for(ended, 60'000));
        QVERIFY(ben.wait_for(ended, 10'000));
        QCOMPARE(anna.status().run->digest, ben.status().run->digest);
    }

    /// Of many rounds: who was refused tries again after up to a minute.
    void a_host_moderates_its_run() {
        Swarm swarm;
        swarm.host(1'000);
        ServingNode& anna = swarm.volunteer("anna");
        ServingNode& ben = swarm.volunteer("ben");
        const auto moderate = [&](const QStringList& what) {
            return run_node(QStringList{"moderate"} + what + QStringList{"--data-dir", swarm.backbone().data()});
        };
        const auto has_contributed = [](const control::NodeSnapshot& now) { return now.run && now.run->my_rounds > 0; };
        QVERIFY(ben.wait_for(has_contributed, 30'000));
        const auto refused_no_more = [](ServingNode& node) {
            const std::uint64_t before = node.status().run->my_rounds;
            return node.wait_for([&](const auto& now) { return now.run && now.run->my_rounds > before; }, 90'000);
        };
        const QString key = QString::fromStdString(ben.status().peer_id);
        QCOMPARE(moderate({"ban", key.left(8)}).code, 0);
        const auto is_out = [&](const control::NodeSnapshot& now) {
            return now.reason.find("admits only") != std::string::npos &&
                   now.reason.find(key.toStdString()) != std::string::npos;
        };
        QVERIFY(ben.wait_for(is_out, 20'000));
        const std::uint64_t rounds_of_ben = ben.status().run->my_rounds;
        const std::uint64_t round = anna.status().run->round;
        QVERIFY(anna.wait_for_round(round + 3, 20'000));
        QCOMPARE(ben.status().run->my_rounds, rounds_of_ben);
        const Ended shown = run_node({"committee", "show", "--data-dir", swarm.backbone().data()});
        QVERIFY2(shown.out.contains("banned: " + key), qPrintable(shown.out));
        QVERIFY(shown.out.contains("1 of them are needed"));

        QCOMPARE(moderate({"rollback", "3"}).code, 0);
        QCOMPARE(moderate({"readmit", key}).code, 0);
        const auto is_back = [&](const control::NodeSnapshot& now) {
            return now.run && now.run->my_rounds > rounds_of_ben;
        };
        QVERIFY(ben.wait_for(is_back, 90'000));
        QVERIFY(swarm.all_stay_equal(30'000));

        QCOMPARE(moderate({"allow", QString::fromStdString(anna.status().peer_id)}).code, 0);
        QCOMPARE(moderate({"close"}).code, 0);
        QVERIFY(ben.wait_for(is_out, 20'000));
        const Ended closed = run_node({"committee", "show", "--data-dir", swarm.backbone().data()});
        QVERIFY2(closed.out.contains("closed:") && !closed.out.contains("banned:"), qPrintable(closed.out));
        const std::uint64_t at_closing = anna.status().run->round;
        QVERIFY(anna.wait_for_round(at_closing + 2, 20'000));
        QCOMPARE(moderate({"open"}).code, 0);
        QVERIFY(refused_no_more(ben));

        QVERIFY(moderate({"ban", "--address", "203.0.113.0/24"}).err.contains("Nobody fits"));
        // Ben's contributions reach the host through Anna already, while its own session comes back within a minute.
        const QStringList from_here{"ban", "--since", "2020-01-01", "--address", "127.0.0.0/8"};
        QTRY_COMPARE_WITH_TIMEOUT(moderate(from_here).code, 0, 90'000);
        QVERIFY(ben.wait_for(is_out, 20'000));
        const Ended many = run_node({"committee", "show", "--data-dir", swarm.backbone().data()});
        QCOMPARE(many.out.count("banned: "), 1);
    }

    void only_a_host_moderates_and_mistakes_get_a_sentence() {
        Swarm swarm;
        swarm.host(8);
        ServingNode& anna = swarm.volunteer("anna");
        QVERIFY(anna.wait_for_round(1, 30'000));
        const auto refused = [](const ServingNode& node, const QStringList& what) {
            return run_node(QStringList{"moderate"} + what + QStringList{"--data-dir", node.data()}).err;
        };
        QVERIFY(refused(anna, {"ban", QString(64, 'a')}).contains("Only the run's host can do this"));
        QVERIFY(refused(swarm.backbone(), {"ban", "0123"}).contains("give all of its 64 digits"));
        QVERIFY(refused(swarm.backbone(), {"ban", QString(64, '0')}).contains("give all of its 64 digits"));
        QVERIFY(refused(swarm.backbone(), {"ban"}).contains("--since or --address"));
        QVERIFY(refused(swarm.backbone(), {"ban", "--since", "yesterday"}).contains("2026-03-01"));
        QVERIFY(refused(swarm.backbone(), {"ban", "--address", "there"}).contains("is no address"));
        QVERIFY(refused(swarm.backbone(), {"rollback", "2"}).contains("holds no checkpoint of round 2"));
        const QString host = QString::fromStdString(swarm.backbone().status().peer_id);
        QVERIFY(refused(swarm.backbone(), {"ban", host}).contains("cannot ban itself"));
    }

    void a_host_replaces_a_committee_that_is_gone() {
        Swarm swarm;
        // Four seats, of which three never come.
        QStringList backbones;
        for (const char* const key : {"1", "2", "3"}) backbones << "--backbone-key" << QString(63, '0') + key;
        swarm.host(6, backbones);
        ServingNode& anna = swarm.volunteer("anna");
        const auto waits = [](const control::NodeSnapshot& now) {
            return now.reason.find("1 of the 3 needed") != std::string::npos;
        };
        QVERIFY(anna.wait_for(waits, 30'000));
        const QString host = QString::fromStdString(swarm.backbone().status().peer_id);
        const QStringList folder{"--data-dir", swarm.backbone().data()};
        const Ended two =
            run_node(QStringList{"committee", "replace", host, QString::fromStdString(anna.status().peer_id)} + folder);
        QVERIFY2(two.err.contains("1, 4 or 7 members"), qPrintable(two.err));
        QCOMPARE(run_node(QStringList{"committee", "replace", host} + folder).code, 0);
        QVERIFY(swarm.all_end_equal(60'000));
    }

    void without_its_committee_a_run_waits_and_says_so() {
        Swarm swarm;
        swarm.host(6);
        ServingNode& anna = swarm.volunteer("anna");
        QVERIFY(anna.wait_for_round(2, 30'000));
        swarm.backbone().kill();
        const auto waits = [](const control::NodeSnapshot& now) {
            return now.reason.find("Waiting for the run's committee: 0 of the 1 needed") != std::string::npos;
        };
        QVERIFY(anna.wait_for(waits, 20'000));
        const auto round = anna.status().run->round;
        swarm.backbone().start({"--dht", "127.0.0.1:" + QString::number(anna.status().network.port)});
        QVERIFY(swarm.all_end_equal(60'000));
        QVERIFY(round < 6);
    }

    void a_killed_trainer_is_started_again() {
        Swarm swarm;
        swarm.host(10);
        swarm.volunteer("anna");
        ServingNode& ben = swarm.volunteer("ben");
        QVERIFY(ben.wait_for([](const auto& now) { return now.trainer.process > 0 && now.run && now.run->round >= 2; },
                             30'000));
        const auto before = ben.status();
        QCOMPARE(::kill(static_cast<pid_t>(before.trainer.process), SIGKILL), 0);
        QVERIFY(ben.wait_for(
            [&](const auto& now) { return now.trainer.process > 0 && now.trainer.process != before.trainer.process; },
            10'000));
        QVERIFY(ben.status().trainer.restarts >= 1);
        QVERIFY(swarm.all_end_equal(40'000));
        QVERIFY(ben.status().run->my_tokens > before.run->my_tokens);
    }

    void a_damaged_state_is_repaired_from_the_swarm() {
        Swarm swarm;
        swarm.host(10);
        swarm.volunteer("anna");
        ServingNode& ben = swarm.volunteer("ben");
        QVERIFY(ben.wait_for_round(4, 30'000));
        QCOMPARE(ben.close(), 0);
        const auto states = ben.folder() / "runs" / swarm.backbone().status().run->id / "states";
        int damaged = 0;
        for (const auto& entry : std::filesystem::directory_iterator(states)) {
            if (entry.path().extension() != ".safetensors") continue;
            std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(20'000);
            file.write("garbage", 7);
            ++damaged;
        }
        QVERIFY(damaged > 0);
        ben.start({"--dht", "127.0.0.1:" + QString::number(swarm.backbone().status().network.port)});
        QVERIFY(swarm.all_end_equal(60'000));
    }

    void two_runs_side_by_side_do_not_mix() {
        Swarm one, two;
        one.host(4, {"--seed", "1"});
        two.host(4, {"--seed", "2"});
        for (const char* name : {"anna", "ben"}) {
            one.volunteer(name);
            two.volunteer(name);
        }
        QVERIFY(one.all_end_equal(40'000));
        QVERIFY(two.all_end_equal(40'000));
        QVERIFY(one.backbone().status().run->digest != two.backbone().status().run->digest);
        QCOMPARE(one.backbone().call("leaderboard", {{"most", 10}}).at("rows").size(), std::size_t{2});
    }
};

QTEST_GUILESS_MAIN(NodeRunTest)
#include "test_node_run.moc"
