// Towards whom the owner's caps hold.
#include <QtTest>

#include "net/engine.h"

using namespace potluck::net;

class TestRateLimits : public QObject {
    Q_OBJECT

private slots:
    void caps_hold_towards_every_address_data() {
        QTest::addColumn<QString>("text");
        for (const char* text : {"0.0.0.0", "8.8.8.8", "10.1.2.3", "100.64.0.1", "127.0.0.1", "169.254.7.7",
                                 "172.16.0.1", "192.168.1.2", "255.255.255.255", "::", "::1", "2001:4860:4860::8888",
                                 "fc00::1", "fe80::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}) {
            QTest::newRow(text) << QString(text);
        }
    }
    void caps_hold_towards_every_address() {
        QFETCH(QString, text);
        const std::uint32_t classes = rate_limited_addresses().access(lt::make_address(text.toStdString()));
        QCOMPARE(classes, 1U << static_cast<unsigned>(lt::session::global_peer_class_id));
    }
};

QTEST_GUILESS_MAIN(TestRateLimits)
#include "test_rate_limits.moc"
