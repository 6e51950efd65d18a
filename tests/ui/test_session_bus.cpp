// The program on the session's bus, and the desktop's notifications, over a private bus: this test is the caller of the
// one and the service of the other.
#include <QDBusConnection>
#include <QDBusInterface>
#include <QDBusMessage>
#include <QDBusReply>
#include <QDBusVariant>
#include <QDBusVirtualObject>
#include <QSignalSpy>
#include <QXmlStreamReader>
#include <QtTest>

#include "tests/ui/fake_node.h"
#include "tests/ui/private_bus.h"
#include "ui/session/bus_object.h"
#include "ui/session/notices.h"
#include "ui/session/notifier.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

constexpr const char* bus_name = "org.potluck.Potluck";

/// org.freedesktop.Notifications as far as a notifier needs it.
class NotificationService : public QDBusVirtualObject {
public:
    bool inhibited = false, has_property = true;
    int asked = 0;  // whether it is inhibited
    QList<QVariantList> shown;

    QString introspect(const QString&) const override { return {}; }
    bool handleMessage(const QDBusMessage& message, const QDBusConnection& connection) override {
        if (message.member() == QLatin1String("Get")) {
            ++asked;
            return has_property && connection.send(message.createReply(QVariant::fromValue(QDBusVariant(inhibited))));
        }
        if (message.member() != QLatin1String("Notify")) return false;
        shown << message.arguments();
        return connection.send(message.createReply(QVariant::fromValue(static_cast<uint>(40 + shown.size()))));
    }
};

ui::NodeView viewOf(control::Activity activity, const char* reason) {
    ui::NodeView view;
    view.link.state = ui::Link::State::up;
    view.snapshot.activity = activity;
    view.snapshot.reason = reason;
    if (activity == control::Activity::failed) view.snapshot.why = {status::Reason::hindered, reason};
    return view;
}

}  // namespace

class TestSessionBus : public QObject {
    Q_OBJECT

    PrivateBus m_bus;
    NotificationService m_service;

    /// The test's own connection, on which it calls and serves.
    [[nodiscard]] static QDBusConnection mine() { return QDBusConnection(QStringLiteral("test")); }
    [[nodiscard]] static QDBusMessage call(const char* method, const QVariantList& arguments = {}) {
        QDBusMessage message = QDBusMessage::createMethodCall(bus_name, "/org/potluck/Potluck", "org.potluck.Potluck1",
                                                              QString::fromLatin1(method));
        message.setArguments(arguments);
        // The object answers from this thread, so the loop has to go on meanwhile.
        return mine().call(message, QDBus::BlockWithGui, 5000);
    }
    /// Adds what callers find at `path` and below, besides the bus's own interfaces.
    static void gather(const QString& path, QStringList& found) {
        const QDBusMessage message = QDBusMessage::createMethodCall(
            bus_name, path, "org.freedesktop.DBus.Introspectable", QStringLiteral("Introspect"));
        const QDBusReply<QString> reply = mine().call(message, QDBus::BlockWithGui, 5000);
        QVERIFY2(reply.isValid(), qPrintable(path));
        QString interface, member;
        QXmlStreamReader xml(reply.value());
        while (!xml.atEnd()) {
            const auto token = xml.readNext();
            const auto tag = xml.name();
            const bool is_member = tag == QLatin1String("method") || tag == QLatin1String("signal");
            if (token == QXmlStreamReader::EndElement && is_member) found << member + ')';
            if (token != QXmlStreamReader::StartElement) continue;
            const QString name = xml.attributes().value(QLatin1String("name")).toString();
            if (tag == QLatin1String("node") && !name.isEmpty())
                gather(path.endsWith(QLatin1Char('/')) ? path + name : path + QLatin1Char('/') + name, found);
            if (tag == QLatin1String("interface")) {
                if (name.startsWith(QLatin1String("org.freedesktop.DBus."))) xml.skipCurrentElement();
                interface = path + QLatin1Char(' ') + name + QLatin1Char(' ');
            }
            if (is_member) member = interface + tag.toString() + QLatin1Char(' ') + name + QLatin1Char('(');
            if (tag == QLatin1String("arg")) member += xml.attributes().value(QLatin1String("type")).toString();
            if (tag == QLatin1String("property"))
                found << interface + "property " + name + ' ' +
                             xml.attributes().value(QLatin1String("access")).toString();
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
    }
    [[nodiscard]] static QString property(const char* name) {
        QDBusMessage message =
            QDBusMessage::createMethodCall(bus_name, "/org/potluck/Potluck", "org.freedesktop.DBus.Properties", "Get");
        message.setArguments({"org.potluck.Potluck1", QString::fromLatin1(name)});
        const QDBusReply<QDBusVariant> reply = mine().call(message, QDBus::BlockWithGui, 5000);
        return reply.isValid() ? reply.value().variant().toString() : reply.error().message();
    }

private slots:
    void initTestCase() {
        if (!PrivateBus::isInstalled()) QSKIP("dbus-daemon is not installed");
        const QString address = m_bus.start();
        QVERIFY(!address.isEmpty());
        auto bus = QDBusConnection::connectToBus(address, QStringLiteral("test"));
        QVERIFY(bus.isConnected());
        QVERIFY(bus.registerVirtualObject("/org/freedesktop/Notifications", &m_service));
        QVERIFY(bus.registerService("org.freedesktop.Notifications"));
    }
    void cleanupTestCase() { QDBusConnection::disconnectFromBus(QStringLiteral("test")); }

    void state_and_reason_are_read_and_their_changes_announced() {
        FakeNode node;
        ui::NodeClient client(node);
        const ui::BusObject object(client);
        QVERIFY(object.isServed());
        QCOMPARE(property("State"), QStringLiteral("not_running"));
        QVERIFY(mine().connect(bus_name, "/org/potluck/Potluck", "org.freedesktop.DBus.Properties", "PropertiesChanged",
                               this, SLOT(hear(QString, QVariantMap, QStringList))));
        client.start();
        node.pushRecorded("training");
        QTRY_COMPARE(property("State"), QStringLiteral("training"));
        QCOMPARE(property("PauseReason"), QString());
        node.pushRecorded("paused");
        QTRY_COMPARE(property("State"), QStringLiteral("paused"));
        QVERIFY(!property("PauseReason").isEmpty());
        QTRY_COMPARE(m_heard.value("State").toString(), QStringLiteral("paused"));
        QCOMPARE(m_heard.value("PauseReason").toString(), property("PauseReason"));
    }

    void a_caller_pauses_for_a_time_and_resumes() {
        FakeNode node;
        ui::NodeClient client(node);
        const ui::BusObject object(client);
        QCOMPARE(call("Pause", {60U}).type(), QDBusMessage::ErrorMessage);  // there is no node yet
        client.start();
        node.pushRecorded("training");
        QTRY_COMPARE(property("State"), QStringLiteral("training"));
        QCOMPARE(call("Pause", {90U}).type(), QDBusMessage::ReplyMessage);
        QTRY_COMPARE(node.lastParams("pause").at("seconds").get<int>(), 90);
        QCOMPARE(call("Resume").type(), QDBusMessage::ReplyMessage);
        QTRY_VERIFY(node.count("resume") == 1);
    }

    /// Whatever is added here can be called by every program of the session: this list is a decision, not a detail.
    void state_pause_and_resume_are_all_that_is_on_the_bus() {
        FakeNode node;
        ui::NodeClient client(node);
        const ui::BusObject object(client);
        QVERIFY(object.isServed());
        QStringList found;
        gather(QStringLiteral("/"), found);
        found.sort();
        const QString own = QStringLiteral("/org/potluck/Potluck org.potluck.Potluck1 ");
        QCOMPARE(found, (QStringList{own + "method Pause(u)", own + "method Resume()",
                                     own + "property PauseReason read", own + "property State read"}));
    }

    void a_second_program_leaves_the_name_to_the_first() {
        FakeNode node, other;
        ui::NodeClient client(node), late(other);
        auto first = std::make_unique<ui::BusObject>(client);
        QVERIFY(first->isServed());
        auto rival = QDBusConnection::connectToBus(QDBusConnection::SessionBus, QStringLiteral("rival"));
        QVERIFY(!rival.registerService(bus_name));
        first.reset();
        QVERIFY(rival.registerService(bus_name));
        QVERIFY(!ui::BusObject(late).isServed());
        QDBusConnection::disconnectFromBus(QStringLiteral("rival"));
    }

    void a_notice_goes_to_the_service_and_replaces_the_one_before() {
        m_service.shown.clear();
        ui::Notifier notifier;
        notifier.show({ui::Notice::Weight::normal, "Needs attention", "A <b>bold</b> run"});
        QTRY_COMPARE(m_service.shown.size(), 1);
        QCOMPARE(m_service.shown[0][1].toUInt(), 0U);
        QCOMPARE(m_service.shown[0][3].toString(), QStringLiteral("Needs attention"));
        QCOMPARE(m_service.shown[0][4].toString(), QStringLiteral("A &lt;b&gt;bold&lt;/b&gt; run"));
        // The service's answer, with the number to replace, is on its way still when the call has just arrived.
        QTRY_COMPARE(notifier.shown(), 41U);
        notifier.show({ui::Notice::Weight::normal, "Finished", ""});
        QTRY_COMPARE(m_service.shown.size(), 2);
        QCOMPARE(m_service.shown[1][1].toUInt(), 41U);
    }

    void notices_are_held_back_while_the_desktop_inhibits_them() {
        m_service.shown.clear();
        m_service.inhibited = true;
        ui::Notifier notifier;
        QSignalSpy unserved(&notifier, &ui::Notifier::unserved);
        m_service.asked = 0;
        notifier.show({ui::Notice::Weight::normal, "Held back", ""});
        QTRY_COMPARE(m_service.asked, 1);
        m_service.inhibited = false;
        // The bus keeps the order: when this one is there, the other would be, too.
        notifier.show({ui::Notice::Weight::normal, "Shown", ""});
        QTRY_VERIFY(!m_service.shown.isEmpty());
        QCOMPARE(m_service.shown.size(), 1);
        QCOMPARE(m_service.shown[0][3].toString(), QStringLiteral("Shown"));
        QCOMPARE(unserved.size(), 0);
    }

    void a_service_without_the_property_decides_itself() {
        m_service.shown.clear();
        m_service.has_property = false;
        ui::Notifier notifier;
        notifier.show({ui::Notice::Weight::quiet, "Paused automatically", ""});
        QTRY_COMPARE(m_service.shown.size(), 1);
        m_service.has_property = true;
    }

    void without_a_service_the_tray_is_asked() {
        QVERIFY(mine().unregisterService("org.freedesktop.Notifications"));
        ui::Notifier notifier;
        QSignalSpy unserved(&notifier, &ui::Notifier::unserved);
        notifier.show({ui::Notice::Weight::normal, "Finished", "The run is complete."});
        QTRY_COMPARE(unserved.size(), 1);
        QCOMPARE(unserved[0][0].toString(), QStringLiteral("Finished"));
        QVERIFY(mine().registerService("org.freedesktop.Notifications"));
    }

    void only_what_a_person_wants_to_know_is_a_notice() {
        using control::Activity;
        ui::Notices notices;
        QVERIFY(!notices.next(ui::NodeView{}));
        QVERIFY(!notices.next(viewOf(Activity::failed, "It was so before.")));
        QVERIFY(!notices.next(viewOf(Activity::training, "")));
        const auto failed = notices.next(viewOf(Activity::failed, "The disk is full."));
        QVERIFY(failed && failed->text.contains("The disk is full."));
        QVERIFY(!notices.next(viewOf(Activity::failed, "The disk is full.")));
        QVERIFY(!notices.next(viewOf(Activity::paused, "By hand.")));
        const auto finished = notices.next(viewOf(Activity::finished, "All rounds are done."));
        QVERIFY(finished && finished->weight == ui::Notice::Weight::normal);
    }

    void the_end_of_a_run_is_told_once_and_not_at_the_next_start() {
        using control::Activity;
        const auto ended = [](const char* run) {
            ui::NodeView view = viewOf(Activity::finished, "All rounds are done.");
            view.snapshot.run.emplace().id = run;
            return view;
        };
        ui::Notices first;
        QVERIFY(!first.next(viewOf(Activity::training, "")));
        QVERIFY(first.next(ended("one")));
        // The program starts again, and its node is in the run that has ended.
        ui::Notices second(first.endTold());
        QVERIFY(!second.next(viewOf(Activity::connecting, "")));
        QVERIFY(!second.next(ended("one")));
        QVERIFY(!second.next(viewOf(Activity::training, "")));
        QVERIFY(second.next(ended("two")));
        // What the window shows from its first moment on is known then, too.
        ui::Notices third;
        QVERIFY(!third.next(ended("three")));
        ui::Notices fourth(third.endTold());
        QVERIFY(!fourth.next(viewOf(Activity::connecting, "")));
        QVERIFY(!fourth.next(ended("three")));
    }

    void the_title_of_a_notice_is_no_markup_for_services_that_read_it_so() {
        m_service.shown.clear();
        ui::Notifier notifier;
        notifier.show({ui::Notice::Weight::normal, "A <b>bold</b> & run", ""});
        QTRY_COMPARE(m_service.shown.size(), 1);
        const QString title = m_service.shown[0][3].toString();
        for (const QChar sign : {u'<', u'>', u'&'}) QVERIFY(!title.contains(sign));
        QVERIFY(title.contains(QStringLiteral("bold")));
    }

    void a_pause_by_itself_is_told_quietly_and_once() {
        using control::Activity;
        ui::Notices notices;
        ui::NodeView game = viewOf(Activity::paused, "A game runs.");
        game.snapshot.yield.emplace();
        QVERIFY(!notices.next(viewOf(Activity::training, "")));
        const auto first = notices.next(game);
        QVERIFY(first && first->weight == ui::Notice::Weight::quiet);
        QVERIFY(!notices.next(viewOf(Activity::training, "")));
        QVERIFY(!notices.next(game));
    }

public slots:
    void hear(const QString&, const QVariantMap& changed, const QStringList&) { m_heard = changed; }

private:
    QVariantMap m_heard;
};

QTEST_MAIN(TestSessionBus)
#include "test_session_bus.moc"
