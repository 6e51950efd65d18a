// Ports that are free on every interface.
#include <QTcpServer>
#include <QUdpSocket>
#include <QtTest>

#include "net/addresses/free_port.h"

using namespace potluck::net;

class TestFreePort : public QObject {
    Q_OBJECT

private slots:
    void a_port_that_something_uses_on_any_interface_is_not_free() {
        const std::uint16_t port = free_port();
        QVERIFY(port != 0);
        QVERIFY(is_free_port(port));
        {
            QTcpServer server;
            QVERIFY(server.listen(QHostAddress::LocalHost, port));
            QVERIFY(!is_free_port(port));
        }
        {
            QUdpSocket socket;
            QVERIFY(socket.bind(QHostAddress::LocalHost, port));
            QVERIFY(!is_free_port(port));
        }
        QVERIFY(is_free_port(port));
    }

    void ports_are_chosen_below_those_of_outgoing_connections() {
        for (int i = 0; i < 20; ++i) {
            const std::uint16_t port = free_port();
            QVERIFY(port >= 16'384 && port < 32'768);
        }
    }
};

QTEST_APPLESS_MAIN(TestFreePort)
#include "test_free_port.moc"
