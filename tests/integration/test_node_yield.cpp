// A node makes way to its owner by itself: to what a window tells it, for as long as the window is heard of, and to
// what it sees itself where there is none. It says why, remembers it, and never touches a pause by hand.
#include <QDateTime>
#include <QFile>

#include "core/activity/schedule.h"
#include "core/control/node_methods.h"
#include "tests/integration/node_fixture.h"

using namespace potluck;
using namespace potluck::test;
using control::Activity;

namespace {

bool trains(const control::NodeSnapshot& now) {
    return now.activity == Activity::training && now.trainer.process > 0 && now.trainer.tokens_per_second > 0;
}
bool is_paused(const control::NodeSnapshot& now) { return now.activity == Activity::paused; }
bool is_free(const control::NodeSnapshot& now) { return is_paused(now) && now.trainer.process == 0; }

nlohmann::json game(int seconds) {
    return {{"level", "pause"}, {"signal", "full_screen"}, {"detail", "game"}, {"seconds", seconds}};
}
nlohmann::json level(const char* level) {
    return {{"level", level}, {"signal", "input"}, {"detail", ""}, {"seconds", 60}};
}

/// The paces that a node's trainers were told, a line each.
class Paces {
public:
    explicit Paces(const Swarm& swarm) : m_report(QString::fromStdString((swarm.root() / "paces").string())) {}
    /// For the node.
    [[nodiscard]] QProcessEnvironment environment() const {
        QProcessEnvironment reports;
        reports.insert("FAKE_TRAINER_PACES", m_report);
        return reports;
    }
    QByteArray operator()() const {
        QFile file(m_report);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

private:
    QString m_report;
};

}  // namespace

class NodeYieldTest : public QObject {
    Q_OBJECT
private slots:
    void a_window_pauses_it_as_long_as_it_is_heard_of() {
        Swarm swarm;
        swarm.host(1000);
        ServingNode& ben = swarm.volunteer("ben");
        QVERIFY(ben.wait_for(trains, 20'000));
        QElapsedTimer clock;
        clock.start();
        ben.call("yield", game(6));
        QVERIFY(ben.wait_for(is_free, 5000));
        QVERIFY2(clock.elapsed() < 2500, qPrintable(QString::number(clock.elapsed())));
        const control::NodeSnapshot now = ben.status();
        QCOMPARE(now.reason, std::string("Paused while a program fills the screen (game); "
                                         "the trainer has ended and its memory is free."));
        QVERIFY(now.yield && now.yield->signal == activity::Signal::full_screen && now.yield->detail == "game");
        QVERIFY(now.yield->since > 0);
        QCOMPARE(now.paused_until, std::int64_t{0});
        const Ended said = run_node({"status", "--data-dir", ben.data()});
        QVERIFY2(said.out.startsWith("paused: Paused while a program fills the screen (game)"), qPrintable(said.out));
        const Ended json = run_node({"status", "--json", "--data-dir", ben.data()});
        QCOMPARE(nlohmann::json::parse(json.out.toStdString()).at("yield").at("signal").get<std::string>(),
                 "full_screen");

        QVERIFY(ben.wait_for(trains, 20'000));  // the window is not heard of again
        QVERIFY(clock.elapsed() >= 6000);
        QVERIFY(!ben.status().yield);
        control::PauseHistory pauses;
        QVERIFY(from_json(ben.call("pauses"), pauses).ok());
        QCOMPARE(pauses.rows.size(), std::size_t{1});
        QVERIFY(pauses.rows[0].signal == activity::Signal::full_screen && pauses.rows[0].detail == "game");
        QVERIFY(pauses.rows[0].ended - pauses.rows[0].began >= 5);
        const Ended told = run_node({"pauses", "--data-dir", ben.data()});
        QVERIFY2(told.out.contains("Paused while a program fills the screen (game)"), qPrintable(told.out));
        QCOMPARE(ben.close(), 0);
        QVERIFY(QFile::exists(ben.data() + "/pauses.json"));
    }

    void a_pause_by_hand_is_never_ended_by_it() {
        Swarm swarm;
        swarm.host(1000);
        ServingNode& ben = swarm.volunteer("ben");
        QVERIFY(ben.wait_for(trains, 20'000));
        ben.call("yield", game(60));
        ben.call("pause", {{"seconds", 0}});
        ben.call("yield", level("run"));
        QTest::qSleep(1500);
        QVERIFY(is_free(ben.status()));
        QVERIFY(QString::fromStdString(ben.status().reason).startsWith("Paused until you resume"));
        QVERIFY(!ben.status().yield);
        ben.call("yield", game(60));
        ben.call("resume");  // the person has the last word about this game
        QVERIFY(ben.wait_for(trains, 20'000));
        ben.call("yield", game(60));
        QTest::qSleep(1000);
        QVERIFY(trains(ben.status()));
        ben.call("yield", level("run"));
        ben.call("yield", game(60));
        QVERIFY(ben.wait_for(is_free, 5000));
    }

    void a_pause_for_a_while_ends_into_what_holds_then() {
        Swarm swarm;
        swarm.host(1000);
        ServingNode& ben = swarm.volunteer("ben");
        QVERIFY(ben.wait_for(trains, 20'000));
        ben.call("pause", {{"seconds", 2}});
        ben.call("yield", game(60));
        QVERIFY(ben.wait_for([](const auto& now) { return now.paused_until == 0; }, 10'000));
        QTest::qSleep(1000);
        QVERIFY(is_free(ben.status()));
        QVERIFY(ben.status().run->phase == run::Phase::paused);  // nor does it try
        QVERIFY(QString::fromStdString(ben.status().reason).startsWith("Paused while a program"));
    }

    void quiet_is_half_of_the_time() {
        Swarm swarm;
        swarm.host(1000);
        const Paces paces(swarm);
        ServingNode& ben = swarm.volunteer("ben", paces.environment());
        QVERIFY(ben.wait_for(trains, 20'000));
        QVERIFY(paces().isEmpty());
        ben.call("yield", level("quiet"));
        QTRY_COMPARE(paces(), QByteArray("0.5\n"));
        QVERIFY(
            QString::fromStdString(ben.status().reason).startsWith("Training quietly while you use the computer. "));
        ben.call("pause", {{"seconds", 0}});
        QVERIFY(ben.wait_for(is_free, 5000));
        ben.call("yield", level("quiet"));
        ben.call("resume");
        ben.call("yield", {{"level", "quiet"}, {"signal", "schedule"}, {"detail", ""}, {"seconds", 60}});
        QVERIFY(ben.wait_for(trains, 20'000));
        QCOMPARE(paces(), QByteArray("0.5\n0.5\n"));  // the next trainer is told, too
        ben.call("yield", level("run"));
        QTRY_COMPARE(paces(), QByteArray("0.5\n0.5\n1\n"));
    }

    void less_effort_slows_training_at_once_and_after_a_restart() {
        Swarm swarm;
        swarm.host(1000);
        const Paces paces(swarm);
        ServingNode& ben = swarm.volunteer("ben", paces.environment());
        QVERIFY(ben.wait_for(trains, 20'000));
        control::Resources given{.effort = control::Effort::balanced, .upload = 500'000};
        ben.call("set_resources", {{"resources", to_json(given)}});
        QTRY_COMPARE(paces(), QByteArray("0.75\n"));
        ben.call("yield", level("quiet"));  // the owner needs more than that
        QTRY_COMPARE(paces(), QByteArray("0.75\n0.5\n"));
        ben.call("yield", level("run"));
        QTRY_COMPARE(paces(), QByteArray("0.75\n0.5\n0.75\n"));
        QCOMPARE(ben.close(), 0);
        ben.start({"--dht", "127.0.0.1:" + QString::number(swarm.backbone().status().network.port)},
                  paces.environment());
        QVERIFY(ben.wait_for(trains, 20'000));
        QVERIFY(ben.status().resources == given);
        QTRY_COMPARE(paces(), QByteArray("0.75\n0.5\n0.75\n0.75\n"));
        given.effort = control::Effort::full;
        ben.call("set_resources", {{"resources", to_json(given)}});
        QTRY_COMPARE(paces(), QByteArray("0.75\n0.5\n0.75\n0.75\n1\n"));
        ben.call("set_resources", {{"resources", {{"effort", "lazy"}, {"upload", 0}, {"download", 0}, {"disk", 0}}}});
        QVERIFY(!ben.error().empty());
    }

    void without_a_window_it_keeps_the_hours_of_its_owner() {
        Swarm swarm;
        swarm.host(1000);
        ServingNode& ben = swarm.volunteer("ben");
        QVERIFY(ben.wait_for(trains, 20'000));
        QCOMPARE(ben.close(), 0);
        const int hour = QTime::currentTime().hour();
        const QString later = QStringLiteral("%1-%2").arg((hour + 12) % 24).arg((hour + 13) % 24);
        const QStringList network = {"--dht", "127.0.0.1:" + QString::number(swarm.backbone().status().network.port)};
        ben.start(network + QStringList{"--pause-for", "schedule", "--hours", later});
        QVERIFY(ben.wait_for(is_paused, 10'000));
        QVERIFY(QString::fromStdString(ben.status().reason).startsWith("Paused as your hours say"));
        QCOMPARE(ben.close(), 0);
        ben.start(network + QStringList{"--pause-for", "schedule"});  // remembered
        QVERIFY(ben.wait_for(is_paused, 10'000));
        nlohmann::json rules = to_json(*ben.status().rules);
        rules["resume_seconds"] = 5;
        rules["hours"] = std::string(activity::hours_per_week, 'r');
        ben.call("set_rules", {{"rules", rules}});
        QElapsedTimer clock;
        clock.start();
        QVERIFY(ben.wait_for(trains, 20'000));
        QVERIFY2(clock.elapsed() > 4000, qPrintable(QString::number(clock.elapsed())));
        rules["hours"] = "never";
        ben.call("set_rules", {{"rules", rules}});
        QVERIFY(!ben.error().empty());
    }
};

QTEST_GUILESS_MAIN(NodeYieldTest)
#include "test_node_yield.moc"
