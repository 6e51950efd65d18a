// Probes over a private bus with services that this test pretends: GameMode, UPower, power profiles, NetworkManager and
// an idle monitor.
#include <functional>
#include <map>
#include <memory>

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusVariant>
#include <QDBusVirtualObject>
#include <QtTest>

#include "core/activity/system/watch.h"
#include "tests/ui/private_bus.h"
#include "ui/activity/bus_probes.h"

using namespace potluck;
using namespace potluck::ui;
using activity::blind;
using activity::Blindness;
using activity::seen;
using potluck::tests::PrivateBus;

namespace {

/// Answers Properties.Get and idle times for every path; may be told to keep silent.
class Service : public QDBusVirtualObject {
public:
    std::map<QString, QVariant> values;  // by property or method
    bool silent = false;

    QString introspect(const QString&) const override { return {}; }
    bool handleMessage(const QDBusMessage& message, const QDBusConnection& connection) override {
        if (silent) return true;
        const QString name =
            message.member() == QLatin1String("Get") ? message.arguments().at(1).toString() : message.member();
        const auto found = values.find(name);
        if (found == values.end()) return false;
        const bool property = message.member() == QLatin1String("Get");
        connection.send(
            message.createReply(property ? QVariant::fromValue(QDBusVariant(found->second)) : found->second));
        return true;
    }
};

/// Looks on a thread of its own, as in the product, while this one answers.
template <class P>
activity::Sight lookWith() {
    activity::Watch watch(std::make_unique<P>());
    activity::Sight sight;
    [&] { QTRY_VERIFY_WITH_TIMEOUT((sight = watch.sight()) != activity::Sight{}, 5000); }();
    return sight;
}

}  // namespace

class TestBusProbes : public QObject {
    Q_OBJECT

    PrivateBus m_bus;
    Service m_service;

    [[nodiscard]] bool own(const char* name) {
        return QDBusConnection(QStringLiteral("services")).registerService(QString::fromLatin1(name));
    }
    void disown(const char* name) {
        QDBusConnection(QStringLiteral("services")).unregisterService(QString::fromLatin1(name));
    }

private slots:
    void initTestCase() {
        if (!PrivateBus::isInstalled()) QSKIP("dbus-daemon is not installed");
        const QString address = m_bus.start();
        QVERIFY(!address.isEmpty());
        auto services = QDBusConnection::connectToBus(address, QStringLiteral("services"));
        QVERIFY(services.isConnected());
        QVERIFY(services.registerVirtualObject(QStringLiteral("/"), &m_service, QDBusConnection::SubPath));
    }
    void cleanupTestCase() { QDBusConnection::disconnectFromBus(QStringLiteral("services")); }

    void game_mode_without_a_daemon_has_no_clients() {
        QVERIFY(lookWith<GameModeProbe>() == seen(0));
        QVERIFY(own("com.feralinteractive.GameMode"));
        m_service.values[QStringLiteral("ClientCount")] = 2;
        QVERIFY(lookWith<GameModeProbe>() == seen(2));
        disown("com.feralinteractive.GameMode");
    }

    void upower_knows_the_battery() {
        QVERIFY(lookWith<UPowerProbe>() == blind(Blindness::no_service));
        QVERIFY(own("org.freedesktop.UPower"));
        m_service.values[QStringLiteral("OnBattery")] = true;
        QVERIFY(lookWith<UPowerProbe>() == seen(1));
        m_service.values[QStringLiteral("OnBattery")] = false;
        QVERIFY(lookWith<UPowerProbe>() == seen(0));
        disown("org.freedesktop.UPower");
    }

    void the_power_profile_is_read_under_both_names() {
        QVERIFY(lookWith<PowerSaverProbe>() == blind(Blindness::no_service));
        m_service.values[QStringLiteral("ActiveProfile")] = QStringLiteral("power-saver");
        for (const char* name : {"net.hadess.PowerProfiles", "org.freedesktop.UPower.PowerProfiles"}) {
            QVERIFY(own(name));
            QVERIFY(lookWith<PowerSaverProbe>() == seen(1));
            disown(name);
        }
        QVERIFY(own("net.hadess.PowerProfiles"));
        m_service.values[QStringLiteral("ActiveProfile")] = QStringLiteral("balanced");
        QVERIFY(lookWith<PowerSaverProbe>() == seen(0));
        disown("net.hadess.PowerProfiles");
    }

    void a_metered_connection_counts_by_guess_too_data() {
        QTest::addColumn<uint>("value");
        QTest::addColumn<double>("metered");
        const double expected[] = {0, 1, 0, 1, 0};
        for (uint value = 0; value < 5; ++value) QTest::addRow("%u", value) << value << expected[value];
    }
    void a_metered_connection_counts_by_guess_too() {
        QFETCH(uint, value);
        QFETCH(double, metered);
        QVERIFY(own("org.freedesktop.NetworkManager"));
        m_service.values[QStringLiteral("Metered")] = value;
        QVERIFY(lookWith<MeteredProbe>() == seen(metered));
        disown("org.freedesktop.NetworkManager");
    }

    void idle_times_are_in_milliseconds_under_two_names() {
        QVERIFY(lookWith<SessionInputProbe>() == blind(Blindness::no_service));
        QVERIFY(own("org.freedesktop.ScreenSaver"));
        m_service.values[QStringLiteral("GetSessionIdleTime")] = 4500U;
        QVERIFY(lookWith<SessionInputProbe>() == seen(4.5));
        QVERIFY(own("org.gnome.Mutter.IdleMonitor"));
        m_service.values[QStringLiteral("GetIdletime")] = QVariant::fromValue(qulonglong{7000});
        QVERIFY(lookWith<SessionInputProbe>() == seen(7));
        disown("org.freedesktop.ScreenSaver");
        disown("org.gnome.Mutter.IdleMonitor");
    }

    void a_service_that_keeps_silent_is_told_in_time() {
        QVERIFY(own("org.freedesktop.UPower"));
        m_service.silent = true;
        QElapsedTimer clock;
        clock.start();
        QVERIFY(lookWith<UPowerProbe>() == blind(Blindness::no_answer));
        QVERIFY2(clock.elapsed() < 3000, qPrintable(QString::number(clock.elapsed())));
        m_service.silent = false;
        disown("org.freedesktop.UPower");
    }

    void without_a_bus_it_cannot_be_told() {
        qputenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nowhere/bus");
        QVERIFY(lookWith<UPowerProbe>() == blind(Blindness::no_service));
    }
};

QTEST_GUILESS_MAIN(TestBusProbes)
#include "test_bus_probes.moc"
