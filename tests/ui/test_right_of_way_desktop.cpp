// The whole desktop program on a display of its own, over a real node that trains: an invite is joined by a press, a
// window fills the screen, Steam's launcher starts a game, and training gives way within two seconds and comes back by
// itself.
#include <fstream>
#include <memory>

#include "core/activity/rules.h"
#include "core/control/node_methods.h"
#include "tests/integration/node_fixture.h"

using namespace potluck;
using namespace potluck::test;

namespace {

const QString program = QStringLiteral(POTLUCK_BIN_DIR "/potluck");
const QString film = QStringLiteral(POTLUCK_BIN_DIR "/full_screen_window");
constexpr int pause_limit = 2000;  // milliseconds

/// An X server without a screen that shows anything, on a number that is free.
struct Display {
    QProcess server;
    QString name;

    [[nodiscard]] bool start() {
        server.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        server.start("Xvfb", {"-displayfd", "1", "-screen", "0", "1000x700x24", "-nolisten", "tcp"});
        if (!server.waitForStarted(5000) || !server.waitForReadyRead(10'000)) return false;
        name = ":" + QString::fromUtf8(server.readLine().trimmed());
        return name.size() > 1;
    }
    ~Display() {
        server.terminate();
        server.waitForFinished(3000);
    }
};

struct Desktop {
    Swarm swarm;
    Display display;
    QProcess app;
    std::filesystem::path folder = swarm.root() / "mine";

    [[nodiscard]] control::NodeSnapshot status() const {
        const auto asked = printed_answer<control::NodeSnapshot>(
            run_node({"status", "--json", "--data-dir", QString::fromStdString(folder.string())}));
        return asked ? *asked : control::NodeSnapshot();
    }
    template <class Condition>
    [[nodiscard]] bool wait_for(const Condition& holds, int limit) const {
        QElapsedTimer clock;
        for (clock.start(); clock.elapsed() < limit; QTest::qSleep(30)) {
            if (holds(status())) return true;
        }
        return false;
    }

    void open() {
        QVERIFY(display.start());
        swarm.host(1000);
        // Five seconds instead of sixty until training comes back, so that the test sees it.
        activity::Rules rules;
        rules.resume_delay = activity::resume_delay_min;
        std::filesystem::create_directories(folder);
        std::ofstream(folder / "node.json") << nlohmann::json{{"rules", to_json(control::described(rules))}}.dump();
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("DISPLAY", display.name);
        environment.remove("WAYLAND_DISPLAY");
        environment.insert("QT_QPA_PLATFORM", "xcb");
        environment.insert("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus");
        environment.insert("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nowhere/bus");
        environment.insert("POTLUCK_TRAINER", fake_trainer());
        environment.insert("POTLUCK_LOOPBACK", "1");
        environment.insert("POTLUCK_DHT", "127.0.0.1:" + QString::number(swarm.backbone().status().network.port));
        environment.insert("POTLUCK_PAUSE_FOR", "full_screen,launcher,program");
        app.setProcessEnvironment(environment);
        app.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        app.start(program, {"--data-dir", QString::fromStdString(folder.string()), "--node", node_program()});
        QVERIFY(app.waitForStarted(5000));
        QVERIFY(wait_for(
            [](const auto& now) { return !now.peer_id.empty() && now.activity == control::Activity::idle; }, 20'000));
        join(environment);
        QVERIFY(wait_for(trains, 30'000));
    }
    /// As who follows a link, looks at the run and presses Join, which has the window's focus then. Without xdotool by
    /// the command line.
    void join(const QProcessEnvironment& environment) const {
        const QString invite = QString::fromStdString(swarm.invite());
        const QString data = QString::fromStdString(folder.string());
        if (QStandardPaths::findExecutable("xdotool").isEmpty()) {
            qInfo("xdotool is not installed, so the invite is not joined by a press on Join");
            const Ended joined = run_node({"join", invite, "--data-dir", data});
            QVERIFY2(joined.code == 0, qPrintable(joined.err));
            return;
        }
        QProcess link;
        link.setProcessEnvironment(environment);
        link.start(program, {"--data-dir", data, "--node", node_program(), invite});
        QVERIFY(link.waitForFinished(20'000));
        QCOMPARE(link.exitCode(), 0);
        const auto joins = [](const control::NodeSnapshot& now) { return now.activity != control::Activity::idle; };
        bool joined = false;
        for (int press = 0; press < 20 && !joined; ++press) {
            QProcess hands;
            hands.setProcessEnvironment(environment);
            hands.start("xdotool", {"search", "--onlyvisible", "--name", "^Potluck$", "windowfocus", "--sync", "key",
                                    "--clearmodifiers", "space"});
            QVERIFY(hands.waitForFinished(10'000));
            joined = wait_for(joins, 2000);
        }
        QVERIFY(joined);
    }
    ~Desktop() {
        app.terminate();
        if (!app.waitForFinished(8000)) app.kill();
        app.waitForFinished(1000);
    }

    static bool trains(const control::NodeSnapshot& now) {
        return now.activity == control::Activity::training && now.trainer.tokens_per_second > 0;
    }
    static bool gives_way(const control::NodeSnapshot& now) {
        return now.activity == control::Activity::paused && now.yield.has_value();
    }
};

}  // namespace

class RightOfWayDesktopTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (QStandardPaths::findExecutable("Xvfb").isEmpty()) QSKIP("Xvfb is not installed");
    }

    void a_full_screen_window_and_a_game_of_steam_pause_training_and_it_comes_back() {
        Desktop desktop;
        desktop.open();
        if (QTest::currentTestFailed()) return;

        QProcess window;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("DISPLAY", desktop.display.name);
        window.setProcessEnvironment(environment);
        QElapsedTimer clock;
        clock.start();
        window.start(film, {});
        QVERIFY(window.waitForStarted(5000));
        QVERIFY(desktop.wait_for(Desktop::gives_way, 10'000));
        const qint64 paused_after = clock.elapsed();
        qInfo("a full-screen window paused training after %lld ms", static_cast<long long>(paused_after));
        QVERIFY2(paused_after < pause_limit, qPrintable(QString::number(paused_after)));
        control::NodeSnapshot now = desktop.status();
        QVERIFY(now.yield->signal == activity::Signal::full_screen);
        QCOMPARE(now.yield->detail, std::string("film"));
        QVERIFY(desktop.wait_for([](const auto& later) { return later.trainer.process == 0; }, 3000));

        clock.restart();
        window.kill();
        window.waitForFinished(3000);
        QVERIFY(desktop.wait_for(Desktop::trains, 30'000));
        qInfo("training came back %lld ms after it closed", static_cast<long long>(clock.elapsed()));
        QVERIFY(clock.elapsed() >= activity::resume_delay_min.count());

        QProcess steam;
        clock.restart();
        steam.start("sh", {"-c", "sleep 600; :", "SteamLaunch", "AppId=1091500", "--", "game"});
        QVERIFY(steam.waitForStarted(5000));
        QVERIFY(desktop.wait_for(Desktop::gives_way, 10'000));
        qInfo("a game of Steam paused training after %lld ms", static_cast<long long>(clock.elapsed()));
        QVERIFY2(clock.elapsed() < pause_limit, qPrintable(QString::number(clock.elapsed())));
        now = desktop.status();
        QVERIFY(now.yield->signal == activity::Signal::launcher);
        QCOMPARE(now.yield->detail, std::string("Steam app 1091500"));
        steam.kill();
        steam.waitForFinished(3000);
        QVERIFY(desktop.wait_for(Desktop::trains, 30'000));
    }
};

QTEST_GUILESS_MAIN(RightOfWayDesktopTest)
#include "test_right_of_way_desktop.moc"
