// The interface org.potluck.Potluck1 as Qt exports it: bus_object.h says what it means. Does not: decide anything.
// Threads: Qt's main thread, as a part of the BusObject that owns it. Linux only.
#pragma once

#ifdef __linux__

#include <QDBusAbstractAdaptor>
#include <QDBusMessage>

#include "ui/session/bus_object.h"

namespace potluck::ui {

class BusInterface : public QDBusAbstractAdaptor {
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.potluck.Potluck1")
    Q_PROPERTY(QString State READ state)
    Q_PROPERTY(QString PauseReason READ pauseReason)

public:
    BusInterface(BusObject& object, NodeClient& client)
        : QDBusAbstractAdaptor(&object), m_object(object), m_client(client) {}

    [[nodiscard]] QString state() const { return busWords(m_client.view()).state; }
    [[nodiscard]] QString pauseReason() const { return busWords(m_client.view()).reason; }

public slots:
    void Pause(uint seconds, const QDBusMessage& message);
    void Resume(const QDBusMessage& message);

private:
    /// Answers with an error if there is no node to ask.
    [[nodiscard]] bool isUp(const QDBusMessage& message) const;

    BusObject& m_object;
    NodeClient& m_client;
};

}  // namespace potluck::ui

#endif
