#include "ui/session/bus_interface.h"

#ifdef __linux__

#include <chrono>

#include <QDBusConnection>
#include <QDBusError>

namespace potluck::ui {

bool BusInterface::isUp(const QDBusMessage& message) const {
    if (m_client.view().link.state == Link::State::up) return true;
    message.setDelayedReply(true);
    QDBusConnection(m_object.connectionName())
        .send(
            message.createErrorReply(QDBusError::Failed, QStringLiteral("The node is not running; try again later.")));
    return false;
}

void BusInterface::Pause(uint seconds, const QDBusMessage& message) {
    // Every number of this type is less than the longest pause that a node takes.
    if (isUp(message)) m_client.pause(std::chrono::seconds(seconds));
}

void BusInterface::Resume(const QDBusMessage& message) {
    if (isUp(message)) m_client.resume();
}

}  // namespace potluck::ui

#endif
