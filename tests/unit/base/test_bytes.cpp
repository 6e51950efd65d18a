// Hexadecimal, and the little-endian writer with its strict reader.
#include <QtTest>

#include <limits>

#include "core/base/bytes.h"
#include "core/base/ids.h"

using namespace potluck;

class TestBytes : public QObject {
    Q_OBJECT
private slots:
    void hexadecimal_goes_there_and_back();
    void bad_hexadecimal_is_refused_data();
    void bad_hexadecimal_is_refused();
    void written_values_are_read_back();
    void the_layout_is_little_endian();
    void reading_past_the_end_fails_for_good();
    void bytes_left_over_are_noticed();
    void a_string_above_its_limit_fails();
    void ids_sort_by_their_bytes();
};

void TestBytes::hexadecimal_goes_there_and_back() {
    std::array<std::byte, 3> bytes{};
    QVERIFY(from_hex("00aBff", bytes));
    QCOMPARE(to_hex(bytes), std::string("00abff"));
}

void TestBytes::bad_hexadecimal_is_refused_data() {
    QTest::addColumn<QString>("text");
    QTest::newRow("short") << "00ab";
    QTest::newRow("long") << "00abff00";
    QTest::newRow("letter") << "00abfg";
    QTest::newRow("space") << "00 bff";
}

void TestBytes::bad_hexadecimal_is_refused() {
    QFETCH(QString, text);
    std::array<std::byte, 3> bytes{};
    QVERIFY(!from_hex(text.toStdString(), bytes));
}

void TestBytes::written_values_are_read_back() {
    ByteWriter writer;
    writer.u8(200);
    writer.u16(60'000);
    writer.u32(4'000'000'000U);
    writer.u64(std::numeric_limits<std::uint64_t>::max() - 1);
    writer.f32(-1.5F);
    writer.f64(0.1);
    writer.string("name");
    const Bytes bytes = writer.take();
    ByteReader reader(bytes);
    QCOMPARE(reader.u8(), std::uint8_t{200});
    QCOMPARE(reader.u16(), std::uint16_t{60'000});
    QCOMPARE(reader.u32(), std::uint32_t{4'000'000'000U});
    QCOMPARE(reader.u64(), std::numeric_limits<std::uint64_t>::max() - 1);
    QVERIFY(reader.f32() == -1.5F);
    QVERIFY(reader.f64() == 0.1);
    QCOMPARE(reader.string(4), std::string("name"));
    QVERIFY(reader.finished());
}

void TestBytes::the_layout_is_little_endian() {
    ByteWriter writer;
    writer.u32(0x01020304);
    writer.f32(1.0F);
    QCOMPARE(to_hex(writer.bytes()), std::string("040302010000803f"));
}

void TestBytes::reading_past_the_end_fails_for_good() {
    const Bytes bytes(3);
    ByteReader reader(bytes);
    QCOMPARE(reader.u32(), std::uint32_t{0});
    QVERIFY(reader.failed());
    QCOMPARE(reader.u8(), std::uint8_t{0});
    QVERIFY(reader.failed() && !reader.finished());
}

void TestBytes::bytes_left_over_are_noticed() {
    const Bytes bytes(3);
    ByteReader reader(bytes);
    (void)reader.u16();
    QVERIFY(!reader.failed() && !reader.finished());
    QCOMPARE(reader.remaining(), std::size_t{1});
}

void TestBytes::a_string_above_its_limit_fails() {
    ByteWriter writer;
    writer.string("name");
    ByteReader reader(writer.bytes());
    QVERIFY(reader.string(3).empty());
    QVERIFY(reader.failed());
}

void TestBytes::ids_sort_by_their_bytes() {
    const auto low = Digest::parse(std::string(62, '0') + "ff");
    const auto high = Digest::parse("01" + std::string(62, '0'));
    QVERIFY(low && high && *low < *high);
    QCOMPARE(high->brief(), std::string("01000000"));
    QVERIFY(!Digest::parse("01"));
}

QTEST_APPLESS_MAIN(TestBytes)
#include "test_bytes.moc"
