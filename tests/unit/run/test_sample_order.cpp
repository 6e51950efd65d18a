#include <QTest>

#include <set>
#include <vector>

#include "core/run/sample_order.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::model;

namespace {

const PeerId somebody = samples::id<PeerId>(0x51);
const PeerId other = samples::id<PeerId>(0x52);

std::vector<std::uint64_t> records(std::uint64_t seed, std::uint64_t round, const PeerId& peer, std::uint64_t size,
                                   std::uint64_t first, std::uint64_t count) {
    std::vector<std::uint64_t> found;
    for (std::uint64_t n = first; n < first + count; ++n) found.push_back(record_at(seed, {round}, peer, size, n));
    return found;
}

}  // namespace

class SampleOrderTest : public QObject {
    Q_OBJECT
private slots:
    void an_epoch_visits_every_record_once() {
        for (const std::uint64_t size : {1U, 2U, 7U, 64U, 1'000U}) {
            for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
                const auto visited = records(1, 4, somebody, size, epoch * size, size);
                const std::set<std::uint64_t> distinct(visited.begin(), visited.end());
                QCOMPARE(distinct.size(), static_cast<std::size_t>(size));
                QVERIFY(*distinct.rbegin() == size - 1);
            }
        }
    }

    void the_next_epoch_has_another_order() {
        QVERIFY(records(1, 4, somebody, 1'000, 0, 50) != records(1, 4, somebody, 1'000, 1'000, 50));
    }

    void seed_round_and_peer_each_change_the_order() {
        const auto base = records(1, 4, somebody, 1'000, 0, 50);
        QVERIFY(base == records(1, 4, somebody, 1'000, 0, 50));
        QVERIFY(base != records(2, 4, somebody, 1'000, 0, 50));
        QVERIFY(base != records(1, 5, somebody, 1'000, 0, 50));
        QVERIFY(base != records(1, 4, other, 1'000, 0, 50));
    }

    void every_byte_of_the_key_counts() {
        std::set<std::vector<std::uint64_t>> orders{records(1, 4, somebody, 1'000, 0, 8)};
        for (std::size_t i = 0; i < 32; ++i) {
            PeerId peer = somebody;
            peer.bytes[i] ^= std::byte{1};
            QVERIFY(orders.insert(records(1, 4, peer, 1'000, 0, 8)).second);
        }
    }

    void shards_are_drawn_evenly() {
        constexpr std::size_t shards = 8;
        std::vector<int> drawn(shards);
        for (std::uint64_t round = 0; round < 8'000; ++round) ++drawn[shard_of(1, {round}, somebody, shards)];
        for (const int count : drawn) QVERIFY2(count > 850 && count < 1'150, std::to_string(count).c_str());
        QCOMPARE(shard_of(1, {3}, somebody, 1), std::size_t{0});
    }

    void the_order_is_the_recorded_one() {
        // Found by another program: tests/golden/seeded, which has more of them.
        QCOMPARE(shard_of(7, {3}, somebody, 1'000'000), std::size_t{141524});
        QVERIFY(records(7, 3, somebody, 1'000'000, 999'999, 3) == (std::vector<std::uint64_t>{17077, 566432, 915187}));
    }
};

QTEST_APPLESS_MAIN(SampleOrderTest)
#include "test_sample_order.moc"
