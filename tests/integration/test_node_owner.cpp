// What the owner of a computer is promised: a pause that frees memory in two seconds and outlives a restart, plain
// words when something is wrong, and a node that goes when its parent goes.
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTcpServer>
#include <chrono>
#include <cmath>
#include <optional>
#include <thread>

#include "core/base/files.h"
#include "net/addresses/free_port.h"
#include "tests/integration/node_fixture.h"

using namespace potluck;
using namespace potluck::test;

class NodeOwnerTest : public QObject {
    Q_OBJECT

    static bool alive(std::int64_t process) { return process > 0 && ::kill(static_cast<pid_t>(process), 0) == 0; }
    static QByteArray read_all(const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    static bool trains(const control::NodeSnapshot& now) {
        return now.trainer.process > 0 && now.trainer.tokens_per_second > 0;
    }

    static QString moments_of(ServingNode& node) {
        return node.data() + "/runs/" + QString::fromStdString(node.status().run->id) + "/moments";
    }

private slots:
    void a_pause_frees_the_trainer_within_two_seconds_and_outlives_a_restart() {
        Swarm swarm;
        swarm.host(1000);
        swarm.volunteer("anna");
        ServingNode& ben = swarm.volunteer("ben");
        QVERIFY(ben.wait_for(trains, 20'000));
        const std::int64_t trainer = ben.status().trainer.process;
        const Ended paused = run_node({"pause", "--for", "1h", "--data-dir", ben.data()});
        QVERIFY2(paused.code == 0, qPrintable(paused.err));
        QElapsedTimer clock;  // from the answer on: how fast a program starts is not promised
        clock.start();
        while (alive(trainer) && clock.elapsed() < 5000) QTest::qSleep(10);
        QVERIFY2(clock.elapsed() < 2000, qPrintable(QString::number(clock.elapsed())));
        auto now = ben.status();
        QCOMPARE(now.activity, control::Activity::paused);
        QVERIFY(now.paused_until > 0);
        QVERIFY(QString::fromStdString(now.reason).startsWith("Paused until"));

        QCOMPARE(ben.close(), 0);
        ben.start({"--dht", "127.0.0.1:" + QString::number(swarm.backbone().status().network.port)});
        QVERIFY(ben.wait_for([](const auto& later) { return later.run.has_value(); }, 10'000));
        QTest::qSleep(1500);
        now = ben.status();
        QCOMPARE(now.activity, control::Activity::paused);
        QCOMPARE(now.trainer.process, std::int64_t{0});

        QCOMPARE(run_node({"resume", "--data-dir", ben.data()}).code, 0);
        QVERIFY(ben.wait_for(trains, 20'000));
    }

    void energy_of_training_is_told_counted_and_kept_over_a_restart() {
        Swarm swarm;
        swarm.host(1000);
        QProcessEnvironment sensors;
        sensors.insert("FAKE_TRAINER_WATTS", "50");
        ServingNode& ben = swarm.volunteer("ben", sensors);
        QVERIFY(ben.wait_for([](const auto& now) { return now.energy && now.energy->total.joules >= 100; }, 30'000));
        const control::EnergySpan before = ben.status().energy->total;
        QVERIFY(before.trained_seconds >= before.measured_seconds);
        QVERIFY(std::abs(before.joules - 50 * before.measured_seconds) < 1e-6 * before.joules);
        QCOMPARE(ben.status().trainer.watts, std::optional(50.0));
        QVERIFY(!ben.status().trainer.parts.empty());
        const Ended said = run_node({"status", "--data-dir", ben.data()});
        QVERIFY2(said.out.contains("device: 50 W, 50 °C"), qPrintable(said.out));
        QVERIFY2(said.out.contains("trained here: today 0.0 h, about 0.00 kWh"), qPrintable(said.out));
        QCOMPARE(ben.close(), 0);
        ben.start();
        QVERIFY(ben.wait_for([](const auto& now) { return now.network.port > 0; }, 8000));
        QVERIFY(ben.status().energy->total.joules >= before.joules);
    }

    void unreadable_power_is_reported_on_the_command_line() {
        Swarm swarm;
        swarm.host(1000);
        ServingNode& ben = swarm.volunteer("ben");
        QVERIFY(
            ben.wait_for([](const auto& now) { return now.energy && now.energy->total.trained_seconds > 1; }, 30'000));
        QCOMPARE(ben.status().energy->total.joules, 0.0);
        const Ended said = run_node({"status", "--data-dir", ben.data()});
        QVERIFY2(said.out.contains("power cannot be read here"), qPrintable(said.out));
        QVERIFY2(said.out.contains("its energy is not measurable here"), qPrintable(said.out));
    }

    void moments_wait_in_a_file_while_paused_until_the_state_has_moved_on() {
        Swarm swarm;
        swarm.host(1000);
        ServingNode& anna = swarm.volunteer("anna");
        ServingNode& ben = swarm.volunteer("ben");
        QVERIFY(anna.wait_for(trains, 20'000) && ben.wait_for(trains, 20'000));
        ben.call("pause", {{"seconds", 0}});
        const QString moments = moments_of(ben);
        QVERIFY(ben.wait_for([](const auto& now) { return now.trainer.process == 0; }, 5000));
        QVERIFY(QFile::exists(moments));
        QVERIFY(ben.wait_for_round(ben.status().run->round + 6, 30'000));
        QVERIFY(!QFile::exists(moments));
    }

    void moments_outlive_the_program() {
        Swarm swarm;
        swarm.host(1000);
        const QString report = QString::fromStdString((swarm.root() / "moments").string());
        QProcessEnvironment reports;
        reports.insert("FAKE_TRAINER_MOMENTS", report);
        ServingNode& ben = swarm.volunteer("ben", reports);
        QVERIFY(ben.wait_for(trains, 20'000));
        const QString moments = moments_of(ben);
        const std::string run = ben.status().run->id;
        QVERIFY(!QFile::exists(moments));
        QCOMPARE(ben.close(), 0);
        QVERIFY(QFile::exists(moments));
        ben.start({"--dht", "127.0.0.1:" + QString::number(swarm.backbone().status().network.port)}, reports);
        QVERIFY(ben.wait_for(trains, 20'000));
        QVERIFY(!QFile::exists(moments));
        const auto line = nlohmann::json::parse(read_all(report).toStdString());
        QCOMPARE(line["kept"]["moments"]["run"].get<std::string>(), run);
        QCOMPARE(line["wanted"]["run"].get<std::string>(), run);
        QCOMPARE(line["rounds_max"].get<int>(), 4);
        QVERIFY(line["wanted"]["round"].get<int>() >= line["kept"]["moments"]["round"].get<int>());
        const int milliseconds = line["kept"]["milliseconds"].get<int>();
        QVERIFY2(milliseconds > 0 && milliseconds < 1500, qPrintable(QString::number(milliseconds)));
    }

    void a_member_that_leaves_a_run_keeps_no_moments() {
        Swarm swarm;
        swarm.host(1000);
        ServingNode& ben = swarm.volunteer("ben");
        QVERIFY(ben.wait_for(trains, 20'000));
        const std::int64_t trainer = ben.status().trainer.process;
        const QString moments = moments_of(ben);
        ben.call("leave");
        QElapsedTimer clock;
        for (clock.start(); alive(trainer) && clock.elapsed() < 10'000;) QTest::qSleep(10);
        QVERIFY(!alive(trainer));
        QVERIFY(QFile::exists(QFileInfo(moments).path() + "/manifest"));
        QVERIFY(!QFile::exists(moments));
    }

    void a_trainer_that_ignores_stop_is_killed() {
        Swarm swarm;
        swarm.host(1000);
        QProcessEnvironment deaf;
        deaf.insert("FAKE_TRAINER_DEAF", "1");
        ServingNode& ben = swarm.volunteer("ben", deaf);
        QVERIFY(ben.wait_for(trains, 20'000));
        const std::int64_t trainer = ben.status().trainer.process;
        QElapsedTimer clock;
        clock.start();
        ben.call("pause", {{"seconds", 0}});
        // When exactly is shown in test_trainer_process, whose clock does not depend on this computer's load.
        while (alive(trainer) && clock.elapsed() < 10'000) QTest::qSleep(10);
        QVERIFY(!alive(trainer));
        QVERIFY2(clock.elapsed() >= 1400, qPrintable(QString::number(clock.elapsed())));
    }

    void a_trainer_that_crashes_at_start_is_told_after_three_times() {
        Swarm swarm;
        swarm.host(1000);
        QProcessEnvironment crash;
        crash.insert("FAKE_TRAINER_CRASH", "start");
        ServingNode& ben = swarm.volunteer("ben", crash);
        QVERIFY(ben.wait_for([](const auto& now) { return now.activity == control::Activity::failed; }, 20'000));
        const auto now = ben.status();
        QCOMPARE(now.trainer.restarts, std::uint64_t{3});
        QVERIFY2(now.reason.find("failed three times") != std::string::npos, now.reason.c_str());
    }

    void a_standalone_node_goes_on_without_a_parent_until_it_is_told_to_end() {
        const QTemporaryDir folder;
        const QString data = folder.filePath("data");
        QProcess node;
        node.setStandardInputFile(QProcess::nullDevice());
        node.start(node_program(), {"serve", "--standalone", "--loopback", "--data-dir", data});
        QVERIFY(node.waitForStarted(5000));
        const auto answers = [&] { return run_node({"status", "--data-dir", data}).code == 0; };
        QTRY_VERIFY_WITH_TIMEOUT(answers(), 20'000);
        QCOMPARE(node.state(), QProcess::Running);
        node.terminate();
        QVERIFY(node.waitForFinished(20'000));
        QCOMPARE(node.exitStatus(), QProcess::NormalExit);
        QCOMPARE(node.exitCode(), 0);
    }

    void a_missing_trainer_is_told() {
        Swarm swarm;
        swarm.host(1000);
        QProcessEnvironment missing;
        missing.insert("POTLUCK_TRAINER", "/nowhere/potluck-trainer");
        ServingNode& ben = swarm.volunteer("ben", missing);
        QVERIFY(ben.wait_for([](const auto& now) { return now.activity == control::Activity::failed; }, 20'000));
        QVERIFY(ben.status().reason.find("install the package potluck-trainer") != std::string::npos);
    }

    void status_tells_people_and_scripts() {
        Swarm swarm;
        swarm.host(1000);
        const QString data = swarm.backbone().data();
        const Ended people = run_node({"status", "--data-dir", data});
        QCOMPARE(people.code, 0);
        QVERIFY(people.out.contains("sharing: "));
        QVERIFY(people.out.contains("run: Test"));
        const Ended script = run_node({"status", "--json", "--data-dir", data});
        const auto snapshot = printed_answer<control::NodeSnapshot>(script);
        QVERIFY(snapshot.ok());
        QCOMPARE(snapshot->run->total_rounds, std::uint64_t{1000});
        const Ended invite = run_node({"invite", "--data-dir", data});
        QVERIFY(invite.out.startsWith("potluck:?xt=urn:btmh:1220"));
    }

    void verbs_without_a_node_exit_with_3() {
        const QTemporaryDir folder;
        for (const char* verb : {"status", "pause", "resume", "leaderboard", "invite", "control"}) {
            const Ended ended = run_node({verb, "--data-dir", folder.path()});
            QCOMPARE(ended.code, 3);
            QVERIFY(ended.err.contains("No node runs for"));
        }
    }

    void commands_that_need_a_run_exit_with_7_outside_a_run() {
        const QTemporaryDir folder;
        ServingNode node(folder.path().toStdString());
        node.start();
        QVERIFY(node.wait_for([](const auto& now) { return now.network.port > 0; }, 8000));
        for (const bool runs : {true, false}) {
            for (const char* verb : {"invite", "leaderboard", "checkpoints", "finish", "leave", "sample"}) {
                const bool needs_node = QStringList{"invite", "finish", "leave"}.contains(verb);
                const Ended ended = run_node({verb, "--data-dir", folder.path()});
                QVERIFY2(ended.code == (runs || !needs_node ? 7 : 3), qPrintable(QString(verb) + ": " + ended.err));
                if (ended.code == 7) QVERIFY2(ended.err.contains("in no run"), qPrintable(ended.err));
                QVERIFY(ended.out.isEmpty());
            }
            if (runs) QCOMPARE(node.close(), 0);
        }
    }

    void a_second_node_on_a_folder_exits_with_4() {
        const QTemporaryDir folder;
        ServingNode node(folder.path().toStdString());
        node.start();
        QVERIFY(node.wait_for([](const auto& now) { return now.network.port > 0; }, 8000));
        const Ended second = run_node({"serve", "--data-dir", folder.path()});
        QCOMPARE(second.code, 4);
        QVERIFY(second.err.contains("Another node is using"));
    }

    /// As `status` holds the folder of a node that is just being started again.
    void a_node_starts_beside_a_question_about_its_folder() {
        const QTemporaryDir folder;
        auto question = FileLock::acquire(folder.filePath("node.lock").toStdString());
        QVERIFY(question);
        std::optional<FileLock> held(std::move(*question));
        ServingNode node(folder.path().toStdString());
        node.start();
        std::thread answering([&held] {
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            held.reset();
        });
        const bool runs = node.wait_for([](const auto& now) { return now.network.port > 0; }, 8000);
        answering.join();
        QVERIFY(runs);
    }

    void bad_invites_are_refused_in_a_sentence() {
        const QTemporaryDir folder;
        for (const char* link : {"", "http://example.org", "magnet:?xt=urn:btih:00", "potluck:?xt=urn:btmh:1220zz"}) {
            const Ended ended = run_node({"join", link, "--data-dir", folder.path()});
            QCOMPARE(ended.code, 2);
            QVERIFY(!ended.err.isEmpty());
        }
        ServingNode node(folder.path().toStdString());
        node.start();
        QVERIFY(node.call("join", {{"invite", "nonsense"}}).is_null());
        QVERIFY(!node.error().empty());
    }

    void a_port_is_chosen_once_and_changed_by_its_owner() {
        QTemporaryDir root;
        ServingNode node(root.filePath("node").toStdString());
        const auto port = [&] { return node.status().network.port; };
        node.start();
        const std::uint16_t first = port();
        QVERIFY(first != 0);
        node.kill();
        node.start();
        QCOMPARE(port(), first);

        QTcpServer other;
        QVERIFY(other.listen(QHostAddress::LocalHost));
        QVERIFY(node.call("set_port", {{"port", other.serverPort()}}).is_null());
        QVERIFY2(node.error().starts_with("Another program uses port"), node.error().c_str());
        QCOMPARE(port(), first);
        QVERIFY(node.call("set_port", {{"port", 80}}).is_null());
        const std::uint16_t wanted = net::free_port();
        QVERIFY(node.call("set_port", {{"port", wanted}}).is_object());
        QCOMPARE(port(), wanted);
        node.kill();
        node.start();
        QCOMPARE(port(), wanted);
    }

    void a_remembered_port_that_is_taken_is_tried_again_at_the_next_start() {
        QTemporaryDir root;
        ServingNode node(root.filePath("node").toStdString());
        node.start();
        const std::uint16_t first = node.status().network.port;
        node.kill();
        {
            QTcpServer other;
            QVERIFY(other.listen(QHostAddress::LocalHost, first));
            node.start();
            QVERIFY(node.status().network.port != first);
            node.kill();
        }
        node.start();
        QCOMPARE(node.status().network.port, first);
    }

    void a_taken_port_is_told() {
        QTcpServer taken;
        QVERIFY(taken.listen(QHostAddress::LocalHost));
        const QTemporaryDir folder;
        const Ended ended =
            run_node({"serve", "--data-dir", folder.path(), "--port", QString::number(taken.serverPort())});
        QVERIFY2(ended.code == 1 || ended.code == 4, qPrintable(ended.err));
        QVERIFY2(ended.err.contains("port"), qPrintable(ended.err));
    }

    void a_damaged_identity_is_never_replaced() {
        const QTemporaryDir folder;
        QVERIFY(run_node({"identity", "create", "--data-dir", folder.path()}).code == 0);
        QFile key(folder.filePath("identity.key"));
        QVERIFY(key.open(QIODevice::ReadWrite));
        key.seek(30);
        key.write("damage");
        key.close();
        QVERIFY(key.open(QIODevice::ReadOnly));
        const QByteArray before = key.readAll();
        const Ended ended = run_node({"serve", "--data-dir", folder.path()});
        QVERIFY(ended.code != 0 && ended.code != -1);
        QVERIFY(ended.err.contains("identity.key"));
        key.seek(0);
        QCOMPARE(key.readAll(), before);
    }

    void an_identity_moves_to_another_computer() {
        const QTemporaryDir one, two;
        const Ended shown = run_node({"identity", "create", "--data-dir", one.path()});
        QCOMPARE(run_node({"identity", "export", one.filePath("copy.key"), "--data-dir", one.path()}).code, 0);
        QCOMPARE(run_node({"identity", "import", one.filePath("copy.key"), "--data-dir", two.path()}).code, 0);
        const Ended there = run_node({"identity", "show", "--data-dir", two.path()});
        QCOMPARE(there.out.section('\n', 0, 0), shown.out.section('\n', 0, 0));
        // There it is another computer, with a key of its own that no export has.
        QVERIFY(!shown.out.contains("computer: ") && there.out.contains("\ncomputer: "));
        QCOMPARE(run_node({"identity", "export", two.filePath("again.key"), "--data-dir", two.path()}).code, 0);
        QCOMPARE(read_all(two.filePath("again.key")), read_all(one.filePath("identity.key")));
        QVERIFY(read_all(two.filePath("computer.key")) != read_all(one.filePath("identity.key")));
        QCOMPARE(run_node({"identity", "import", one.filePath("copy.key"), "--data-dir", two.path()}).code, 0);
        const Ended anew = run_node({"identity", "show", "--data-dir", two.path()});
        QVERIFY(anew.out.section('\n', 0, 0) == there.out.section('\n', 0, 0) &&
                anew.out.section('\n', 1, 1) != there.out.section('\n', 1, 1));
    }

    void recovery_words_bring_an_identity_back_and_keep_the_other() {
        const QTemporaryDir one, two;
        QCOMPARE(run_node({"identity", "create", "--data-dir", one.path()}).code, 0);
        const Ended shown = run_node({"identity", "show", "--words", "--data-dir", one.path()});
        const QStringList words = shown.out.section("(keep them secret): ", 1).split(' ', Qt::SkipEmptyParts);
        QCOMPARE(words.size(), 24);
        QVERIFY(run_node({"identity", "create", "--data-dir", two.path()}).code == 0);
        const QByteArray before = read_all(two.filePath("identity.key"));
        const QStringList importing = {"identity", "import", "--words", "--data-dir", two.path()};
        QCOMPARE(run_node(importing + QStringList{words.mid(0, 23).join(' ')}).code, 5);
        QStringList swapped = words;
        swapped[3] = "potluck";  // no recovery word
        QVERIFY(run_node(importing + swapped).code != 0);
        QCOMPARE(read_all(two.filePath("identity.key")), before);
        QCOMPARE(QDir(two.path()).entryList({"identity*"}).size(), 1);

        QCOMPARE(run_node(importing + QStringList{words.join(' ').trimmed()}).code, 0);
        const Ended there = run_node({"identity", "show", "--data-dir", two.path()});
        QCOMPARE(there.out.section('\n', 0, 0), shown.out.section('\n', 0, 0));
        const QStringList keys = QDir(two.path()).entryList({"identity*"});
        QCOMPARE(keys.size(), 2);
        QCOMPARE(read_all(two.filePath(keys[0] == "identity.key" ? keys[1] : keys[0])), before);
    }

    void a_question_makes_nothing_and_prints_no_secret() {
        const QTemporaryDir folder;
        const QString typo = folder.filePath("typo");
        for (const QStringList& question :
             {QStringList{"identity", "show"}, QStringList{"identity", "export", folder.filePath("key")},
              QStringList{"status"}, QStringList{"name"}, QStringList{"team"}, QStringList{"runs"}, QStringList{"log"},
              QStringList{"leaderboard"}}) {
            const Ended asked = run_node(question + QStringList{"--data-dir", typo});
            QVERIFY2(asked.code > 0 && asked.err.endsWith(".\n"), qPrintable(question.join(' ') + asked.err));
            QVERIFY(!QDir(typo).exists());
        }
        const QStringList mine = {"--data-dir", folder.path()};
        const Ended made = run_node(QStringList{"identity", "create"} + mine);
        QVERIFY(made.out.startsWith("id: ") && !made.out.contains("words"));
        QCOMPARE(run_node(QStringList{"identity", "show"} + mine).out, made.out);
    }

    void the_name_is_kept_with_and_without_a_node() {
        const QTemporaryDir folder;
        const QStringList mine = {"--data-dir", folder.path()};
        QCOMPARE(run_node(QStringList{"name", "Grace"} + mine).code, 0);
        QCOMPARE(run_node(QStringList{"name"} + mine).out, QString("Grace\n"));
        ServingNode node(folder.path().toStdString());
        node.start();
        QCOMPARE(node.status().name, std::string("Grace"));
        QVERIFY(run_node(QStringList{"name", "Ada"} + mine).out.contains("Ada."));
        QCOMPARE(node.status().name, std::string("Ada"));
        QVERIFY(run_node(QStringList{"log", "--lines", "1"} + mine).out.count('\n') == 1);
    }

    void the_team_is_kept_with_and_without_a_node_and_given_up() {
        const QTemporaryDir folder;
        const QStringList mine = {"--data-dir", folder.path()};
        QVERIFY(run_node(QStringList{"team", " Uni\nGraz "} + mine).out.contains("Anybody may name it"));
        QCOMPARE(run_node(QStringList{"team"} + mine).out, QString("Uni Graz\n"));
        QVERIFY(run_node(QStringList{"team", "Wien", "--none"} + mine).code > 0);
        ServingNode node(folder.path().toStdString());
        node.start();
        QCOMPARE(node.status().team, std::string("Uni Graz"));
        QVERIFY(run_node(QStringList{"team", "--none"} + mine).out.contains("no team"));
        QCOMPARE(node.status().team, std::string());
        QCOMPARE(run_node(QStringList{"team"} + mine).out, QString("-\n"));
        QCOMPARE(node.close(), 0);
        node.start({"--team", "Wien"});
        QCOMPARE(node.status().team, std::string("Wien"));
    }

    void a_running_node_takes_recovery_words() {
        const QTemporaryDir one, two;
        QCOMPARE(run_node({"identity", "create", "--data-dir", one.path()}).code, 0);
        const Ended shown = run_node({"identity", "show", "--words", "--data-dir", one.path()});
        const QString words = shown.out.section("(keep them secret): ", 1).trimmed();
        const QString id = shown.out.section('\n', 0, 0).section("id: ", 1);
        ServingNode node(two.path().toStdString());
        node.start();
        QVERIFY(node.status().peer_id != id.toStdString());
        QVERIFY(node.call("identity_import_words", {{"words", "abandon ability"}}).is_null());
        QVERIFY(!node.error().empty());
        QCOMPARE(run_node({"identity", "import", "--words", "--data-dir", two.path(), words}).code, 0);
        QCOMPARE(QString::fromStdString(node.status().person_id), id);
        QVERIFY(node.status().peer_id != node.status().person_id);
        QCOMPARE(QDir(two.path()).entryList({"identity*"}).size(), 2);  // the new key and the old one, no copy besides
    }

    void unusable_text_is_refused() {
        const QTemporaryDir folder;
        const auto write = [&](const char* name, const QByteArray& bytes) {
            QFile file(folder.filePath(name));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(bytes);
        };
        write("empty.txt", "");
        write("binary.bin", QByteArray(200'000, '\0'));
        for (const char* name : {"missing", "empty.txt", "binary.bin"}) {
            const Ended ended =
                run_node({"host", "--prepare", "--text", folder.filePath(name), "--data-dir", folder.filePath("data")});
            QVERIFY(ended.code > 0);
            QVERIFY2(ended.err.contains(name), qPrintable(ended.err));
        }
    }

    void a_serving_node_ends_when_its_parent_goes() {
        Swarm swarm;
        swarm.host(1000);
        ServingNode& ben = swarm.volunteer("ben");
        QVERIFY(ben.wait_for(trains, 20'000));
        const std::int64_t trainer = ben.status().trainer.process;
        QElapsedTimer clock;
        clock.start();
        QCOMPARE(ben.close(), 0);
        QVERIFY(clock.elapsed() < 6000);
        QVERIFY(!alive(trainer));
    }

    void only_its_owner_may_speak_to_a_node() {
        using std::filesystem::perms;
        const QTemporaryDir folder, runtime;
        const auto mode = [](const std::filesystem::path& file) { return std::filesystem::status(file).permissions(); };
        {
            ServingNode node(std::filesystem::path(folder.path().toStdString()) / "new");
            node.start();
            QVERIFY(node.wait_for([](const auto& now) { return now.network.port > 0; }, 8000));
            QCOMPARE(mode(node.folder() / "node.sock"), perms::owner_read | perms::owner_write);
            QCOMPARE(mode(node.folder()), perms::owner_all);
        }
        // A data folder whose path is too long for a socket: it goes where the session's runtime files are.
        QProcessEnvironment environment;
        environment.insert("XDG_RUNTIME_DIR", runtime.path());
        ServingNode node(std::filesystem::path(folder.path().toStdString()) / std::string(120, 'd'));
        node.start({}, environment);
        QVERIFY(node.wait_for([](const auto& now) { return now.network.port > 0; }, 8000));
        const std::filesystem::path fallback = std::filesystem::path(runtime.path().toStdString()) / "potluck";
        QCOMPARE(mode(fallback), perms::owner_all);
        std::vector<std::filesystem::path> sockets;
        for (const auto& entry : std::filesystem::directory_iterator(fallback)) sockets.push_back(entry.path());
        QCOMPARE(sockets.size(), std::size_t{1});
        QCOMPARE(mode(sockets[0]), perms::owner_read | perms::owner_write);
        qputenv("XDG_RUNTIME_DIR", runtime.path().toUtf8());
        const Ended status = run_node({"status", "--data-dir", node.data()});
        qunsetenv("XDG_RUNTIME_DIR");
        QVERIFY2(status.code == 0, qPrintable(status.err));
    }

    void a_signal_ends_it_politely() {
        const QTemporaryDir folder;
        ServingNode node(folder.path().toStdString());
        node.start();
        QVERIFY(node.wait_for([](const auto& now) { return now.network.port > 0; }, 8000));
        node.process().terminate();
        QVERIFY(node.process().waitForFinished(6000));
        QCOMPARE(node.process().exitCode(), 0);
        QVERIFY(!std::filesystem::exists(node.folder() / "node.sock"));
    }

    void help_and_version_are_for_standard_output() {
        for (const char* option : {"--help", "--version"}) {
            const Ended ended = run_node({option});
            QCOMPARE(ended.code, 0);
            QVERIFY(ended.out.contains("potluck-node"));
            QVERIFY(ended.err.isEmpty());
        }
        const Ended wrong = run_node({"fly"});
        QCOMPARE(wrong.code, 2);
        QVERIFY(wrong.out.isEmpty());
    }
};

QTEST_GUILESS_MAIN(NodeOwnerTest)
#include "test_node_owner.moc"
