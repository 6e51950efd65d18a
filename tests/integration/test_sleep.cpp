// A system that announces its sleep, as logind does, on a bus of its own: the node has it wait, lets it go when there
// is nothing left to hand over, and has it wait again after it woke up.
#include <csignal>

#include <QDBusConnection>
#include <QDBusUnixFileDescriptor>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <unistd.h>

#include "app/node/owner/sleep_watch.h"
#include "tests/integration/node_fixture.h"

using namespace potluck;
using node::SleepWatch;

namespace {

const QString service = QStringLiteral("org.freedesktop.login1");

/// What of logind a node speaks to. Whoever inhibits a sleep holds the writing end of a pipe.
class Login1 : public QObject {
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.login1.Manager")
public:
    ~Login1() override { close_read_end(); }
    /// Whether somebody holds a lock.
    [[nodiscard]] bool is_inhibited() const {
        char byte = 0;
        return m_read_end >= 0 && ::read(m_read_end, &byte, 1) < 0;
    }
    QStringList asked;
    int locks = 0;

public slots:
    QDBusUnixFileDescriptor Inhibit(const QString& what, const QString& who, const QString& why, const QString& mode) {
        asked = {what, who, why, mode};
        ++locks;
        close_read_end();
        int ends[2] = {-1, -1};
        if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return {};
        m_read_end = ends[0];
        QDBusUnixFileDescriptor lock(ends[1]);
        ::close(ends[1]);
        return lock;
    }

signals:
    void PrepareForSleep(bool begins);
    void PrepareForShutdown(bool begins);

private:
    void close_read_end() {
        if (m_read_end >= 0) ::close(std::exchange(m_read_end, -1));
    }
    int m_read_end = -1;
};

/// A bus that dies with the test, and logind on it.
class System {
public:
    System() {
        const QString address = "unix:path=" + m_folder.filePath("bus");
        m_daemon.start("dbus-daemon", {"--session", "--nofork", "--print-address", "--address=" + address});
        if (!m_daemon.waitForStarted(5000) || !m_daemon.waitForReadyRead(5000)) return;
        m_address = QString::fromUtf8(m_daemon.readAllStandardOutput()).trimmed();
        m_name = "system" + m_address;
        QDBusConnection bus = QDBusConnection::connectToBus(m_address, m_name);
        m_is_up = bus.registerObject("/org/freedesktop/login1", &login1,
                                     QDBusConnection::ExportAllSlots | QDBusConnection::ExportAllSignals) &&
                  bus.registerService(service);
    }
    ~System() {
        QDBusConnection::disconnectFromBus(m_name);
        end();
    }
    void end() {
        m_daemon.kill();
        m_daemon.waitForFinished(3000);
    }
    [[nodiscard]] bool is_up() const { return m_is_up; }
    [[nodiscard]] const QString& address() const { return m_address; }

    Login1 login1;

private:
    QTemporaryDir m_folder;
    QProcess m_daemon;
    QString m_address, m_name;
    bool m_is_up = false;
};

/// A watch in this process, and what it has heard.
struct Watched {
    SleepWatch watch;
    TimePoint now{Duration{1}};
    std::vector<SleepWatch::Notice> heard;

    /// As a node does; `done` is asked after each tick.
    template <class Done>
    [[nodiscard]] bool tick_until(Done done, int limit = 5'000) {
        QElapsedTimer clock;
        for (clock.start(); clock.elapsed() < limit; QTest::qWait(10)) {
            if (const auto notice = watch.poll(now)) heard.push_back(*notice);
            if (done()) return true;
        }
        return false;
    }
};

using Notices = std::vector<SleepWatch::Notice>;

}  // namespace

class SleepTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (QStandardPaths::findExecutable("dbus-daemon").isEmpty()) QSKIP("there is no dbus-daemon on this computer");
    }

    void an_announced_sleep_is_noticed_and_delayed() {
        System system;
        QVERIFY(system.is_up());
        qputenv("DBUS_SYSTEM_BUS_ADDRESS", system.address().toUtf8());
        Watched watched;
        QVERIFY(watched.tick_until([&] { return watched.watch.holds_lock(); }));
        QCOMPARE(system.login1.asked.value(0), QStringLiteral("sleep:shutdown"));
        QCOMPARE(system.login1.asked.value(3), QStringLiteral("delay"));
        QVERIFY(system.login1.is_inhibited());
        for (int night = 1; night <= 2; ++night) {
            emit system.login1.PrepareForSleep(true);
            QVERIFY(watched.tick_until([&] { return !watched.heard.empty(); }));
            QVERIFY(watched.heard == Notices{SleepWatch::Notice::going});
            QVERIFY(system.login1.is_inhibited());
            watched.watch.release();
            QVERIFY(!watched.watch.holds_lock());
            QVERIFY(!system.login1.is_inhibited());
            emit system.login1.PrepareForSleep(false);
            QVERIFY(watched.tick_until([&] { return watched.watch.holds_lock(); }));
            QVERIFY((watched.heard == Notices{SleepWatch::Notice::going, SleepWatch::Notice::back}));
            QCOMPARE(system.login1.locks, night + 1);
            watched.heard.clear();
        }
        emit system.login1.PrepareForShutdown(true);
        QVERIFY(watched.tick_until([&] { return !watched.heard.empty(); }));
        QVERIFY(watched.heard == Notices{SleepWatch::Notice::going});
        // It did not come to that, and nobody says so.
        watched.now = watched.now + SleepWatch::gone_by - Duration{1};
        QVERIFY(!watched.tick_until([&] { return watched.heard.size() > 1; }, 100));
        watched.now = watched.now + Duration{1};
        QVERIFY(watched.tick_until([&] { return watched.heard.size() > 1; }));
        QCOMPARE(watched.heard.back(), SleepWatch::Notice::back);
    }

    void a_bus_that_ends_or_is_not_there_keeps_nobody_away() {
        qputenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus");
        Watched watched;
        QVERIFY(!watched.tick_until([&] { return watched.watch.holds_lock(); }, 200));
        auto system = std::make_unique<System>();
        QVERIFY(system->is_up());
        qputenv("DBUS_SYSTEM_BUS_ADDRESS", system->address().toUtf8());
        QVERIFY(!watched.tick_until([&] { return watched.watch.holds_lock(); }, 200));
        watched.now = watched.now + SleepWatch::connect_again_after;
        QVERIFY(watched.tick_until([&] { return watched.watch.holds_lock(); }));
        emit system->login1.PrepareForSleep(true);
        QVERIFY(watched.tick_until([&] { return !watched.heard.empty(); }));
        system->end();
        QVERIFY(watched.tick_until([&] { return watched.heard.size() > 1; }));
        QCOMPARE(watched.heard.back(), SleepWatch::Notice::back);
        QVERIFY(!watched.watch.holds_lock());
    }

    /// The only seat of a run, between two real nodes, while the system waits.
    void a_host_that_sleeps_hands_its_seat_to_a_friend() {
        System system;
        QVERIFY(system.is_up());
        test::Swarm swarm;
        swarm.host(2'000, swarm.allowing({"ben"}));
        swarm.backbone().kill();
        QProcessEnvironment extra;
        extra.insert("DBUS_SYSTEM_BUS_ADDRESS", system.address());
        swarm.backbone().start({}, extra);
        test::ServingNode& ben = swarm.volunteer("ben");
        QVERIFY(ben.wait_for_round(2, 40'000));
        QTRY_VERIFY_WITH_TIMEOUT(system.login1.is_inhibited(), 10'000);
        const std::string host = swarm.backbone().status().peer_id;
        const auto is_seated = [&] { return swarm.backbone().call("committee").at("seats").at(0).at("id") == host; };
        QVERIFY(is_seated());
        emit system.login1.PrepareForSleep(true);
        QTRY_VERIFY_WITH_TIMEOUT(!system.login1.is_inhibited(), 2'500);
        QVERIFY(!is_seated());
        // Asleep for three seconds.
        const auto process = static_cast<pid_t>(swarm.backbone().process().processId());
        QCOMPARE(::kill(process, SIGSTOP), 0);
        const std::uint64_t asleep_at = ben.status().run->round;
        QVERIFY(ben.wait_for_round(asleep_at + 3, 30'000));
        QCOMPARE(::kill(process, SIGCONT), 0);
        emit system.login1.PrepareForSleep(false);
        const std::uint64_t awake_at = ben.status().run->round;
        QVERIFY(swarm.backbone().wait_for_round(awake_at + 1, 20'000));
        QVERIFY(swarm.backbone().wait_for(
            [](const auto& now) { return now.run && now.run->phase != run::Phase::leaving; }, 5'000));
        QTRY_VERIFY_WITH_TIMEOUT(system.login1.is_inhibited(), 5'000);
        QCOMPARE(swarm.backbone().close(), 0);
    }

    /// Without a window; it is in no run, so that there is nothing to hand over.
    void a_node_lets_the_system_sleep_and_is_there_afterwards() {
        System system;
        QVERIFY(system.is_up());
        QTemporaryDir folder;
        test::ServingNode node(folder.filePath("node").toStdString());
        QProcessEnvironment extra;
        extra.insert("DBUS_SYSTEM_BUS_ADDRESS", system.address());
        node.start({}, extra);
        QTRY_VERIFY_WITH_TIMEOUT(system.login1.is_inhibited(), 10'000);
        emit system.login1.PrepareForSleep(true);
        QTRY_VERIFY_WITH_TIMEOUT(!system.login1.is_inhibited(), 2'500);
        emit system.login1.PrepareForSleep(false);
        QTRY_VERIFY_WITH_TIMEOUT(system.login1.is_inhibited(), 5'000);
        QCOMPARE(system.login1.locks, 2);
        QCOMPARE(node.close(), 0);
        QVERIFY(!system.login1.is_inhibited());
    }
};

QTEST_GUILESS_MAIN(SleepTest)
#include "test_sleep.moc"
