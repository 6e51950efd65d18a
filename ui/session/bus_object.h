// The program on the session's bus, for scripts, games and extensions of desktops: org.potluck.Potluck owns the object
// /org/potluck/Potluck with the interface org.potluck.Potluck1:
//
//   State         property: training, sharing, paused, idle ... (the node's activities), or not_running
//   PauseReason   property: why it is paused, in a sentence; empty while it is not
//   Pause(t)      for so many seconds, 0 until Resume()
//   Resume()
//
// Changes of the properties are announced as usual (PropertiesChanged). The person decides: what a caller asks for is
// what the window's own buttons ask for, nothing more. Linux only; elsewhere, and without a bus, there is no object.
// Threads: Qt's main thread. The client outlives it.
#pragma once

#include <QObject>
#include <QString>

#include "ui/client/node_client.h"

namespace potluck::ui {

/// The two properties.
struct BusWords {
    QString state, reason;
    bool operator==(const BusWords&) const = default;
};
[[nodiscard]] BusWords busWords(const NodeView& view);

class BusObject : public QObject {
    Q_OBJECT

public:
    explicit BusObject(NodeClient& client, QObject* parent = nullptr);
    ~BusObject() override;

    /// True if this program owns the name: a second one for another data folder does not.
    [[nodiscard]] bool isServed() const { return m_served; }
    [[nodiscard]] const QString& connectionName() const { return m_connection; }

private:
    void announce();

    NodeClient& m_client;
    QString m_connection;  // its name at Qt
    bool m_served = false;
    BusWords m_announced;
};

}  // namespace potluck::ui
