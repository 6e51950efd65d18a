#include "ui/activity/bus.h"

#ifdef __linux__

#include <atomic>

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusVariant>

namespace potluck::ui {

BusReader::~BusReader() { disconnect(); }

bool BusReader::connect() {
    if (!m_connection.isEmpty() && QDBusConnection(m_connection).isConnected()) return true;
    disconnect();
    static std::atomic<int> made{0};
    m_connection = QStringLiteral("potluck-probe-%1").arg(++made);
    const auto bus = m_kind == BusKind::session ? QDBusConnection::SessionBus : QDBusConnection::SystemBus;
    return QDBusConnection::connectToBus(bus, m_connection).isConnected();
}

void BusReader::disconnect() {
    if (!m_connection.isEmpty()) QDBusConnection::disconnectFromBus(m_connection);
    m_connection.clear();
}

BusAnswer BusReader::send(const QString& service, const QString& path, const QString& interface, const QString& method,
                          const QVariantList& parameters) {
    if (!connect()) return {BusAnswer::State::no_bus, {}};
    QDBusMessage message = QDBusMessage::createMethodCall(service, path, interface, method);
    message.setArguments(parameters);
    message.setAutoStartService(false);
    const QDBusMessage reply = QDBusConnection(m_connection).call(message, QDBus::Block, patience_milliseconds);
    if (reply.type() == QDBusMessage::ReplyMessage && !reply.arguments().isEmpty()) {
        const QVariant first = reply.arguments().constFirst();
        const bool wrapped = first.canConvert<QDBusVariant>();
        return {BusAnswer::State::here, wrapped ? first.value<QDBusVariant>().variant() : first};
    }
    const QString error = reply.errorName();
    const bool absent = error == QLatin1String("org.freedesktop.DBus.Error.ServiceUnknown") ||
                        error == QLatin1String("org.freedesktop.DBus.Error.NameHasNoOwner");
    return {absent ? BusAnswer::State::not_running : BusAnswer::State::no_answer, {}};
}

BusAnswer BusReader::read(const BusProperty& property) {
    return send(property.service, property.path, QStringLiteral("org.freedesktop.DBus.Properties"),
                QStringLiteral("Get"), {property.interface, property.name});
}

BusAnswer BusReader::call(const BusProperty& method) {
    return send(method.service, method.path, method.interface, method.name, {});
}

}  // namespace potluck::ui

#endif
