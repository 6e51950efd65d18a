// Bytes that are not a payload: every kind of damage has its fault, and nothing that parses decodes out of bounds.
#include <QtTest>

#include <cmath>

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

/// The example of docs/payload-format.md: three entries of ten, so that neither codes nor gaps fill their last byte.
struct Example {
    static constexpr std::uint64_t parameters = 10;
    static constexpr std::uint32_t k = 1024;
    static constexpr std::size_t size_at = 16, group_at = 20, gap_code_at = 36, codes_at = 37, gaps_at = 38;
    std::vector<std::byte> bytes = from_hex(
        "504c5031"
        "00040000"
        "0a00000000000000"
        "13000000"
        "00000040"
        "00008040"
        "000040c0"
        "00000000"
        "00"
        "12"
        "4a");

    static std::vector<std::byte> from_hex(const char* hex) {
        const QByteArray raw = QByteArray::fromHex(hex);
        const auto view = std::as_bytes(std::span(raw.constData(), static_cast<std::size_t>(raw.size())));
        return {view.begin(), view.end()};
    }
    /// Replaces the gaps, and the group's size with them.
    void set_gaps(std::uint8_t code, const char* hex) {
        const std::vector<std::byte> gaps = from_hex(hex);
        bytes.resize(gaps_at);
        bytes.insert(bytes.end(), gaps.begin(), gaps.end());
        bytes[gap_code_at] = static_cast<std::byte>(code);
        layout::store(&bytes[size_at], bytes.size() - group_at, 4);
    }
    [[nodiscard]] QByteArray fault() const {
        PayloadView view;
        return name_of(PayloadView::parse(bytes, parameters, k, view));
    }
};

/// One chunk of 4,096 parameters of which one is sent, with the gap's bits.
QByteArray fault_of_one_entry(std::uint8_t code, const char* gap_bits) {
    Example payload;
    payload.set_gaps(code, gap_bits);
    layout::store(&payload.bytes[4], 1, 4);
    layout::store(&payload.bytes[8], chunk_size, 8);
    payload.bytes[Example::codes_at] = std::byte{2};
    PayloadView view;
    return name_of(PayloadView::parse(payload.bytes, chunk_size, 1, view));
}

}  // namespace

class TestPayloadParse : public QObject {
    Q_OBJECT
private slots:
    void a_valid_payload_parses();
    void each_damage_has_its_fault_data();
    void each_damage_has_its_fault();
    void a_payload_has_one_spelling_only_data();
    void a_payload_has_one_spelling_only();
    void every_gap_code_up_to_its_parameter_is_read();
    void the_farthest_entry_is_read_and_none_beyond();
    void a_mean_reaches_two_to_the_sixtieth_and_not_beyond();
    void a_mean_that_no_entry_uses_counts_for_nothing();
    void a_chunk_sends_4096_entries_and_not_one_more();
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
}

void TestPayloadParse::a_payload_has_one_spelling_only_data() {
    QTest::addColumn<int>("at");
    QTest::addColumn<int>("bits");
    QTest::addColumn<QByteArray>("inserted");
    QTest::addColumn<bool>("in_group");
    const int codes = Example::codes_at, gaps = Example::gaps_at, end = gaps + 1;
    QTest::newRow("the lowest bit behind the codes") << codes << 0x40 << QByteArray() << true;
    QTest::newRow("the highest bit behind the codes") << codes << 0x80 << QByteArray() << true;
    QTest::newRow("a bit behind the gaps") << gaps << 0x80 << QByteArray() << true;
    QTest::newRow("a zero byte behind the gaps") << end << 0 << QByteArray(1, '\0') << true;
    QTest::newRow("another byte behind the gaps") << end << 0 << QByteArray("\x01") << true;
    QTest::newRow("nine zero bytes behind the gaps") << end << 0 << QByteArray(9, '\0') << true;
    QTest::newRow("a byte behind the payload") << end << 0 << QByteArray(1, '\0') << false;
}

void TestPayloadParse::a_payload_has_one_spelling_only() {
    QFETCH(const int, at);
    QFETCH(const int, bits);
    QFETCH(const QByteArray, inserted);
    QFETCH(const bool, in_group);
    Example payload;
    QCOMPARE(payload.fault(), QByteArray("none"));
    if (bits != 0) payload.bytes[static_cast<std::size_t>(at)] |= static_cast<std::byte>(bits);
    for (const char byte : inserted) payload.bytes.push_back(static_cast<std::byte>(byte));
    if (in_group) layout::store(&payload.bytes[Example::size_at], payload.bytes.size() - Example::group_at, 4);
    QCOMPARE(payload.fault(), QByteArray("trailing_bytes"));
}

void TestPayloadParse::every_gap_code_up_to_its_parameter_is_read() {
    // The gaps 1, 1 and 2 of the example, worked out by hand from the document.
    const auto fault = [](std::uint8_t code, const char* gaps) {
        Example payload;
        payload.set_gaps(code, gaps);
        return payload.fault();
    };
    QCOMPARE(fault(0, "4a"), QByteArray("none"));           // 01 01 001
    QCOMPARE(fault(1, "2f"), QByteArray("none"));           // 11 11 010
    QCOMPARE(fault(12, "0360001400"), QByteArray("none"));  // parameter_max: 1 and twelve bits, three times
    QCOMPARE(fault(28, "0360001400"), QByteArray("none"));  // v = 1: the same bits
    for (const int code : {13, 14, 15, 29, 30, 255}) {
        QCOMPARE(fault(static_cast<std::uint8_t>(code), "0360001400"), QByteArray("bad_index"));
    }
}

void TestPayloadParse::the_farthest_entry_is_read_and_none_beyond() {
    QCOMPARE(fault_of_one_entry(0, "0000ff0f"), QByteArray("none"));   // rice_zeros_max: 16 zeros, then 4,095
    QCOMPARE(fault_of_one_entry(16, "00100000"), QByteArray("none"));  // exponential_zeros_max: 12 zeros, v = 4,096
    QCOMPARE(fault_of_one_entry(16, "00300000"), QByteArray("bad_index"));  // v = 4,097: behind the chunk
    QCOMPARE(fault_of_one_entry(16, "00200000"), QByteArray("bad_index"));  // 13 zeros
}

void TestPayloadParse::a_mean_reaches_two_to_the_sixtieth_and_not_beyond() {
    const auto fault = [](std::uint32_t pattern) {
        Example payload;
        layout::store(&payload.bytes[Example::group_at], pattern, 4);
        return payload.fault();
    };
    QCOMPARE(fault(0x5d800000), QByteArray("none"));  // mean_max
    QCOMPARE(fault(0x5d800001), QByteArray("bad_mean"));
    QCOMPARE(fault(0xdd800000), QByteArray("none"));
    QCOMPARE(fault(0xdd800001), QByteArray("bad_mean"));
}

void TestPayloadParse::a_mean_that_no_entry_uses_counts_for_nothing() {
    Example payload;  // code 3 has no entries
    layout::store(&payload.bytes[Example::group_at + 12], 0x5d800000, 4);
    PayloadView view;
    QVERIFY(PayloadView::parse(payload.bytes, Example::parameters, Example::k, view) == PayloadFault::none);
    QCOMPARE(view.largest(), 4.0);
    QCOMPARE(view.norm(), std::sqrt(29.0));  // 2, 4 and -3
}

void TestPayloadParse::a_chunk_sends_4096_entries_and_not_one_more() {
    // Ten parameters of which all are sent, at gaps of zero: ten codes in three bytes, ten ones.
    const auto fault = [](std::uint32_t k, std::uint64_t entries) {
        Example payload;
        payload.bytes.resize(Example::codes_at);
        for (std::size_t i = 0; i < (entries + 3) / 4; ++i) payload.bytes.push_back(std::byte{0});
        payload.bytes.push_back(std::byte{0xff});
        payload.bytes.push_back(static_cast<std::byte>((1U << (entries - 8)) - 1));
        layout::store(&payload.bytes[4], k, 4);
        layout::store(&payload.bytes[Example::size_at], payload.bytes.size() - Example::group_at, 4);
        PayloadView view;
        return QByteArray(name_of(PayloadView::parse(payload.bytes, Example::parameters, k, view)));
    };
    QCOMPARE(fault(sent_max, 10), QByteArray("none"));
    QCOMPARE(fault(sent_max + 1, 11), QByteArray("bad_k"));
    QCOMPARE(fault(0, 10), QByteArray("bad_k"));
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
    QVERIFY(PayloadView::parse(payload, size, sent - 1, view) == PayloadFault::bad_k);
    QVERIFY(PayloadView::parse(payload, size, sent + 1, view) == PayloadFault::none);
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
