// Sessions behind a proxy: what they do goes through it, and nothing goes around it. What went around would reach the
// witnesses, a TCP and a UDP socket that count who comes.
#include <QTcpServer>
#include <QTcpSocket>
#include <QUdpSocket>
#include <QtTest>

#include "tests/integration/proxy_server.h"
#include "tests/integration/swarm_fixture.h"

using namespace potluck;
using namespace potluck::net;
using potluck::tests::ProxyServer;

namespace {

constexpr std::size_t blob_bytes = 300'000;

Proxy like(ProxyKind kind, const char* username = "", const char* password = "") {
    return {.kind = kind, .host = {}, .port = 0, .username = username, .password = password};
}

/// Who comes to an address that the hidden computer was told.
struct Witnesses {
    Witnesses() {
        POTLUCK_CHECK(tcp.listen(QHostAddress::LocalHost));
        POTLUCK_CHECK(udp.bind(QHostAddress::LocalHost));
    }
    int connections() {
        while (tcp.waitForNewConnection(0)) delete tcp.nextPendingConnection(), ++m_connections;
        return m_connections;
    }
    /// Of those that have come, how many are not from `port`.
    int datagrams_not_from(std::uint16_t port) {
        while (udp.waitForReadyRead(0) || udp.hasPendingDatagrams()) {
            std::uint16_t sender = 0;
            QByteArray bytes(udp.pendingDatagramSize(), '\0');
            udp.readDatagram(bytes.data(), bytes.size(), nullptr, &sender);
            ++(sender == port ? m_through : m_around);
        }
        return m_around;
    }
    [[nodiscard]] int datagrams_through() const { return m_through; }
    QTcpServer tcp;
    QUdpSocket udp;

private:
    int m_connections = 0, m_through = 0, m_around = 0;
};

/// A member in the open, and one behind the proxy that knows it by its address.
struct Pair {
    explicit Pair(const Proxy& proxy, std::vector<run::PeerHint> named_dht_nodes = {}) {
        room.open(1);
        room.computers.push_back(std::make_unique<Computer>(17));
        hidden().proxy = proxy;
        hidden().named_dht_nodes = std::move(named_dht_nodes);
        hidden().start({witnesses.udp.localPort()});
        POTLUCK_CHECK(hidden().session->publish_manifest(room.manifest).ok());
    }
    void join() { hidden().join(room.run, {open().session->port(), witnesses.tcp.serverPort()}); }
    Computer& open() { return room[0]; }
    Computer& hidden() { return room[1]; }
    Witnesses witnesses;
    Room room;
};

}  // namespace

class TestProxy : public QObject {
    Q_OBJECT

private slots:
    void members_meet_and_share_through_a_proxy_and_nothing_goes_around_it_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<QString>("username");
        QTest::newRow("SOCKS5") << static_cast<int>(ProxyKind::socks5) << "";
        QTest::newRow("SOCKS5 with a login") << static_cast<int>(ProxyKind::socks5) << "ada";
        QTest::newRow("HTTP") << static_cast<int>(ProxyKind::http) << "";
        QTest::newRow("HTTP with a login") << static_cast<int>(ProxyKind::http) << "ada";
    }
    void members_meet_and_share_through_a_proxy_and_nothing_goes_around_it() {
        QFETCH(const int, kind);
        QFETCH(const QString, username);
        ProxyServer server(
            like(static_cast<ProxyKind>(kind), username.toUtf8().constData(), username.isEmpty() ? "" : "lovelace"));
        Pair pair(server.address());
        pair.join();
        QVERIFY(pair.room.wait_until_all_know_each_other());

        const Result<run::BlobRef> blob = pair.open().swarm->publish(random_bytes(blob_bytes, 3));
        QVERIFY(blob.ok());
        pair.hidden().swarm->fetch(*blob,
                                   {.sources = {pair.open().id()}, .deadline = {}, .damaged_copy = {}, .layer = {}});
        QVERIFY(pair.room.wait([&] { return !pair.hidden().witness.blobs.empty(); }));
        QVERIFY(server.bytes_relayed() >= blob_bytes);

        QVERIFY(pair.room.wait([&] { return pair.witnesses.connections() >= 2; }));
        // A connection is here before the proxy hears that it stands.
        const auto opened = [&] { return server.opened_to(pair.witnesses.tcp.serverPort()); };
        (void)pair.room.wait([&] { return pair.witnesses.connections() == opened(); });
        QCOMPARE(pair.witnesses.connections(), opened());
        QVERIFY(pair.hidden().session->counters().proxy == ProxyAnswer::yes);
        const bool has_datagrams = static_cast<ProxyKind>(kind) == ProxyKind::socks5;
        if (has_datagrams)
            QVERIFY(pair.room.wait([&] {
                return pair.witnesses.datagrams_not_from(server.datagram_port()) > 0 ||
                       pair.witnesses.datagrams_through() > 0;
            }));
        QCOMPARE(pair.witnesses.datagrams_not_from(server.datagram_port()), 0);
    }

    void a_computer_behind_a_proxy_accepts_no_connection_and_hides_its_address() {
        ProxyServer server(like(ProxyKind::socks5));
        Pair pair(server.address());
        pair.join();
        QVERIFY(pair.room.wait_until_all_know_each_other());
        QTcpSocket visitor;
        visitor.connectToHost(QHostAddress::LocalHost, pair.hidden().session->port());
        QVERIFY(!visitor.waitForConnected(1'000));
        QVERIFY(pair.hidden().session->invite(pair.room.run, "x").hints.empty());
        QVERIFY(!pair.open().session->invite(pair.room.run, "x").hints.empty());
    }

    /// Whoever resolves it asks a name server, and that goes around the proxy.
    void a_name_in_an_invite_is_not_looked_up_behind_a_proxy() {
        ProxyServer server(like(ProxyKind::socks5));
        Witnesses named;
        Pair pair(server.address(), {{.host = "localhost", .port = named.udp.localPort()}});
        SwarmOptions options{.run = pair.room.run, .hints = {}};
        options.hints.push_back({.host = "localhost", .port = pair.open().session->port()});
        options.hints.push_back({.host = "127.0.0.1", .port = pair.witnesses.tcp.serverPort()});
        auto opened =
            pair.hidden().session->open_swarm(std::move(options), pair.hidden().identity, pair.hidden().witness);
        QVERIFY(opened.ok());
        pair.hidden().swarm = *std::move(opened);
        QVERIFY(pair.room.wait([&] { return pair.witnesses.connections() >= 2; }));
        QCOMPARE(server.opened_to(pair.open().session->port()), 0);
        QVERIFY(pair.room.wait([&] {
            pair.witnesses.datagrams_not_from(server.datagram_port());
            return pair.witnesses.datagrams_through() > 0;
        }));
        QCOMPARE(named.datagrams_not_from(server.datagram_port()) + named.datagrams_through(), 0);
        QVERIFY(pair.hidden().swarm->neighbours().empty());
    }

    void a_proxy_that_does_not_let_this_computer_through_is_told_apart_from_one_that_is_not_there() {
        const auto answer_of = [](const Proxy& proxy) {
            Computer computer(5);
            computer.proxy = proxy;
            computer.start();
            const TimePoint give_up = steady_now() + Duration(10'000);
            ProxyAnswer answer = ProxyAnswer::unknown;
            while (answer == ProxyAnswer::unknown && steady_now() < give_up) {
                computer.session->poll(steady_now());
                answer = computer.session->counters().proxy;
                QTest::qWait(1);
            }
            return answer;
        };
        ProxyServer server(like(ProxyKind::socks5, "ada", "lovelace"));
        QVERIFY(answer_of(server.address()) == ProxyAnswer::yes);
        Proxy wrong = server.address();
        wrong.password = "byron";
        QVERIFY(answer_of(wrong) == ProxyAnswer::refuses);
        wrong.username = wrong.password = "";
        QVERIFY(answer_of(wrong) == ProxyAnswer::refuses);
        ProxyServer web(like(ProxyKind::http));
        Proxy of_http = web.address();
        QVERIFY(answer_of(of_http) == ProxyAnswer::yes);
        QTcpServer talker;  // says something else as soon as it is greeted
        POTLUCK_CHECK(talker.listen(QHostAddress::LocalHost));
        QByteArray words;
        QObject::connect(&talker, &QTcpServer::newConnection, [&] { talker.nextPendingConnection()->write(words); });
        of_http.kind = ProxyKind::socks5;
        of_http.port = talker.serverPort();
        // Of another service; as a proxy would, but for the version; of a method that was not offered.
        for (const QByteArray& other : {QByteArray("220 hello\r\n"), QByteArray("\4\0", 2), QByteArray("\5\1", 2)}) {
            words = other;
            QVERIFY2(answer_of(of_http) == ProxyAnswer::stranger, other.toHex());
        }
        talker.close();
        QVERIFY(answer_of(of_http) == ProxyAnswer::silent);
        QVERIFY(answer_of({}) == ProxyAnswer::unknown);
    }
};

QTEST_MAIN(TestProxy)
#include "test_proxy.moc"
