// A small proxy on 127.0.0.1: SOCKS5 with TCP and datagrams (RFC 1928), with or without a login (RFC 1929), or HTTP
// with CONNECT. It counts what goes through it, so that a test can tell what went around.
//
// Threads: a thread of its own; its counters may be read from any. Owns: that thread and every socket.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include <QPointer>
#include <QTcpServer>
#include <QTcpSocket>
#include <QThread>
#include <QUdpSocket>

#include "core/base/check.h"
#include "net/proxy/proxy.h"

namespace potluck::tests {

class ProxyServer : public QObject {
public:
    explicit ProxyServer(net::Proxy like) : m_like(std::move(like)) {
        moveToThread(&m_thread);
        m_thread.start();
        QMetaObject::invokeMethod(
            this, [this] { listen(); }, Qt::BlockingQueuedConnection);
    }
    ~ProxyServer() override {
        QMetaObject::invokeMethod(
            this, [this] { qDeleteAll(children()); }, Qt::BlockingQueuedConnection);
        m_thread.quit();
        m_thread.wait();
    }
    /// How it is reached.
    [[nodiscard]] net::Proxy address() const {
        net::Proxy proxy = m_like;
        proxy.host = "127.0.0.1";
        proxy.port = m_port;
        return proxy;
    }
    /// Connections that it has opened to a port.
    [[nodiscard]] int opened_to(std::uint16_t port) const {
        const std::lock_guard lock(m_mutex);
        const auto found = m_opened.find(port);
        return found == m_opened.end() ? 0 : found->second;
    }
    [[nodiscard]] std::uint64_t bytes_relayed() const { return m_relayed; }
    [[nodiscard]] int datagrams_relayed() const { return m_datagrams; }
    /// The port that datagrams come from which it passes on; 0: nobody has asked for that.
    [[nodiscard]] std::uint16_t datagram_port() const { return m_datagram_port; }

private:
    enum class Step { greeting, login, request, relaying };
    struct Client {
        QTcpSocket* socket = nullptr;
        QPointer<QTcpSocket> beyond;
        QByteArray read;
        Step step = Step::greeting;
    };

    void listen() {
        auto* server = new QTcpServer(this);
        POTLUCK_CHECK(server->listen(QHostAddress::LocalHost));
        m_port = server->serverPort();
        connect(server, &QTcpServer::newConnection, this, [this, server] {
            while (QTcpSocket* socket = server->nextPendingConnection()) {
                socket->setParent(this);
                const auto client = std::make_shared<Client>();
                client->socket = socket;
                connect(socket, &QTcpSocket::readyRead, this, [this, client] { hear(*client); });
                connect(socket, &QTcpSocket::disconnected, this, [client] {
                    if (client->beyond) client->beyond->disconnectFromHost();
                });
            }
        });
    }
    void hear(Client& client) {
        client.read += client.socket->readAll();
        if (m_like.kind == net::ProxyKind::http && client.step != Step::relaying) return hear_http(client);
        if (client.step == Step::greeting) greet(client);
        if (client.step == Step::login) log_in(client);
        if (client.step == Step::request) answer(client);
        if (client.step == Step::relaying) pass_on(client);
    }
    void greet(Client& client) {
        if (client.read.size() < 2 || client.read.size() < 2 + client.read[1]) return;
        const QByteArray methods = client.read.mid(2, client.read[1]);
        client.read.remove(0, 2 + client.read[1]);
        const char method = m_like.username.empty() ? '\0' : '\2';
        if (!methods.contains(method)) {
            client.socket->write("\x05\xff", 2);
            return client.socket->disconnectFromHost();
        }
        client.socket->write(QByteArray("\x05", 1) + method);
        client.step = method == '\0' ? Step::request : Step::login;
    }
    void log_in(Client& client) {
        if (client.read.size() < 2) return;
        const auto name_size = static_cast<qsizetype>(client.read[1]);
        if (client.read.size() < 3 + name_size) return;
        const auto password_size = static_cast<qsizetype>(client.read[2 + name_size]);
        if (client.read.size() < 3 + name_size + password_size) return;
        const bool right = client.read.mid(2, name_size).toStdString() == m_like.username &&
                           client.read.mid(3 + name_size, password_size).toStdString() == m_like.password;
        client.read.remove(0, 3 + name_size + password_size);
        client.socket->write(right ? QByteArray("\x01\x00", 2) : QByteArray("\x01\x01", 2));
        if (!right) return client.socket->disconnectFromHost();
        client.step = Step::request;
    }
    /// VER CMD RSV ATYP with an IPv4 address or a name, and the port.
    void answer(Client& client) {
        const QByteArray& read = client.read;
        if (read.size() < 10) return;
        const bool by_name = read[3] == 3;
        const qsizetype size = by_name ? 7 + read[4] : 10;
        if (read.size() < size) return;
        const QString host = by_name ? QString::fromLatin1(read.mid(5, read[4])) : address_at(read, 4).toString();
        const std::uint16_t port = port_at(read, size - 2);
        const char command = read[1];
        client.read.remove(0, size);
        if (command == 3) return associate(client);
        open(client, host, port, QByteArray("\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00", 10));
    }
    void hear_http(Client& client) {
        const qsizetype end = client.read.indexOf("\r\n\r\n");
        if (end < 0) return;
        const QByteArray head = client.read.left(end);
        client.read.remove(0, end + 4);
        const QByteArray login = QByteArray::fromStdString(m_like.username + ":" + m_like.password).toBase64();
        if (!m_like.username.empty() && !head.contains("Basic " + login)) {
            client.socket->write("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
            return client.socket->disconnectFromHost();
        }
        const QByteArray target = head.split(' ').value(1);
        const qsizetype colon = target.lastIndexOf(':');
        open(client, QString::fromLatin1(target.left(colon)), target.mid(colon + 1).toUShort(),
             "HTTP/1.1 200 Connection established\r\n\r\n");
    }
    void open(Client& client, const QString& host, std::uint16_t port, const QByteArray& yes) {
        auto* beyond = new QTcpSocket(this);
        client.beyond = beyond;
        client.step = Step::relaying;
        connect(beyond, &QTcpSocket::connected, this, [this, port, yes, near = QPointer(client.socket)] {
            {
                const std::lock_guard lock(m_mutex);
                ++m_opened[port];
            }
            if (near) near->write(yes);
        });
        connect(beyond, &QTcpSocket::readyRead, this, [this, beyond, near = QPointer(client.socket)] {
            const QByteArray bytes = beyond->readAll();
            m_relayed += static_cast<std::uint64_t>(bytes.size());
            if (near) near->write(bytes);
        });
        connect(beyond, &QTcpSocket::disconnected, client.socket, &QTcpSocket::disconnectFromHost);
        connect(beyond, &QTcpSocket::errorOccurred, client.socket, &QTcpSocket::disconnectFromHost);
        beyond->connectToHost(host, port);
    }
    void pass_on(Client& client) {
        if (!client.beyond || client.read.isEmpty()) return;
        m_relayed += static_cast<std::uint64_t>(client.read.size());
        client.beyond->write(std::exchange(client.read, {}));
    }
    /// Two sockets: what the client sends in its wrapping, and the world beyond.
    void associate(Client& client) {
        auto* near = new QUdpSocket(this);
        auto* beyond = new QUdpSocket(this);
        POTLUCK_CHECK(near->bind(QHostAddress::LocalHost) && beyond->bind(QHostAddress::LocalHost));
        m_datagram_port = beyond->localPort();
        const auto from = std::make_shared<std::pair<QHostAddress, std::uint16_t>>();
        connect(near, &QUdpSocket::readyRead, this, [this, near, beyond, from] {
            while (near->hasPendingDatagrams()) {
                QByteArray wrapped(near->pendingDatagramSize(), '\0');
                near->readDatagram(wrapped.data(), wrapped.size(), &from->first, &from->second);
                if (wrapped.size() < 10 || wrapped[3] != 1) continue;
                ++m_datagrams;
                beyond->writeDatagram(wrapped.mid(10), address_at(wrapped, 4), port_at(wrapped, 8));
            }
        });
        connect(beyond, &QUdpSocket::readyRead, this, [near, beyond, from] {
            while (beyond->hasPendingDatagrams()) {
                QByteArray plain(beyond->pendingDatagramSize(), '\0');
                QHostAddress sender;
                std::uint16_t port = 0;
                beyond->readDatagram(plain.data(), plain.size(), &sender, &port);
                QByteArray wrapped("\x00\x00\x00\x01", 4);
                const quint32 address = sender.toIPv4Address();
                for (int shift = 24; shift >= 0; shift -= 8) wrapped.append(static_cast<char>(address >> shift));
                wrapped.append(static_cast<char>(port >> 8U)).append(static_cast<char>(port));
                near->writeDatagram(wrapped + plain, from->first, from->second);
            }
        });
        QByteArray reply("\x05\x00\x00\x01\x7f\x00\x00\x01", 8);
        reply.append(static_cast<char>(near->localPort() >> 8U)).append(static_cast<char>(near->localPort()));
        client.socket->write(reply);
    }
    static QHostAddress address_at(const QByteArray& bytes, qsizetype at) {
        quint32 address = 0;
        for (qsizetype i = at; i < at + 4; ++i) address = address << 8U | static_cast<unsigned char>(bytes[i]);
        return QHostAddress(address);
    }
    static std::uint16_t port_at(const QByteArray& bytes, qsizetype at) {
        return static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[at]) << 8U |
                                          static_cast<unsigned char>(bytes[at + 1]));
    }

    net::Proxy m_like;
    QThread m_thread;
    mutable std::mutex m_mutex;
    std::map<std::uint16_t, int> m_opened;
    std::atomic<std::uint64_t> m_relayed{0};
    std::atomic<int> m_datagrams{0};
    std::atomic<std::uint16_t> m_port{0}, m_datagram_port{0};
};

}  // namespace potluck::tests
