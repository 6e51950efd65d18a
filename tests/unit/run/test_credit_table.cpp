// What the lists before a round come to, as bytes.
#include <QTest>

#include <functional>

#include "core/run/credit_table.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;

namespace {

CreditTable table() {
    CreditTable table;
    table.run = samples::id<RunId>(0x11);
    table.round = {1'000};
    table.tokens = {70'000};
    table.contributions = 12;
    table.actions = 5;
    table.vouched = {samples::id<PeerId>(0xa1), samples::id<PeerId>(0xa2)};
    table.banned = {samples::id<PeerId>(0xb2)};
    table.credits = {{samples::id<PeerId>(0xa1), {65'536}, 10}, {samples::id<PeerId>(0xb2), {4'464}, 2}};
    return table;
}

bool decodes(const CreditTable& one) {
    const Result<CreditTable> decoded = CreditTable::decode(one.encode());
    return decoded.ok() && *decoded == one;
}

bool decodes_with(const std::function<void(CreditTable&)>& change) {
    CreditTable changed = table();
    change(changed);
    return decodes(changed);
}

/// The table with a number of four bytes at `at` in its place.
bool decodes_with_count(std::size_t at, std::uint64_t count) {
    Bytes bytes = table().encode();
    for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::byte>(count >> (8 * i));
    return CreditTable::decode(bytes).ok();
}

constexpr std::size_t vouched_at = 68, banned_at = vouched_at + 4 + 64, credits_at = banned_at + 4 + 32;

}  // namespace

class CreditTableTest : public QObject {
    Q_OBJECT
private slots:
    void a_table_survives_its_bytes() {
        QVERIFY(decodes(table()));
        QVERIFY(decodes_with([](CreditTable& one) { one.credits.clear(); }));
        QVERIFY(decodes_with([](CreditTable& one) { one.vouched.clear(); }));
        QVERIFY(table_ref(table().encode()).size == table().encode().size());
    }

    void a_table_is_sorted_and_names_nobody_twice() {
        QVERIFY(!decodes_with([](CreditTable& one) { std::swap(one.vouched[0], one.vouched[1]); }));
        QVERIFY(!decodes_with([](CreditTable& one) { one.vouched[1] = one.vouched[0]; }));
        QVERIFY(!decodes_with([](CreditTable& one) { std::swap(one.credits[0], one.credits[1]); }));
        QVERIFY(!decodes_with([](CreditTable& one) { one.credits[1].peer = one.credits[0].peer; }));
    }

    void numbers_out_of_range_are_refused() {
        QVERIFY(decodes_with([](CreditTable& one) { one.tokens.value = sum_max; }));
        QVERIFY(!decodes_with([](CreditTable& one) { one.tokens.value = sum_max + 1; }));
        QVERIFY(!decodes_with([](CreditTable& one) { one.contributions = sum_max + 1; }));
        QVERIFY(decodes_with([](CreditTable& one) { one.credits[0].tokens.value = sum_max; }));
        QVERIFY(!decodes_with([](CreditTable& one) { one.credits[0].tokens.value = sum_max + 1; }));
        QVERIFY(decodes_with([](CreditTable& one) { one.round.value = round_max; }));
        QVERIFY(!decodes_with([](CreditTable& one) { one.round.value = round_max + 1; }));
        QVERIFY(!decodes_with([](CreditTable& one) { one.round.value = 0; }));
        QVERIFY(!decodes_with([](CreditTable& one) { one.credits[0].rounds = 0; }));
        QVERIFY(decodes_with([](CreditTable& one) { one.actions = action_number_max; }));
        QVERIFY(!decodes_with([](CreditTable& one) { one.actions = action_number_max + 1; }));
    }

    /// Counts are compared with their limits, and with the bytes that there are, before anything is reserved.
    void counts_beyond_their_limits_are_refused() {
        QVERIFY(decodes_with_count(vouched_at, 2));
        for (const std::size_t at : {vouched_at, banned_at, credits_at}) {
            for (const std::uint64_t count : {std::uint64_t{3}, std::uint64_t{table_keys_max}, table_keys_max + 1,
                                              std::uint64_t{table_credits_max} + 1, std::uint64_t{0xffffffff}}) {
                QVERIFY(!decodes_with_count(at, count));
            }
        }
        QVERIFY(table().encode().size() <= table_bytes_max);
        QCOMPARE(table_bytes_max, std::size_t{40'032'350});
    }

    void suspensions_survive_their_bytes_and_have_a_single_encoding() {
        const Suspended first{samples::id<PeerId>(1), {60}, 1}, second{samples::id<PeerId>(2), until_lifted, 3};
        QVERIFY(decodes_with([&](CreditTable& one) { one.suspended = {first, second}; }));
        QVERIFY(decodes_with([&](CreditTable& one) {
            one.suspended = {first};
            one.curve.add({{}, 5'000});
        }));
        QVERIFY(!decodes_with([&](CreditTable& one) { one.suspended = {second, first}; }));
        QVERIFY(!decodes_with([&](CreditTable& one) { one.suspended = {first, first}; }));
        const auto with = [&](RoundId until, std::uint32_t times) {
            return decodes_with([&](CreditTable& one) { one.suspended = {{first.person, until, times}}; });
        };
        QVERIFY(with({}, 1));
        QVERIFY(!with({60}, 0));
        QVERIFY(with({60}, suspensions_max));
        QVERIFY(!with({60}, suspensions_max + 1));
        QVERIFY(with({round_max + 501}, 1));
        QVERIFY(!with({round_max + 502}, 1));
        Bytes empty = table().encode();
        empty.resize(empty.size() + 4);  // nobody
        QVERIFY(!CreditTable::decode(empty).ok());
        CreditTable full = table();
        for (std::uint32_t i = 0; i <= suspended_kept_max; ++i) {
            Suspended one = first;
            one.person.bytes[0] = static_cast<std::byte>(i >> 8U);
            one.person.bytes[1] = static_cast<std::byte>(i);
            if (i < suspended_kept_max) full.suspended.push_back(one);
        }
        QVERIFY(CreditTable::decode(full.encode()).ok());
    }

    void a_table_of_another_version_is_refused() {
        Bytes bytes = table().encode();
        QCOMPARE(as_text(bytes).substr(0, 8), std::string_view("PLKTAB1\n"));
        bytes[6] = std::byte{'2'};
        QVERIFY(!CreditTable::decode(bytes).ok());
    }

    void a_table_ends_with_its_credits() {
        Bytes bytes = table().encode();
        bytes.push_back(std::byte{0});
        QVERIFY(!CreditTable::decode(bytes).ok());
        bytes.resize(bytes.size() - 2);
        QVERIFY(!CreditTable::decode(bytes).ok());
        QVERIFY(!CreditTable::decode(Bytes()).ok());
    }
};

QTEST_APPLESS_MAIN(CreditTableTest)
#include "test_credit_table.moc"
