// Which addresses of this computer others are told, and with which port.
#include <QtTest>

#include "net/addresses/own_addresses.h"

using namespace potluck;
using namespace potluck::net;

namespace {

lt::address at(const char* text) { return lt::make_address(text); }

using Hints = std::vector<run::PeerHint>;

Hints public_hints(const OwnAddresses& own) { return hints_of(own, HintScope::internet); }

}  // namespace

class TestOwnAddresses : public QObject {
    Q_OBJECT

private slots:
    void an_address_is_public_or_not_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<bool>("open");
        for (const char* text : {"8.8.8.8", "1.0.0.1", "11.0.0.0", "9.255.255.255", "100.63.255.255", "100.128.0.0",
                                 "172.15.255.255", "172.32.0.0", "192.167.1.1", "192.169.0.0", "223.255.255.254",
                                 "2a01:4f8::1", "2001:4860:4860::8888", "2600::1", "3fff:1000::1"}) {
            QTest::newRow(text) << QString(text) << true;
        }
        for (const char* text : {"0.0.0.0",
                                 "0.1.2.3",
                                 "10.0.0.1",
                                 "10.255.255.255",
                                 "100.64.0.1",
                                 "100.127.255.255",
                                 "127.0.0.1",
                                 "127.255.0.1",
                                 "169.254.7.7",
                                 "172.16.0.1",
                                 "172.31.255.255",
                                 "192.0.0.8",
                                 "192.0.2.5",
                                 "192.88.99.1",
                                 "192.168.0.10",
                                 "198.19.0.1",
                                 "198.51.100.9",
                                 "203.0.113.1",
                                 "224.0.0.1",
                                 "240.0.0.1",
                                 "255.255.255.255",
                                 "::",
                                 "::1",
                                 "::ffff:8.8.8.8",
                                 "64:ff9b::8.8.8.8",
                                 "fe80::1",
                                 "fc00::1",
                                 "fd12:3456::1",
                                 "ff02::1",
                                 "2001::1",
                                 "2001:20::1",
                                 "2001:db8::1",
                                 "2002:808:808::1",
                                 "3fff::1"}) {
            QTest::newRow(text) << QString(text) << false;
        }
    }
    void an_address_is_public_or_not() {
        QFETCH(QString, text);
        QFETCH(bool, open);
        QCOMPARE(is_public(at(text.toUtf8().constData())), open);
    }

    void an_address_is_of_the_own_network_or_not() {
        for (const char* text : {"10.0.0.1", "172.16.0.1", "192.168.200.2", "169.254.7.7", "127.0.0.1", "fe80::1",
                                 "fe80::", "fd12:3456::1", "::1"})
            QVERIFY2(is_of_own_network(at(text)), text);
        // Behind a carrier's router there are strangers.
        for (const char* text : {"100.64.0.1", "8.8.8.8", "192.0.2.5", "2a01:4f8::1", "172.32.0.1", "169.253.1.1"})
            QVERIFY2(!is_of_own_network(at(text)), text);
    }

    void no_hint_is_handed_out_before_a_usable_address_is_known() {
        OwnAddresses own;
        own.port = 7000;
        QVERIFY(hints_of(own, HintScope::local_network).empty());
        own.add_interface(at("127.0.0.1"));
        own.add_interface(at("::1"));
        own.add_interface(at("fe80::5"));
        own.add_interface(at("169.254.1.5"));
        own.add_interface(at("100.64.1.5"));
        QVERIFY(hints_of(own, HintScope::local_network).empty());
    }
    void addresses_of_the_local_network_follow_the_public_ones() {
        OwnAddresses own;
        own.port = 7000;
        own.mapped_port = 40'000;
        own.add_interface(at("127.0.0.1"));
        own.add_interface(at("192.168.1.5"));
        own.add_interface(at("fe80::5"));
        own.add_interface(at("10.8.0.2"));
        own.add_interface(at("fd00::5"));
        own.set_external(at("8.8.4.4"));
        QVERIFY(hints_of(own, HintScope::local_network) == Hints({{.host = "8.8.4.4", .port = 40'000},
                                                                  {.host = "192.168.1.5", .port = 7000},
                                                                  {.host = "10.8.0.2", .port = 7000}}));
        QVERIFY(public_hints(own) == Hints({{.host = "8.8.4.4", .port = 40'000}}));
        own.told.resize(own_hints_max, {.host = "example.org", .port = 1});
        QCOMPARE(hints_of(own, HintScope::local_network).size(), own_hints_max + lan_hints_max);
    }
    void the_address_set_by_the_person_comes_first_whatever_it_is() {
        OwnAddresses own;
        own.port = 7000;
        own.set_external(at("8.8.4.4"));
        own.told = {{.host = "192.168.1.5", .port = 6881}};
        QVERIFY(public_hints(own) == Hints({{.host = "192.168.1.5", .port = 6881}, {.host = "8.8.4.4", .port = 7000}}));
        own.told.resize(own_hints_max + 1, {.host = "example.org", .port = 1});
        QCOMPARE(public_hints(own).size(), own_hints_max);
    }
    void a_router_that_maps_a_port_is_reached_at_that_port() {
        OwnAddresses own;
        own.port = 7000;
        own.add_interface(at("192.168.1.5"));
        own.set_external(at("8.8.4.4"));
        QVERIFY(public_hints(own) == Hints({{.host = "8.8.4.4", .port = 7000}}));
        own.mapped_port = 40'000;
        QVERIFY(public_hints(own) == Hints({{.host = "8.8.4.4", .port = 40'000}}));
    }
    void an_address_of_our_own_is_reached_at_the_port_we_listen_on() {
        OwnAddresses own;
        own.port = 7000;
        own.mapped_port = 40'000;
        own.add_interface(at("8.8.4.4"));
        own.add_interface(at("2a01:4f8::7"));
        own.set_external(at("8.8.4.4"));
        own.set_external(at("2a01:4f8::7"));
        QVERIFY(public_hints(own) == Hints({{.host = "8.8.4.4", .port = 7000}, {.host = "2a01:4f8::7", .port = 7000}}));
    }
    void the_latest_external_address_of_a_family_counts() {
        OwnAddresses own;
        own.port = 7000;
        own.set_external(at("8.8.4.4"));
        own.set_external(at("2a01:4f8::7"));
        own.set_external(at("9.9.9.9"));
        QVERIFY(public_hints(own) == Hints({{.host = "9.9.9.9", .port = 7000}, {.host = "2a01:4f8::7", .port = 7000}}));
    }
    void a_neighbour_that_sees_a_private_address_adds_nothing() {
        OwnAddresses own;
        own.port = 7000;
        own.mapped_port = 40'000;
        own.set_external(at("10.0.0.8"));
        own.set_external(at("fe80::8"));
        QVERIFY(public_hints(own).empty());
    }
    void hints_are_few_and_none_has_port_zero() {
        OwnAddresses own;
        for (int i = 1; i < 60; ++i) own.add_interface(at(("2a01:4f8::" + std::to_string(i)).c_str()));
        QCOMPARE(own.interfaces.size(), own_interfaces_max);
        QVERIFY(public_hints(own).empty());
        own.port = 7000;
        QCOMPARE(public_hints(own).size(), own_hints_max);
    }
    void an_ipv6_hint_is_written_in_brackets_and_read_back_from_an_invite() {
        const run::PeerHint hint{.host = "2a01:4f8::7", .port = 7000};
        QCOMPARE(text_of(hint), std::string("[2a01:4f8::7]:7000"));
        QCOMPARE(text_of({.host = "8.8.4.4", .port = 1}), std::string("8.8.4.4:1"));
        const run::Invite invite{.run = RunId{{std::byte{9}}}, .name = "x", .hints = {hint}};
        const Result<run::Invite> read = run::Invite::parse(invite.to_magnet());
        QVERIFY(read.ok());
        QVERIFY(read->hints == Hints({hint}));
    }
};

QTEST_GUILESS_MAIN(TestOwnAddresses)
#include "test_own_addresses.moc"
