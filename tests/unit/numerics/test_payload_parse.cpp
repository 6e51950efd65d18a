// Bytes that are not a payload: every kind of damage has its fault, and nothing that parses decodes out of bounds.
#include <QtTest>

#include "core/numerics/codec/payload_layout.h"
#include "core/numerics/codec/plain_codec.h"
#include "core/numerics/codec/sparse_codec.h"
#include "tests/golden/numerics_inputs.h"

using namespace potluck;
using namespace potluck::numerics;

namespace {

constexpr std::size_t size = group_size + 5000;  // two groups, the second with a short last chunk
constexpr std::uint32_t sent = 8;
constexpr std::size_t groups_at = layout::header_size + 2 * layout::table_entry_size;

std::vector<std::byte> valid() {
    std::vector<float> source = inputs::make(inputs::Kind::clustered, size, 29);
    return encode(source, sent, 1);
}

PayloadFault parsed(std::span<const std::byte> bytes) {
    PayloadView view;
    return PayloadView::parse(bytes, size, sent, view);
}

/// Decodes everything and checks that each place is inside its group and above the one before.
bool decodes_in_order(std::span<const std::byte> bytes) {
    PayloadView view;
    if (PayloadView::parse(bytes, size, sent, view) != PayloadFault::none) return false;
    std::vector<std::uint32_t> indices(chunks_per_group * sent);
    std::vector<std::uint8_t> codes(chunks_per_group * sent);
    std::array<float, 4> means{};
    for (std::size_t g = 0; g < view.group_count(); ++g) {
        const layout::GroupShape shape = layout::shape_of(g, size, sent);
        if (view.decode_group(g, indices, codes, means) != shape.entries) return false;
        for (std::size_t i = 0; i < shape.entries; ++i) {
            if (indices[i] >= shape.length || (i > 0 && indices[i] <= indices[i - 1]) || codes[i] > 3) return false;
        }
    }
    return true;
}

}  // namespace

class TestPayloadParse : public QObject {
    Q_OBJECT
private slots:
    void a_valid_payload_parses();
    void each_damage_has_its_fault_data();
    void each_damage_has_its_fault();
    void every_cut_is_noticed();
    void another_size_or_k_is_refused();
    void a_view_of_a_refused_payload_is_empty();
    void a_huge_expected_size_allocates_nothing();
    void whatever_parses_decodes_in_order();
};

void TestPayloadParse::a_valid_payload_parses() {
    const auto bytes = valid();
    QCOMPARE(name_of(parsed(bytes)), "none");
    QVERIFY(decodes_in_order(bytes));
}

void TestPayloadParse::each_damage_has_its_fault_data() {
    QTest::addColumn<int>("at");
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("fault");
    const int group = static_cast<int>(groups_at);
    const int means_end = group + 16;
    QTest::newRow("magic") << 3 << QByteArray("2") << QByteArray("bad_magic");
    QTest::newRow("k") << 4 << QByteArray("\x09") << QByteArray("bad_k");
    QTest::newRow("size") << 8 << QByteArray("\x01\x02") << QByteArray("wrong_size");
    QTest::newRow("first group too long") << 16 << QByteArray("\xff\xff\xff\xff") << QByteArray("truncated");
    QTest::newRow("empty group") << 16 << QByteArray("\0\0\0\0", 4) << QByteArray("truncated");
    QTest::newRow("infinite mean") << group << QByteArray("\x00\x00\x80\x7f", 4) << QByteArray("bad_mean");
    QTest::newRow("mean that is no number") << group + 12 << QByteArray("\xff\xff\xff\xff") << QByteArray("bad_mean");
    QTest::newRow("mean above 2^60") << group + 4 << QByteArray("\x01\x00\x80\x5d", 4) << QByteArray("bad_mean");
    QTest::newRow("unknown gap code") << means_end << QByteArray("\x0d") << QByteArray("bad_index");
    QTest::newRow("endless zeros") << means_end + 1 + 128 << QByteArray(40, '\0') << QByteArray("bad_index");
}

void TestPayloadParse::each_damage_has_its_fault() {
    QFETCH(int, at);
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, fault);
    auto payload = valid();
    std::memcpy(payload.data() + at, bytes.constData(), static_cast<std::size_t>(bytes.size()));
    QCOMPARE(QByteArray(name_of(parsed(payload))), fault);
    payload = valid();
    payload.push_back(std::byte{0});
    QCOMPARE(name_of(parsed(payload)), "trailing_bytes");
}

void TestPayloadParse::every_cut_is_noticed() {
    const auto payload = valid();
    for (std::size_t length = 0; length < payload.size(); ++length) {
        QVERIFY(parsed(std::span(payload).first(length)) == PayloadFault::truncated);
    }
}

void TestPayloadParse::another_size_or_k_is_refused() {
    const auto payload = valid();
    PayloadView view;
    QVERIFY(PayloadView::parse(payload, size + 1, sent, view) == PayloadFault::wrong_size);
    QVERIFY(PayloadView::parse(payload, size, sent + 1, view) == PayloadFault::bad_k);
    QVERIFY(PayloadView::parse(payload, size, 0, view) == PayloadFault::bad_k);
}

void TestPayloadParse::a_view_of_a_refused_payload_is_empty() {
    auto payload = valid();
    PayloadView view;
    QVERIFY(PayloadView::parse(payload, size, sent, view) == PayloadFault::none);
    payload.pop_back();
    QVERIFY(PayloadView::parse(payload, size, sent, view) != PayloadFault::none);
    QCOMPARE(view.group_count(), std::size_t{0});
    QCOMPARE(view.size(), std::uint64_t{0});
}

void TestPayloadParse::a_huge_expected_size_allocates_nothing() {
    auto payload = valid();
    const std::uint64_t huge = ~std::uint64_t{0};
    layout::store(&payload[8], huge, 8);
    PayloadView view;
    QVERIFY(PayloadView::parse(payload, huge, sent, view) == PayloadFault::truncated);
}

void TestPayloadParse::whatever_parses_decodes_in_order() {
    const auto payload = valid();
    Rng rng(31);
    int accepted = 0;
    for (int trial = 0; trial < 4000; ++trial) {
        auto damaged = payload;
        const auto flips = 1 + rng.below(3);
        for (std::uint64_t i = 0; i < flips; ++i) {
            const auto at = groups_at + rng.below(damaged.size() - groups_at);
            damaged[at] ^= static_cast<std::byte>(1U << rng.below(8));
        }
        if (parsed(damaged) != PayloadFault::none) continue;
        ++accepted;
        QVERIFY(decodes_in_order(damaged));
        QVERIFY(decode_plain(damaged).size() == size);
    }
    QVERIFY(accepted > 100 && accepted < 4000);
}

QTEST_APPLESS_MAIN(TestPayloadParse)
#include "test_payload_parse.moc"
