#include "ui/client/single_instance.h"

#include <chrono>
#include <utility>

#include "ui/client/invite_link.h"

namespace potluck::ui {

namespace {

constexpr std::chrono::seconds answer_max{2};
constexpr qsizetype message_bytes_max = 4 * invite_characters_max + 64;
constexpr int callers_max = 8;
constexpr int attempts_max = 2;  // the second finds a window that began to listen after the first
const QByteArray open_word = "open ";
const QByteArray answer = "ok\n";

}  // namespace

SingleInstance::SingleInstance(const QString& dataFolder, PeerCheck isOwn, QObject* parent)
    : QObject(parent), m_isOwn(std::move(isOwn)), m_name(windowSocket(dataFolder)) {
    m_patience.setSingleShot(true);
    m_server.setSocketOptions(QLocalServer::UserAccessOption);
    m_server.setMaxPendingConnections(callers_max);
    connect(&m_patience, &QTimer::timeout, this, [this] {
        if (std::exchange(m_settled, true)) return;
        m_first.abort();
        emit isFirst();
    });
    connect(&m_first, &QLocalSocket::connected, this, &SingleInstance::onConnected);
    connect(&m_first, &QLocalSocket::errorOccurred, this, &SingleInstance::onRefused);
    connect(&m_first, &QLocalSocket::readyRead, this, &SingleInstance::onAnswered);
    connect(&m_server, &QLocalServer::newConnection, this, &SingleInstance::welcome);
}

void SingleInstance::claim(const QString& link) {
    m_link = link;
    m_patience.start(answer_max);
    if (prepareSocketFolder(m_name)) return connectToFirst();
    qWarning("no socket for a second window: its folder is not this account's alone");
    m_attempts = attempts_max;
    QMetaObject::invokeMethod(this, &SingleInstance::becomeFirst, Qt::QueuedConnection);
}

void SingleInstance::connectToFirst() {
    ++m_attempts;
    m_first.connectToServer(m_name);
}

void SingleInstance::onConnected() {
    if (m_isOwn(m_first)) {
        m_first.write(open_word + m_link.toUtf8().toPercentEncoding() + '\n');
        return;
    }
    m_first.abort();
    onRefused();
}

void SingleInstance::onAnswered() {
    if (m_first.bytesAvailable() < answer.size() || m_settled) return;
    if (m_first.read(answer.size()) != answer) return;  // no window: after the timeout one opens here
    m_settled = true;
    m_patience.stop();
    emit handedOver();
}

void SingleInstance::onRefused() {
    if (m_settled) return;
    // Queued: the socket may not be used again from inside its own error signal.
    QMetaObject::invokeMethod(this, &SingleInstance::becomeFirst, Qt::QueuedConnection);
}

void SingleInstance::becomeFirst() {
    if (m_settled) return;
    if (prepareSocketFolder(m_name) && !m_server.listen(m_name)) {
        // Either a socket file that a crash left behind, or another window that was quicker by a moment.
        if (m_attempts < attempts_max) {
            connectToFirst();
            return;
        }
        QLocalServer::removeServer(m_name);
        if (!m_server.listen(m_name)) qWarning("no socket for a second window: %s", qPrintable(m_server.errorString()));
    }
    m_settled = true;
    m_patience.stop();
    emit isFirst();
}

void SingleInstance::welcome() {
    while (QLocalSocket* socket = m_server.nextPendingConnection()) {
        if (!m_isOwn(*socket)) {
            socket->abort();
            socket->deleteLater();
            continue;
        }
        connect(socket, &QLocalSocket::readyRead, this, [this, socket] { readFrom(*socket); });
        connect(socket, &QLocalSocket::disconnected, socket, &QObject::deleteLater);
        QTimer::singleShot(answer_max, socket, [socket] { socket->abort(); });
        if (socket->bytesAvailable() > 0) readFrom(*socket);
    }
}

void SingleInstance::readFrom(QLocalSocket& socket) {
    if (!socket.canReadLine()) {
        if (socket.bytesAvailable() > message_bytes_max) socket.abort();
        return;
    }
    const QByteArray line = socket.readLine(message_bytes_max).trimmed();
    if (!(line + ' ').startsWith(open_word)) {
        socket.abort();
        return;
    }
    socket.write(answer);
    socket.disconnectFromServer();
    const QString link = QString::fromUtf8(QByteArray::fromPercentEncoding(line.mid(open_word.size())));
    emit opened(looksLikeInvite(link) ? link : QString());
}

}  // namespace potluck::ui
