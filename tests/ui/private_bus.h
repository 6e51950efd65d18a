// A bus of a test's own, which stands for both the session's and the system's.
#pragma once

#include <QProcess>
#include <QStandardPaths>

namespace potluck::tests {

class PrivateBus {
public:
    ~PrivateBus() {
        m_daemon.terminate();
        m_daemon.waitForFinished(3000);
    }

    /// False where dbus-daemon is not installed.
    [[nodiscard]] static bool isInstalled() { return !program().isEmpty(); }
    /// Its address, which is in the environment then; empty if it does not start.
    [[nodiscard]] QString start() {
        m_daemon.start(program(),
                       {QStringLiteral("--session"), QStringLiteral("--nofork"), QStringLiteral("--print-address")});
        if (!m_daemon.waitForStarted() || !m_daemon.waitForReadyRead(10'000)) return {};
        const QByteArray address = m_daemon.readLine().trimmed();
        qputenv("DBUS_SESSION_BUS_ADDRESS", address);
        qputenv("DBUS_SYSTEM_BUS_ADDRESS", address);
        return QString::fromUtf8(address);
    }

private:
    static QString program() { return QStandardPaths::findExecutable(QStringLiteral("dbus-daemon")); }

    QProcess m_daemon;
};

}  // namespace potluck::tests
