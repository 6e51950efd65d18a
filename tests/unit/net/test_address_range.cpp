// Ranges of addresses as a host types them.
#include <QtTest>

#include "net/addresses/address_range.h"

using namespace potluck;
using net::AddressRange;

namespace {

bool contains(const char* range, const char* address) {
    const auto parsed = AddressRange::parse(range);
    POTLUCK_CHECK(parsed.ok());
    return parsed->contains(address);
}

}  // namespace

class TestAddressRange : public QObject {
    Q_OBJECT

private slots:
    void one_address_is_a_range_of_one() {
        QVERIFY(contains("203.0.113.7", "203.0.113.7"));
        QVERIFY(!contains("203.0.113.7", "203.0.113.6"));
        QVERIFY(contains("2001:db8::1", "2001:db8:0::1"));
        QVERIFY(!contains("2001:db8::1", "2001:db8::3"));
    }

    void a_prefix_counts_bit_by_bit() {
        QVERIFY(contains("203.0.113.0/25", "203.0.113.127"));
        QVERIFY(!contains("203.0.113.0/25", "203.0.113.128"));
        QVERIFY(contains("203.0.113.200/31", "203.0.113.201"));
        QVERIFY(!contains("203.0.113.200/31", "203.0.113.202"));
        QVERIFY(contains("128.0.0.0/1", "255.1.2.3"));
        QVERIFY(!contains("128.0.0.0/1", "127.1.2.3"));
        QVERIFY(contains("2001:db8::/33", "2001:db8:7fff::1"));
        QVERIFY(!contains("2001:db8::/33", "2001:db8:8000::1"));
    }

    void an_ipv4_address_is_the_same_however_it_is_written() {
        QVERIFY(contains("203.0.113.0/24", "::ffff:203.0.113.9"));
        QVERIFY(contains("::ffff:203.0.113.9", "203.0.113.9"));
        QVERIFY(!contains("203.0.113.0/24", "2001:db8::cb00:7109"));
    }

    void invalid_addresses_match_no_range_and_invalid_ranges_are_refused() {
        QVERIFY(!contains("128.0.0.0/1", ""));
        QVERIFY(!contains("128.0.0.0/1", "example.org"));
        for (const char* text :
             {"", "/8", "example.org", "203.0.113", "203.0.113.0/", "203.0.113.0/0", "203.0.113.0/33", "203.0.113.0/-1",
              "203.0.113.0/8x", "2001:db8::/129", "2001:db8::/0"}) {
            const auto parsed = AddressRange::parse(text);
            QVERIFY2(!parsed.ok(), text);
            QVERIFY(parsed.error().code == ErrorCode::invalid_argument);
        }
    }
};

QTEST_APPLESS_MAIN(TestAddressRange)
#include "test_address_range.moc"
