// The seeded generator and the keyed permutation.
#include <QtTest>

#include "core/base/rng.h"

using namespace potluck;

class TestRng : public QObject {
    Q_OBJECT
private slots:
    void the_sequence_is_splitmix64();
    void units_lie_in_their_interval();
    void a_keyed_permutation_hits_everything_once_data();
    void a_keyed_permutation_hits_everything_once();
    void another_key_is_another_order();
};

void TestRng::the_sequence_is_splitmix64() {
    // First outputs of the reference implementation with seed 1234567.
    Rng rng(1234567);
    QCOMPARE(rng.next(), std::uint64_t{6457827717110365317U});
    QCOMPARE(rng.next(), std::uint64_t{3203168211198807973U});
    QCOMPARE(rng.next(), std::uint64_t{9817491932198370423U});
}

void TestRng::units_lie_in_their_interval() {
    Rng rng(1);
    double sum = 0;
    for (int i = 0; i < 10'000; ++i) {
        const double unit = rng.unit();
        QVERIFY(unit >= 0 && unit < 1);
        sum += unit;
        QVERIFY(rng.below(7) < 7);
    }
    QVERIFY(sum > 4'800 && sum < 5'200);
}

void TestRng::a_keyed_permutation_hits_everything_once_data() {
    QTest::addColumn<int>("size");
    for (const int size : {1, 2, 3, 4, 5, 64, 1000, 4097}) QTest::addRow("%d", size) << size;
}

void TestRng::a_keyed_permutation_hits_everything_once() {
    QFETCH(int, size);
    const KeyedPermutation permutation(42, static_cast<std::uint64_t>(size));
    std::vector<int> hits(static_cast<std::size_t>(size));
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(size); ++i) ++hits.at(permutation.at(i));
    for (const int count : hits) QCOMPARE(count, 1);
}

void TestRng::another_key_is_another_order() {
    const KeyedPermutation one(1, 1000);
    const KeyedPermutation two(2, 1000);
    int equal = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) equal += one.at(i) == two.at(i) ? 1 : 0;
    QVERIFY(equal < 20);
}

QTEST_APPLESS_MAIN(TestRng)
#include "test_rng.moc"
