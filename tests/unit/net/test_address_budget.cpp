#include <QTest>

#include "net/addresses/address_budget.h"

using namespace potluck::net;

namespace {
libtorrent::address address(const char* text) { return libtorrent::make_address(text); }
}  // namespace

class AddressBudgetTest : public QObject {
    Q_OBJECT
private slots:
    void an_address_of_the_internet_holds_eight() {
        AddressBudget budget;
        for (std::size_t i = 0; i < sessions_per_address_max; ++i) QVERIFY(budget.admit(address("8.8.8.8")));
        QVERIFY(!budget.admit(address("8.8.8.8")));
        QVERIFY(!budget.admit(address("::ffff:8.8.8.8")));  // the same one, written as IPv6
        QVERIFY(budget.admit(address("8.8.8.9")));
        budget.release(address("8.8.8.8"));
        QVERIFY(budget.admit(address("8.8.8.8")));
        QVERIFY(!budget.admit(address("8.8.8.8")));
    }

    void a_network_of_ipv6_addresses_counts_as_one() {
        AddressBudget budget;
        for (std::size_t i = 0; i < sessions_per_address_max; ++i) {
            const std::string text = "2a02:8108:1:2::" + std::to_string(i + 1);
            QVERIFY(budget.admit(address(text.c_str())));
        }
        QVERIFY(!budget.admit(address("2a02:8108:1:2:ffff::1")));
        QVERIFY(budget.admit(address("2a02:8108:1:3::1")));
        budget.release(address("2a02:8108:1:2:dead::"));
        QVERIFY(budget.admit(address("2a02:8108:1:2:ffff::1")));
    }

    void loopback_and_lan_hold_as_many_as_they_like_unless_told_otherwise() {
        for (const char* local : {"127.0.0.1", "192.168.1.7", "10.0.0.1", "169.254.3.4", "::1", "fe80::1", "fd00::1"}) {
            AddressBudget free;
            for (int i = 0; i < 100; ++i) QVERIFY(free.admit(address(local)));
            AddressBudget tight(2);
            QVERIFY(tight.admit(address(local)));
            QVERIFY(tight.admit(address(local)));
            QVERIFY(!tight.admit(address(local)));
        }
    }

    void releasing_what_was_not_held_is_no_credit() {
        AddressBudget budget;
        budget.release(address("8.8.8.8"));
        for (std::size_t i = 0; i < sessions_per_address_max; ++i) QVERIFY(budget.admit(address("8.8.8.8")));
        QVERIFY(!budget.admit(address("8.8.8.8")));
    }
};

QTEST_APPLESS_MAIN(AddressBudgetTest)
#include "test_address_budget.moc"
