// How much contributions send, by how long those of the round before were on their way.
#include <cmath>

#include <QTest>

#include "core/run/density.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;

namespace {

constexpr TimePoint closed_at{Duration{50'000}};

BlobId payload(std::uint8_t fill) { return samples::id<BlobId>(fill); }
PeerId peer(std::uint8_t fill) { return samples::id<PeerId>(fill); }

/// A window of 10 s: a tenth of it is a second, and half a second is not counted.
Recipe recipe() {
    Recipe recipe;
    recipe.window = Duration{10'000};
    recipe.k = 64;
    recipe.k_max = 1000;
    return recipe;
}

/// Contributions that were here so many milliseconds after the end of the window; -1: never.
Exchange exchange_of(const std::vector<int>& taken) {
    Exchange exchange;
    exchange.closed(closed_at);
    std::uint8_t number = 0;
    for (const int one : taken) {
        ++number;
        exchange.announced(peer(number), payload(number));
        if (one >= 0) exchange.arrived(payload(number), closed_at + Duration{one});
    }
    return exchange;
}

/// A contribution that took 300 ms, and members that had the sum so many milliseconds after the round began; -1: never.
Exchange exchange_with_sums(const std::vector<int>& taken) {
    Exchange exchange;
    exchange.begin(TimePoint{});
    std::uint8_t number = 0;
    for (const int one : taken) {
        exchange.follows(peer(++number));
        if (one >= 0) exchange.followed(peer(number), TimePoint{Duration{one}});
    }
    exchange.announced(peer(99), payload(99));
    exchange.closed(closed_at);
    exchange.arrived(payload(99), closed_at + Duration{300});
    return exchange;
}

std::uint32_t k_after(std::uint32_t k, const Exchange& exchange, std::uint64_t since_fall = rounds_after_fall) {
    return next_k(recipe(), k, exchange, since_fall);
}

}  // namespace

class DensityTest : public QObject {
    Q_OBJECT
private slots:
    /// Bits per parameter of payloads that were measured: 0.149 at k = 64 (bench_numerics), 0.469 at 256 (the demo).
    void the_bits_of_a_payload_are_known_from_its_density() {
        QVERIFY(std::abs(bits_per_parameter(64) - 0.149) < 0.002);
        QVERIFY(std::abs(bits_per_parameter(256) - 0.469) < 0.002);
        QVERIFY(bits_per_parameter(chunk_entries) > 3 && bits_per_parameter(chunk_entries) < 4);
    }

    void nine_of_ten_count_rounded_up() {
        QCOMPARE(exchange_of({300, 100, 200}).contributions(), Duration{300});
        QCOMPARE(exchange_of({1, 2, 3, 4, 5, 6, 7, 8, 9}).contributions(), Duration{9});
        QCOMPARE(exchange_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 900}).contributions(), Duration{9});
        QCOMPARE(exchange_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 700, 900}).contributions(), Duration{700});
    }

    void a_missing_payload_takes_for_ever() {
        QCOMPARE(exchange_of({100, -1}).contributions(), Duration::max());
        QCOMPARE(exchange_of({1, 2, 3, 4, 5, 6, 7, 8, 9, -1}).contributions(), Duration{9});
    }

    void a_change_of_density_is_borne_out_by_what_was_seen_data() {
        QTest::addColumn<int>("taken");
        QTest::addColumn<int>("next");
        QTest::addColumn<int>("since_fall");
        QTest::addColumn<bool>("borne_out");
        const int long_ago = static_cast<int>(rounds_after_fall);
        QTest::newRow("a fall while all is fast") << 1'250 << 128 << long_ago << false;
        QTest::newRow("a fall while it takes longer") << 1'251 << 128 << long_ago << true;
        QTest::newRow("a fall while nothing comes") << -1 << 128 << long_ago << true;
        QTest::newRow("a rise while all is fast") << 100 << 512 << long_ago << true;
        QTest::newRow("a rise while it takes as long as it may") << 1'500 << 512 << long_ago << true;
        QTest::newRow("a rise while it takes longer") << 1'501 << 512 << long_ago << false;
        QTest::newRow("a rise too soon after a fall") << 100 << 512 << long_ago - 1 << false;
        QTest::newRow("no change, soon after a fall") << 5'000 << 256 << 0 << true;
    }
    void a_change_of_density_is_borne_out_by_what_was_seen() {
        QFETCH(int, taken);
        QFETCH(int, next);
        QFETCH(int, since_fall);
        QFETCH(bool, borne_out);
        QCOMPARE(bears_out(recipe(), 256, static_cast<std::uint32_t>(next), exchange_of({taken}),
                           static_cast<std::uint64_t>(since_fall)),
                 borne_out);
    }

    void where_nothing_was_seen_nothing_is_contradicted() {
        QVERIFY(bears_out(recipe(), 256, 128, Exchange{}, rounds_after_fall));
        QVERIFY(bears_out(recipe(), 256, 512, Exchange{}, rounds_after_fall));
    }

    void a_person_with_several_computers_counts_once() {
        Exchange exchange = exchange_of({100, 200});
        exchange.announced(peer(1), payload(50));  // another computer of the first, whose payload never comes
        QCOMPARE(exchange.contributions(), Duration{200});
        exchange.arrived(payload(50), closed_at + Duration{900});
        QCOMPARE(exchange.contributions(), Duration{200});
        exchange.announced(peer(1), payload(1));
        QCOMPARE(exchange.contributions(), Duration{200});
    }

    void a_member_late_for_the_last_list_counts_once_as_missing() {
        Exchange exchange = exchange_of({1, 2, 3, 4, 5, 6, 7, 8, 9});
        exchange.late(peer(50));
        exchange.late(peer(50));
        QCOMPARE(exchange.contributions(), Duration{9});
        exchange.late(peer(51));
        QCOMPARE(exchange.contributions(), Duration::max());
        exchange.announced(peer(50), payload(50));
        exchange.arrived(payload(50), closed_at + Duration{10});
        QCOMPARE(exchange.contributions(), Duration{10});
    }

    void a_payload_arrives_once_and_never_before_the_window_ends() {
        Exchange exchange;
        exchange.announced(peer(1), payload(1));
        exchange.arrived(payload(1), closed_at - Duration{100});
        exchange.closed(closed_at);
        exchange.closed(closed_at - Duration{5'000});
        exchange.arrived(payload(1), closed_at + Duration{400});
        QCOMPARE(exchange.contributions(), Duration{0});
    }

    void unannounced_and_refused_payloads_are_not_measured() {
        Exchange exchange = exchange_of({100});
        exchange.arrived(payload(9), closed_at + Duration{900});
        QCOMPARE(exchange.contributions(), Duration{100});
        exchange.refused(payload(1));
        QVERIFY(exchange.empty());
    }

    void a_round_begins_with_nothing() {
        Exchange exchange = exchange_of({100, -1});
        exchange.late(peer(1));
        exchange.follows(peer(2));
        exchange.begin(closed_at);
        QVERIFY(exchange.empty());
        QCOMPARE(exchange.sum(), Duration{0});
        exchange.announced(peer(1), payload(1));
        exchange.closed(closed_at + Duration{60'000});
        exchange.arrived(payload(1), closed_at + Duration{60'200});
        QCOMPARE(exchange.contributions(), Duration{200});
    }

    void there_is_room_for_twice_as_much_in_half_the_time() {
        QCOMPARE(k_after(128, exchange_of({1'000})), 256U);
        QCOMPARE(k_after(128, exchange_of({1'001})), 128U);
        QCOMPARE(k_after(128, exchange_of({1'500})), 128U);
        QCOMPARE(k_after(128, exchange_of({1'501})), 64U);
        QCOMPARE(k_after(128, exchange_of({-1})), 64U);
    }

    void a_sum_is_here_when_nine_of_ten_followers_have_it() {
        QCOMPARE(exchange_with_sums({}).sum(), Duration{0});
        QCOMPARE(exchange_with_sums({200, 400}).sum(), Duration{400});
        QCOMPARE(exchange_with_sums({200, -1}).sum(), Duration::max());
        QCOMPARE(exchange_with_sums({1, 2, 3, 4, 5, 6, 7, 8, 600, -1}).sum(), Duration{600});
        Exchange exchange = exchange_with_sums({-1, 400});
        exchange.left(peer(1));
        exchange.followed(peer(2), TimePoint{Duration{900}});
        exchange.followed(peer(3), TimePoint{Duration{900}});
        QCOMPARE(exchange.sum(), Duration{400});
    }

    void where_more_values_make_a_longer_step_the_sum_has_as_much_time_as_contributions() {
        QCOMPARE(k_after(256, exchange_with_sums({1'000})), 512U);
        QCOMPARE(k_after(256, exchange_with_sums({1'001})), 256U);
        QCOMPARE(k_after(512, exchange_with_sums({1'500})), 512U);
        QCOMPARE(k_after(512, exchange_with_sums({1'501})), 256U);
        QVERIFY(bears_out(recipe(), 256, 512, exchange_with_sums({1'500}), rounds_after_fall));
        QVERIFY(!bears_out(recipe(), 256, 512, exchange_with_sums({1'501}), rounds_after_fall));
        QVERIFY(bears_out(recipe(), 512, 256, exchange_with_sums({1'251}), rounds_after_fall));
        QVERIFY(!bears_out(recipe(), 512, 256, exchange_with_sums({1'250}), rounds_after_fall));
    }

    /// Steps keep 512 means up to 256 values sent.
    void where_the_step_stays_as_long_a_late_sum_stops_a_rise_and_makes_no_fall() {
        QCOMPARE(k_after(128, exchange_with_sums({1'500})), 256U);
        QCOMPARE(k_after(128, exchange_with_sums({1'501})), 128U);
        QCOMPARE(k_after(256, exchange_with_sums({-1})), 256U);
        QVERIFY(bears_out(recipe(), 128, 256, exchange_with_sums({2'500}), rounds_after_fall));
        QVERIFY(!bears_out(recipe(), 128, 256, exchange_with_sums({2'501}), rounds_after_fall));
        QVERIFY(!bears_out(recipe(), 256, 128, exchange_with_sums({-1}), rounds_after_fall));
    }

    void a_density_that_was_too_high_is_not_tried_again_at_once() {
        QCOMPARE(k_after(128, exchange_of({0}), rounds_after_fall - 1), 128U);
        QCOMPARE(k_after(128, exchange_of({0}), rounds_after_fall), 256U);
        QCOMPARE(k_after(128, exchange_of({-1}), 0), 64U);
    }

    void the_recipe_has_the_last_word() {
        QCOMPARE(k_after(64, exchange_of({-1})), 64U);
        QCOMPARE(k_after(100, exchange_of({-1})), 64U);
        QCOMPARE(k_after(1000, exchange_of({0})), 1000U);
        QCOMPARE(k_after(512, exchange_of({0})), 1000U);
    }

    void a_round_of_newcomers_only_changes_nothing() { QCOMPARE(k_after(128, Exchange()), 128U); }

    void a_list_changes_it_by_a_factor_of_two() {
        for (const std::uint32_t next : {64U, 128U, 256U}) QVERIFY(k_may_follow(recipe(), 128, next));
        for (const std::uint32_t next : {0U, 63U, 127U, 255U, 257U, 512U}) QVERIFY(!k_may_follow(recipe(), 128, next));
        QVERIFY(k_may_follow(recipe(), 512, 1000));
        QVERIFY(!k_may_follow(recipe(), 512, 1024));
        QVERIFY(!k_may_follow(recipe(), 64, 32));
    }
};

QTEST_GUILESS_MAIN(DensityTest)
#include "test_density.moc"
