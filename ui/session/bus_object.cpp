#include "ui/session/bus_object.h"

#include <utility>

#ifdef __linux__
#include <QDBusConnection>
#include <QDBusMessage>

#include "ui/session/bus_interface.h"
#endif

#include "ui/client/status_summary.h"

namespace potluck::ui {

BusWords busWords(const NodeView& view) {
    if (view.link.state != Link::State::up) return {QStringLiteral("not_running"), {}};
    const QString state = QString::fromUtf8(control::name_of(view.snapshot.activity));
    const bool is_paused = view.snapshot.activity == control::Activity::paused;
    return {state, is_paused ? summarize(view).reason : QString()};
}

#ifdef __linux__

namespace {

const QString bus_name = QStringLiteral("org.potluck.Potluck");
const QString object_path = QStringLiteral("/org/potluck/Potluck");
const QString interface_name = QStringLiteral("org.potluck.Potluck1");

}  // namespace

BusObject::BusObject(NodeClient& client, QObject* parent)
    : QObject(parent), m_client(client), m_connection(QStringLiteral("potluck-object")) {
    new BusInterface(*this, client);
    auto bus = QDBusConnection::connectToBus(QDBusConnection::SessionBus, m_connection);
    // The object is there before its name, for a caller that waits for the name.
    m_served = bus.isConnected() && bus.registerObject(object_path, this) && bus.registerService(bus_name);
    m_announced = busWords(client.view());
    connect(&client, &NodeClient::changed, this, &BusObject::announce);
}

BusObject::~BusObject() { QDBusConnection::disconnectFromBus(m_connection); }

void BusObject::announce() {
    const BusWords now = busWords(m_client.view());
    if (now == std::exchange(m_announced, now) || !m_served) return;
    QDBusMessage signal = QDBusMessage::createSignal(object_path, QStringLiteral("org.freedesktop.DBus.Properties"),
                                                     QStringLiteral("PropertiesChanged"));
    const QVariantMap changed{{QStringLiteral("State"), now.state}, {QStringLiteral("PauseReason"), now.reason}};
    signal.setArguments({interface_name, changed, QStringList()});
    QDBusConnection(m_connection).send(signal);
}

#else

BusObject::BusObject(NodeClient& client, QObject* parent) : QObject(parent), m_client(client) {}
BusObject::~BusObject() = default;
void BusObject::announce() {}

#endif

}  // namespace potluck::ui
