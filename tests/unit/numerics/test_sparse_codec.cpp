// The sparse codec: fast against plain on every path, what is sent and what is kept, sizes.
#include <QtTest>

#include <bit>
#include <cmath>
#include <limits>

#include "core/numerics/codec/encoder.h"
#include "core/numerics/codec/gap_code.h"
#include "core/numerics/codec/payload_layout.h"
#include "core/numerics/codec/plain_codec.h"
#include "tests/golden/numerics_inputs.h"

using namespace potluck;
using namespace potluck::numerics;
using inputs::Kind;

namespace {

const Isa all_paths[] = {Isa::baseline, Isa::avx2, Isa::avx512};

/// Bits, not values: -0 differs from 0 here, and a NaN equals itself.
bool same_bits(std::span<const float> a, std::span<const float> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

std::vector<float> decoded(std::span<const std::byte> payload, std::size_t size, std::uint32_t k) {
    PayloadView view;
    const PayloadFault fault = PayloadView::parse(payload, size, k, view);
    if (fault != PayloadFault::none) qFatal("fault: %s", name_of(fault));
    std::vector<float> values(size);
    add_decoded(values, view, 1.0F, 1);
    return values;
}

void add_kind_rows(std::initializer_list<int> sizes, std::initializer_list<int> ks) {
    QTest::addColumn<Kind>("kind");
    QTest::addColumn<int>("size");
    QTest::addColumn<int>("k");
    for (const Kind kind : {Kind::uniform, Kind::bell, Kind::clustered, Kind::ties}) {
        for (const int size : sizes) {
            for (const int k : ks) {
                if (size > 10'000 && k != 64 && k != 129) continue;  // the plain version takes its time
                QTest::addRow("kind %d size %d k %d", static_cast<int>(kind), size, k) << kind << size << k;
            }
        }
    }
}

}  // namespace

class TestSparseCodec : public QObject {
    Q_OBJECT
private slots:
    void fast_equals_plain_data() {
        add_kind_rows({1, 63, 4095, 4096, 4097, 300'000}, {1, 3, 64, 128, 129, 1000, 4096});
    }
    void fast_equals_plain();
    void threads_do_not_change_a_byte();
    void sent_and_kept_add_up_to_the_whole();
    void the_largest_entries_are_sent();
    void ties_go_to_the_lower_index();
    void entries_that_are_not_finite_become_zero_and_are_not_sent();
    void huge_entries_are_sent_in_part();
    void denormals_survive();
    void an_empty_vector_has_a_payload();
    void a_payload_needs_at_most_015_bit_data();
    void a_payload_needs_at_most_015_bit();
    void no_payload_is_larger_than_its_bound_data();
    void no_payload_is_larger_than_its_bound();
    void every_gap_survives_every_code();
    void the_shortest_code_is_taken();
    void the_norm_is_that_of_the_decoded_values();
    void adding_rounds_the_product_first();
    void the_error_decays_and_grows_by_the_movement();
};

void TestSparseCodec::fast_equals_plain() {
    QFETCH(Kind, kind);
    QFETCH(int, size);
    QFETCH(int, k);
    const auto sent = static_cast<std::uint32_t>(k);
    const std::vector<float> source = inputs::make(kind, static_cast<std::size_t>(size), 7);
    std::vector<float> plain_rest = source;
    const std::vector<std::byte> plain = encode_plain(plain_rest, sent);
    for (const Isa path : all_paths) {
        if (!available(path)) continue;
        std::vector<float> rest = source;
        const std::vector<std::byte> fast = encode_with(path, rest, sent, 1);
        QVERIFY2(fast == plain, name_of(path));
        QVERIFY2(same_bits(rest, plain_rest), name_of(path));
    }
    QVERIFY(same_bits(decoded(plain, source.size(), sent), decode_plain(plain)));
}

void TestSparseCodec::threads_do_not_change_a_byte() {
    const std::vector<float> source = inputs::make(Kind::clustered, 5 * group_size + 1234, 3);
    std::vector<float> one_minus_beta1 = source;
    const std::vector<std::byte> one = encode(one_minus_beta1, 64, 1);
    for (const unsigned threads : {2U, 7U, 64U}) {
        std::vector<float> rest = source;
        QVERIFY(encode(rest, 64, threads) == one);
        QVERIFY(same_bits(rest, one_minus_beta1));
    }
}

void TestSparseCodec::sent_and_kept_add_up_to_the_whole() {
    const std::vector<float> source = inputs::make(Kind::bell, 20'000, 5);
    std::vector<float> rest = source;
    const std::vector<float> sent = decoded(encode(rest, 64, 1), source.size(), 64);
    for (std::size_t i = 0; i < source.size(); ++i) QVERIFY(rest[i] == source[i] - sent[i]);
}

void TestSparseCodec::the_largest_entries_are_sent() {
    const std::vector<float> source = inputs::make(Kind::bell, 3 * chunk_size, 5);
    std::vector<float> rest = source;
    const std::vector<float> sent = decoded(encode(rest, 64, 1), source.size(), 64);
    for (std::size_t chunk = 0; chunk < 3; ++chunk) {
        float least_sent = std::numeric_limits<float>::max();
        float largest_kept = 0;
        int count = 0;
        for (std::size_t i = chunk * chunk_size; i < (chunk + 1) * chunk_size; ++i) {
            const float magnitude = std::fabs(source[i]);
            if (sent[i] != 0) {
                least_sent = std::min(least_sent, magnitude);
                ++count;
                QVERIFY(std::signbit(sent[i]) == std::signbit(source[i]));
            } else {
                largest_kept = std::max(largest_kept, magnitude);
            }
        }
        QCOMPARE(count, 64);
        QVERIFY(least_sent >= largest_kept);
    }
}

void TestSparseCodec::ties_go_to_the_lower_index() {
    std::vector<float> source(chunk_size, 0.5F);
    source[100] = -2.0F;
    std::vector<float> rest = source;
    const std::vector<float> sent = decoded(encode(rest, 64, 1), source.size(), 64);
    for (std::size_t i = 0; i < source.size(); ++i) QCOMPARE(sent[i] != 0, i < 63 || i == 100);
}

void TestSparseCodec::entries_that_are_not_finite_become_zero_and_are_not_sent() {
    for (const Isa path : all_paths) {
        if (!available(path)) continue;
        std::vector<float> source = inputs::make(Kind::uniform, chunk_size + 100, 5);
        const float bad[] = {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN()};
        for (std::size_t i = 0; i < 30; ++i) source[i * 140] = bad[i % 3];
        const std::vector<std::byte> payload = encode_with(path, source, 64, 1);
        for (const float rest : source) QVERIFY(std::isfinite(rest));
        const std::vector<float> sent = decoded(payload, source.size(), 64);
        for (std::size_t i = 0; i < 30; ++i) {
            QVERIFY(sent[i * 140] == 0.0F && source[i * 140] == 0.0F);
        }
    }
}

void TestSparseCodec::huge_entries_are_sent_in_part() {
    std::vector<float> source(chunk_size, 0.0F);
    source[5] = std::numeric_limits<float>::max();
    source[6] = -1e30F;
    const std::vector<float> sent = decoded(encode(source, 2, 1), source.size(), 2);
    QVERIFY(sent[5] == 0x1p60F);
    QVERIFY(sent[6] == -0x1p60F);
    QVERIFY(source[6] < 0 && std::isfinite(source[5]));
}

void TestSparseCodec::denormals_survive() {
    std::vector<float> source(chunk_size, 0.0F);
    for (std::size_t i = 0; i < 64; ++i) source[i * 3] = 1e-40F;
    const std::vector<float> sent = decoded(encode(source, 64, 1), source.size(), 64);
    for (std::size_t i = 0; i < 64; ++i) QVERIFY(sent[i * 3] == 1e-40F);
    for (const float rest : source) QVERIFY(rest == 0.0F);
}

void TestSparseCodec::an_empty_vector_has_a_payload() {
    const std::vector<std::byte> payload = encode({}, 64, 3);
    QCOMPARE(payload.size(), layout::header_size);
    PayloadView view;
    QVERIFY(PayloadView::parse(payload, 0, 64, view) == PayloadFault::none);
    QCOMPARE(view.group_count(), std::size_t{0});
}

void TestSparseCodec::a_payload_needs_at_most_015_bit_data() {
    QTest::addColumn<Kind>("kind");
    QTest::addColumn<int>("size");
    for (const Kind kind : {Kind::uniform, Kind::bell, Kind::clustered}) {
        for (const int size : {1'000'000, 1'048'576, 3'333'333}) {
            QTest::addRow("kind %d size %d", static_cast<int>(kind), size) << kind << size;
        }
    }
}

void TestSparseCodec::a_payload_needs_at_most_015_bit() {
    QFETCH(Kind, kind);
    QFETCH(int, size);
    std::vector<float> source = inputs::make(kind, static_cast<std::size_t>(size), 11);
    for (int round = 0; round < 3; ++round) {
        const double bits = static_cast<double>(encode(source, 64, 2).size()) * 8 / size;
        QVERIFY2(bits <= 0.15, qPrintable(QString::number(bits)));
    }
}

void TestSparseCodec::no_payload_is_larger_than_its_bound_data() {
    add_kind_rows({1, 63, 4097, 9000, 300'000}, {1, 3, 64, 129, 1000, 2500, 4000, 4096});
}

void TestSparseCodec::no_payload_is_larger_than_its_bound() {
    QFETCH(Kind, kind);
    QFETCH(int, size);
    QFETCH(int, k);
    std::vector<float> source = inputs::make(kind, static_cast<std::size_t>(size), 13);
    const auto sent = static_cast<std::uint32_t>(k);
    QVERIFY(encode(source, sent, 1).size() <= payload_bytes_max(source.size(), sent));
    // A far end behind a cluster is the worst case of a code with one parameter.
    std::fill(source.begin(), source.end(), 0.0F);
    for (std::size_t i = 0; i < source.size(); ++i) {
        const std::size_t place = i % chunk_size;
        if (place + 2 >= chunk_size || place * 3 < sent) source[i] = 1.0F;
    }
    QVERIFY(encode(source, sent, 1).size() <= payload_bytes_max(source.size(), sent));
}

void TestSparseCodec::every_gap_survives_every_code() {
    for (unsigned code = 0; code < 256; ++code) {
        const auto byte = static_cast<std::uint8_t>(code);
        QCOMPARE(gap_code::known(byte), code <= 12 || (code >= 16 && code <= 28));
        if (!gap_code::known(byte)) continue;
        for (std::uint32_t gap = 0; gap < chunk_size; ++gap) {
            const gap_code::Word word = gap_code::word_of(gap, byte);
            QVERIFY(word.size <= 28 && word.bits >> word.size == 0);
            // Whatever follows must not change what is read.
            for (const std::uint64_t next : {0ULL, ~0ULL}) {
                const gap_code::Read read = gap_code::read(word.bits | (next << word.size), byte);
                QCOMPARE(read.gap, gap);
                QCOMPARE(read.size, word.size);
            }
        }
    }
}

void TestSparseCodec::the_shortest_code_is_taken() {
    Rng rng(17);
    for (const std::uint64_t bound : {1U, 2U, 9U, 60U, 500U, 4096U}) {
        std::vector<std::uint16_t> gaps(500);
        for (auto& gap : gaps) gap = static_cast<std::uint16_t>(rng.below(1 + rng.below(bound)));
        std::uint64_t best = ~0ULL;
        std::uint8_t best_code = 0;
        for (std::uint8_t code = 0; code < 64; ++code) {
            if (!gap_code::known(code)) continue;
            std::uint64_t bits = 0;
            for (const auto gap : gaps) bits += gap_code::word_of(gap, code).size;
            if (bits < best) {
                best = bits;
                best_code = code;
            }
        }
        QCOMPARE(gap_code::shortest(gaps), best_code);
    }
}

void TestSparseCodec::the_norm_is_that_of_the_decoded_values() {
    std::vector<float> source = inputs::make(Kind::clustered, 2 * group_size + 777, 19);
    const std::vector<std::byte> payload = encode(source, 64, 1);
    PayloadView view;
    QVERIFY(PayloadView::parse(payload, source.size(), 64, view) == PayloadFault::none);
    double squares = 0;
    double largest = 0;
    for (const float value : decode_plain(payload)) {
        squares += static_cast<double>(value) * static_cast<double>(value);
        largest = std::max(largest, static_cast<double>(std::fabs(value)));
    }
    QVERIFY(std::fabs(view.norm() / std::sqrt(squares) - 1) < 1e-12);
    QVERIFY(view.largest() == largest);
}

void TestSparseCodec::adding_rounds_the_product_first() {
    std::vector<float> source = inputs::make(Kind::bell, group_size + 5000, 23);
    const std::vector<std::byte> payload = encode(source, 64, 1);
    PayloadView view;
    QVERIFY(PayloadView::parse(payload, source.size(), 64, view) == PayloadFault::none);
    const std::vector<float> base = inputs::make(Kind::uniform, source.size(), 24);
    const std::vector<float> sent = decode_plain(payload);
    std::vector<float> expected = base;
    for (std::size_t i = 0; i < base.size(); ++i) {
        const volatile float product = -0.3F * sent[i];
        if (sent[i] != 0) expected[i] = base[i] + product;
    }
    for (const unsigned threads : {1U, 3U}) {
        std::vector<float> target = base;
        add_decoded(target, view, -0.3F, threads);
        QVERIFY(same_bits(target, expected));
    }
}

void TestSparseCodec::the_error_decays_and_grows_by_the_movement() {
    const std::size_t size = group_size + 321;
    const std::vector<float> anchor = inputs::make(Kind::uniform, size, 1);
    const std::vector<float> local = inputs::make(Kind::bell, size, 2);
    const std::vector<float> before = inputs::make(Kind::clustered, size, 3);
    std::vector<float> expected = before;
    for (std::size_t i = 0; i < size; ++i) {
        const volatile float decayed = 0.95F * before[i];
        const volatile float moved = anchor[i] - local[i];
        expected[i] = decayed + moved;
    }
    for (const unsigned threads : {1U, 2U}) {
        std::vector<float> error = before;
        accumulate_error(error, anchor, local, 0.95F, threads);
        QVERIFY(same_bits(error, expected));
    }
}

QTEST_APPLESS_MAIN(TestSparseCodec)
#include "test_sparse_codec.moc"
