// Shows a notice as the system does: through org.freedesktop.Notifications on the session's bus, one bubble that a
// later one replaces. While the desktop says that it does not want to be disturbed (its property Inhibited) nothing is
// shown; window and tray say the same anyway. Where there is no such service, the tray shows the notice.
//
// Asks without waiting: a service that hangs holds up nothing. On other systems than Linux every notice is the tray's.
// Threads: Qt's main thread.
#pragma once

#include <QObject>
#include <QString>

#include "ui/session/notices.h"

namespace potluck::ui {

class Notifier : public QObject {
    Q_OBJECT

public:
    explicit Notifier(QObject* parent = nullptr);
    ~Notifier() override;

    void show(const Notice& notice);
    /// The service's number of the last bubble, which the next one replaces; 0 before there is one.
    [[nodiscard]] uint shown() const { return m_shown; }

signals:
    /// There is no service for notifications.
    void unserved(const QString& title, const QString& text);

private:
    void send(const Notice& notice);

    QString m_connection;  // its name at Qt
    uint m_shown = 0;
};

}  // namespace potluck::ui
