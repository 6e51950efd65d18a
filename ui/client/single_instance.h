// One window per data folder: the first listens on a local socket that only this user may use, a second hands its link
// over and ends. Nothing blocks: the answer comes as a signal. A first one that does not answer within two seconds is
// taken for hung, and the second opens a window of its own (the node behind it is still only one). So it does where
// another account holds the socket, or where there can be none: an invite goes to nobody else, and no start ends
// without a window.
//
// Threads: Qt's main thread. Owns: the socket's server.
#pragma once

#include <functional>

#include <QLocalServer>
#include <QLocalSocket>
#include <QObject>
#include <QTimer>

#include "ui/client/window_socket.h"

namespace potluck::ui {

class SingleInstance : public QObject {
    Q_OBJECT

public:
    /// Whether a connected socket leads to a process of this account.
    using PeerCheck = std::function<bool(const QLocalSocket&)>;

    /// The socket lies where ui/client/window_socket.h says; tests put another check in the place of its isOwnPeer.
    explicit SingleInstance(const QString& dataFolder, PeerCheck isOwn = isOwnPeer, QObject* parent = nullptr);

    /// Looks for another window; `link` (possibly empty) is what it should show.
    void claim(const QString& link);

signals:
    void isFirst();
    void handedOver();
    /// A second window was asked for: raise this one and, if there is a link, show it for confirmation.
    void opened(const QString& link);

private:
    void connectToFirst();
    void onConnected();
    void onRefused();
    void onAnswered();
    void becomeFirst();
    void welcome();
    void readFrom(QLocalSocket& socket);

    PeerCheck m_isOwn;
    QString m_name;
    QString m_link;
    QLocalServer m_server;
    QLocalSocket m_first;
    QTimer m_patience;
    int m_attempts = 0;
    bool m_settled = false;
};

}  // namespace potluck::ui
