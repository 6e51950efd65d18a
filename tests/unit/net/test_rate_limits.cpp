// Towards whom the owner's caps hold, and that nothing is asked around the owner's proxy.
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

    void behind_a_proxy_neither_routers_nor_neighbours_nor_name_servers_are_asked() {
        using Pack = lt::settings_pack;
        SessionSettings settings;
        settings.dht_nodes = {{.host = "name.example.org", .port = 1}, {.host = "9.9.9.9", .port = 2}};
        settings.proxy = parse_proxy("socks5://ada:lovelace@proxy.example.org:9050").value();
        const lt::settings_pack socks5 = pack_of(settings);
        for (const int question : {Pack::enable_upnp, Pack::enable_natpmp, Pack::enable_lsd, Pack::enable_outgoing_utp,
                                   Pack::enable_incoming_utp})
            QVERIFY(!socks5.get_bool(question));
        for (const int way :
             {Pack::proxy_hostnames, Pack::proxy_peer_connections, Pack::proxy_tracker_connections, Pack::enable_dht})
            QVERIFY(socks5.get_bool(way));
        QCOMPARE(socks5.get_int(Pack::proxy_type), static_cast<int>(Pack::socks5_pw));
        QCOMPARE(socks5.get_str(Pack::dht_bootstrap_nodes), std::string("9.9.9.9:2"));
        settings.dht_nodes.clear();
        settings.proxy = parse_proxy("http://proxy.example.org:8080").value();
        const lt::settings_pack http = pack_of(settings);
        QCOMPARE(http.get_int(Pack::proxy_type), static_cast<int>(Pack::http));
        QVERIFY(http.get_str(Pack::dht_bootstrap_nodes).empty());
        QVERIFY(!http.get_bool(Pack::enable_dht));  // its datagrams would have no way to go
    }
};

QTEST_GUILESS_MAIN(TestRateLimits)
#include "test_rate_limits.moc"
