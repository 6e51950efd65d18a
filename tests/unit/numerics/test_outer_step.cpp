// F: the same bits whatever the order, threads and path; clipping, weights, the amplification cap.
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/numerics/codec/payload_layout.h"
#include "core/numerics/codec/plain_codec.h"
#include "core/numerics/outer/outer_stepper.h"
#include "tests/golden/numerics_inputs.h"

using namespace potluck;
using namespace potluck::numerics;
using inputs::Kind;

namespace {

constexpr std::uint32_t sent = 64;

/// Payloads with the views that stand on them.
class Contributions {
public:
    explicit Contributions(std::size_t size) : m_size(size) {}

    enum class From { other, newcomer };
    void add(std::vector<float> error, std::uint64_t weight, From from = From::other) {
        m_bytes.push_back(std::make_unique<std::vector<std::byte>>(encode(error, sent, 2)));
        m_views.push_back(std::make_unique<PayloadView>());
        if (PayloadView::parse(*m_bytes.back(), m_size, sent, *m_views.back()) != PayloadFault::none) qFatal("fault");
        m_list.push_back({.payload = m_views.back().get(), .weight = weight, .newcomer = from == From::newcomer});
    }
    void add(Kind kind, std::uint64_t seed, std::uint64_t weight) { add(inputs::make(kind, m_size, seed), weight); }
    /// One chunk whose entry `place` alone is not zero.
    void add_single(std::size_t place, float value, std::uint64_t weight, From from = From::other) {
        std::vector<float> error(m_size);
        error[place] = value;
        add(std::move(error), weight, from);
    }
    void add_zeros(std::uint64_t weight, From from = From::other) { add(std::vector<float>(m_size), weight, from); }
    [[nodiscard]] const std::vector<WeightedPayload>& list() const { return m_list; }
    [[nodiscard]] std::span<const std::byte> bytes(std::size_t i) const { return *m_bytes[i]; }

private:
    std::size_t m_size;
    std::vector<std::unique_ptr<std::vector<std::byte>>> m_bytes;
    std::vector<std::unique_ptr<PayloadView>> m_views;
    std::vector<WeightedPayload> m_list;
};

bool same_bits(std::span<const float> a, std::span<const float> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

Contributions mixed(std::size_t size, std::uint64_t count) {
    Contributions all(size);
    for (std::uint64_t i = 0; i < count; ++i) {
        const Kind kinds[] = {Kind::uniform, Kind::bell, Kind::clustered, Kind::ties};
        all.add(kinds[i % 4], 100 + i, 1 + mix64(i) % 100'000);
    }
    return all;
}

using From = Contributions::From;

std::vector<float> zeros() { return std::vector<float>(chunk_size); }

std::vector<float> stepped(const std::vector<float>& theta, const std::vector<WeightedPayload>& list, OuterStep step) {
    std::vector<float> next(theta.size());
    apply_outer_step(theta, next, list, step, 1);
    return next;
}

}  // namespace

class TestOuterStep : public QObject {
    Q_OBJECT
private slots:
    void every_path_equals_plain_data();
    void every_path_equals_plain();
    void order_and_threads_do_not_change_a_bit();
    void the_next_state_may_be_the_state();
    void an_empty_list_copies();
    void untouched_coordinates_keep_their_bits();
    void one_contribution_alone_moves_by_its_decoded_value();
    void values_are_averaged_by_their_senders_weights();
    void a_lone_sender_moves_a_coordinate_at_most_by_the_cap();
    void norms_are_clipped_to_the_lower_median();
    void a_huge_payload_does_not_drown_the_others();
    void a_crowd_of_newcomers_does_not_clip_the_others();
    void newcomers_are_clipped_to_the_others();
    void newcomers_alone_are_clipped_to_their_own_median();
    void newcomers_alone_are_clipped_to_a_norm_of_the_run();
    void a_norm_of_the_run_clips_nobody_where_another_counts();
    void payloads_of_zeros_clip_nobody();
    void others_that_send_zeros_leave_the_median_to_the_newcomers();
    void payloads_of_zeros_alone_move_nothing();
    void huge_weights_are_halved_together();
    void weights_are_halved_from_a_sum_of_two_to_the_32_on_data();
    void weights_are_halved_from_a_sum_of_two_to_the_32_on();
    void a_list_has_4096_payloads();
    void the_whole_list_is_within_rounding_of_the_formula();
};

void TestOuterStep::every_path_equals_plain_data() {
    QTest::addColumn<int>("size");
    QTest::addColumn<int>("count");
    for (const int size : {1, 65, 4097, 300'001}) {
        for (const int count : {1, 2, 5}) QTest::addRow("size %d count %d", size, count) << size << count;
    }
    QTest::newRow("many") << 5000 << 200;
}

void TestOuterStep::every_path_equals_plain() {
    QFETCH(int, size);
    QFETCH(int, count);
    const Contributions all = mixed(static_cast<std::size_t>(size), static_cast<std::uint64_t>(count));
    const std::vector<float> theta = inputs::make(Kind::bell, static_cast<std::size_t>(size), 1);
    const OuterStep step{.alpha = 0.8F, .amplification = 3};
    std::vector<float> plain(theta.size());
    apply_outer_step_plain(theta, plain, all.list(), step);
    QVERIFY(!same_bits(plain, theta));
    for (const Isa path : {Isa::baseline, Isa::avx2, Isa::avx512}) {
        if (!available(path)) continue;
        std::vector<float> next(theta.size());
        apply_outer_step_with(path, theta, next, all.list(), step, 1);
        QVERIFY2(same_bits(next, plain), name_of(path));
    }
}

void TestOuterStep::order_and_threads_do_not_change_a_bit() {
    const std::size_t size = 3 * group_size + 17;
    const Contributions all = mixed(size, 9);
    const std::vector<float> theta = inputs::make(Kind::bell, size, 1);
    const std::vector<float> expected = stepped(theta, all.list(), {});
    Rng rng(41);
    for (const unsigned threads : {1U, 2U, 7U}) {
        std::vector<WeightedPayload> list = all.list();
        for (std::size_t i = list.size() - 1; i > 0; --i) std::swap(list[i], list[rng.below(i + 1)]);
        std::vector<float> next(size);
        apply_outer_step(theta, next, list, {}, threads);
        QVERIFY(same_bits(next, expected));
    }
}

void TestOuterStep::the_next_state_may_be_the_state() {
    const std::size_t size = group_size + 99;
    const Contributions all = mixed(size, 3);
    std::vector<float> theta = inputs::make(Kind::bell, size, 1);
    const std::vector<float> expected = stepped(theta, all.list(), {});
    apply_outer_step(theta, theta, all.list(), {}, 2);
    QVERIFY(same_bits(theta, expected));
}

void TestOuterStep::an_empty_list_copies() {
    const std::vector<float> theta = inputs::make(Kind::ties, 10'000, 1);
    QVERIFY(same_bits(stepped(theta, {}, {}), theta));
    std::vector<float> next(theta.size());
    apply_outer_step_plain(theta, next, {}, {});
    QVERIFY(same_bits(next, theta));
}

void TestOuterStep::untouched_coordinates_keep_their_bits() {
    const std::size_t size = 2 * chunk_size;
    Contributions all(size);
    all.add(Kind::bell, 5, 10);
    std::vector<float> theta = inputs::make(Kind::ties, size, 6);
    const std::vector<float> sent_values = decode_plain(all.bytes(0));
    const std::vector<float> next = stepped(theta, all.list(), {});
    int untouched = 0;
    for (std::size_t i = 0; i < size; ++i) {
        if (sent_values[i] != 0) continue;
        ++untouched;
        QVERIFY(std::memcmp(&next[i], &theta[i], 4) == 0);
    }
    QCOMPARE(untouched, static_cast<int>(size - 2 * sent));
}

void TestOuterStep::one_contribution_alone_moves_by_its_decoded_value() {
    Contributions all(chunk_size);
    all.add_single(7, 3.0F, 500);
    std::vector<float> theta(chunk_size, 1.0F);
    const std::vector<float> next = stepped(theta, all.list(), {.alpha = 0.5F, .amplification = 4});
    QVERIFY(next[7] == 1.0F - 0.5F * 3.0F);
    QVERIFY(next[8] == 1.0F);
}

void TestOuterStep::values_are_averaged_by_their_senders_weights() {
    // Equal norms, so that nothing is clipped; opposite values at the same place.
    Contributions all(chunk_size);
    all.add_single(100, 2.0F, 300);
    all.add_single(100, -2.0F, 100);
    const std::vector<float> next = stepped(zeros(), all.list(), {.alpha = 1, .amplification = 4});
    QVERIFY(next[100] == -1.0F);  // -(300 * 2 - 100 * 2) / 400
}

void TestOuterStep::a_lone_sender_moves_a_coordinate_at_most_by_the_cap() {
    // Ten equal senders of equal norm at ten places: each alone has a tenth of the weight.
    Contributions all(chunk_size);
    for (std::size_t i = 0; i < 10; ++i) all.add_single(1000 + i, 5.0F, 10);
    const std::vector<float> zero(chunk_size);
    // Divided by 100 / 4 instead of 10.
    QVERIFY(stepped(zero, all.list(), {.alpha = 1, .amplification = 4})[1003] == -5.0F * 10 / 25);
    QVERIFY(stepped(zero, all.list(), {.alpha = 1, .amplification = 1})[1003] == -0.5F);
    QVERIFY(stepped(zero, all.list(), {.alpha = 1, .amplification = 20})[1003] == -5.0F);
}

void TestOuterStep::norms_are_clipped_to_the_lower_median() {
    Contributions all(chunk_size);
    all.add_single(1000, 1.0F, 10);
    all.add_single(1001, 2.0F, 10);
    all.add_single(1002, 4.0F, 10);
    all.add_single(1003, 8.0F, 10);  // of four norms the second is the lower median
    const std::vector<float> next = stepped(zeros(), all.list(), {.alpha = 1, .amplification = 4});
    QVERIFY(next[1000] == -1.0F);
    QVERIFY(next[1001] == -2.0F);
    QVERIFY(next[1002] == -2.0F);
    QVERIFY(next[1003] == -2.0F);
}

void TestOuterStep::a_huge_payload_does_not_drown_the_others() {
    const std::size_t size = 4 * chunk_size;
    Contributions honest(size);
    Contributions attacked(size);
    for (std::uint64_t i = 0; i < 5; ++i) {
        honest.add(Kind::bell, i, 100);
        attacked.add(Kind::bell, i, 100);
    }
    std::vector<float> huge(size);
    huge[9] = 0x1p60F;
    attacked.add(huge, 100);
    const std::vector<float> theta(size);
    const std::vector<float> with = stepped(theta, attacked.list(), {});
    const std::vector<float> without = stepped(theta, honest.list(), {});
    double moved = 0;
    double difference = 0;
    for (std::size_t i = 10; i < size; ++i) {
        moved += std::fabs(static_cast<double>(without[i]));
        difference += std::fabs(static_cast<double>(with[i] - without[i]));
    }
    QVERIFY(difference < 0.3 * moved);
    QVERIFY(std::fabs(with[9]) < 1.0F);
}

void TestOuterStep::a_crowd_of_newcomers_does_not_clip_the_others() {
    Contributions all(chunk_size);
    all.add_single(1000, 4.0F, 10);
    all.add_single(1001, 4.0F, 10);
    for (std::size_t i = 0; i < 9; ++i) all.add_single(1010 + i, 0.5F, 1, From::newcomer);
    const std::vector<float> next = stepped(zeros(), all.list(), {.alpha = 1, .amplification = 4});
    QVERIFY(next[1000] == -4.0F && next[1001] == -4.0F);
    QVERIFY(next[1010] == -0.5F / 7.25F);  // divided by 29 / 4
}

void TestOuterStep::newcomers_are_clipped_to_the_others() {
    Contributions all(chunk_size);
    all.add_single(1000, 1.0F, 10);
    all.add_single(1001, 2.0F, 10);  // of two norms the first is the lower median
    for (std::size_t i = 0; i < 5; ++i) all.add_single(1010 + i, 64.0F, 10, From::newcomer);
    const std::vector<float> next = stepped(zeros(), all.list(), {.alpha = 1, .amplification = 7});
    QVERIFY(next[1000] == -1.0F && next[1001] == -1.0F);
    QVERIFY(next[1010] == -1.0F && next[1014] == -1.0F);
}

void TestOuterStep::newcomers_alone_are_clipped_to_their_own_median() {
    Contributions all(chunk_size);
    for (const std::size_t i : {0, 1, 2, 3}) all.add_single(1000 + i, static_cast<float>(1 << i), 10, From::newcomer);
    const std::vector<float> next = stepped(zeros(), all.list(), {.alpha = 1, .amplification = 4});
    QVERIFY(next[1000] == -1.0F);
    for (const std::size_t i : {1, 2, 3}) QVERIFY(next[1000 + i] == -2.0F);
}

void TestOuterStep::newcomers_alone_are_clipped_to_a_norm_of_the_run() {
    Contributions all(chunk_size);
    for (const std::size_t i : {0, 1, 2, 3}) all.add_single(1000 + i, static_cast<float>(1 << i), 10, From::newcomer);
    // Their median is 2.
    const std::vector<float> less =
        stepped(zeros(), all.list(), {.alpha = 1, .amplification = 4, .newcomers_norm = 0.5});
    for (const std::size_t i : {0, 1, 2, 3}) QVERIFY(less[1000 + i] == -0.5F);
    const std::vector<float> more = stepped(zeros(), all.list(), {.alpha = 1, .amplification = 4, .newcomers_norm = 4});
    for (const std::size_t i : {1, 2, 3}) QVERIFY(more[1000 + i] == -2.0F);
    QCOMPARE(norm_of(0.5, 4096), 32.0);
}

void TestOuterStep::a_norm_of_the_run_clips_nobody_where_another_counts() {
    Contributions all(chunk_size);
    all.add_single(1000, 1.0F, 10, From::newcomer);
    all.add_single(1001, 8.0F, 10);
    const std::vector<float> next =
        stepped(zeros(), all.list(), {.alpha = 1, .amplification = 2, .newcomers_norm = 0.5});
    QVERIFY(next[1000] == -1.0F && next[1001] == -8.0F);
    QCOMPARE(median_norm(all.list()), 8.0);
}

void TestOuterStep::payloads_of_zeros_clip_nobody() {
    // Whoever sends zeros takes a part of the weight, and nothing else.
    Contributions with(chunk_size), without(chunk_size);
    for (std::size_t i = 0; i < 3; ++i) {
        with.add_single(1000 + i, 2.0F + static_cast<float>(i), 10);
        without.add_single(1000 + i, 2.0F + static_cast<float>(i), 10);
    }
    for (int i = 0; i < 6; ++i) with.add_zeros(10);
    const OuterStep step{.alpha = 1, .amplification = 16};
    const std::vector<float> next = stepped(zeros(), with.list(), step);
    QVERIFY(next[1000] == -2.0F && next[1001] == -3.0F && next[1002] == -3.0F);
    QVERIFY(same_bits(next, stepped(zeros(), without.list(), step)));
}

void TestOuterStep::others_that_send_zeros_leave_the_median_to_the_newcomers() {
    Contributions all(chunk_size);
    all.add_zeros(10);
    all.add_zeros(10);
    all.add_single(1000, 1.0F, 10, From::newcomer);
    all.add_single(1001, 8.0F, 10, From::newcomer);
    const std::vector<float> next = stepped(zeros(), all.list(), {.alpha = 1, .amplification = 4});
    QVERIFY(next[1000] == -1.0F && next[1001] == -1.0F);
}

void TestOuterStep::payloads_of_zeros_alone_move_nothing() {
    Contributions all(chunk_size);
    all.add_zeros(5);
    all.add_zeros(5, From::newcomer);
    const std::vector<float> theta = inputs::make(Kind::bell, chunk_size, 4);
    QVERIFY(same_bits(stepped(theta, all.list(), {}), theta));
    std::vector<float> plain(theta.size());
    apply_outer_step_plain(theta, plain, all.list(), {});
    QVERIFY(same_bits(plain, theta));
}

void TestOuterStep::huge_weights_are_halved_together() {
    const std::size_t size = chunk_size;
    Contributions large(size);
    Contributions small(size);
    for (std::uint64_t i = 0; i < 4; ++i) {
        large.add(Kind::bell, i, (i + 1) << 40U);
        small.add(Kind::bell, i, (i + 1) << 28U);  // the sum, 10 * 2^28, is the largest of this row below 2^32
    }
    const std::vector<float> theta = inputs::make(Kind::bell, size, 9);
    QVERIFY(same_bits(stepped(theta, large.list(), {}), stepped(theta, small.list(), {})));
    Contributions extreme(size);
    extreme.add(Kind::bell, 0, ~std::uint64_t{0});
    extreme.add(Kind::bell, 1, ~std::uint64_t{0});
    extreme.add(Kind::bell, 2, 1);
    std::vector<float> plain(size);
    apply_outer_step_plain(theta, plain, extreme.list(), {});
    QVERIFY(same_bits(stepped(theta, extreme.list(), {}), plain));
}

void TestOuterStep::weights_are_halved_from_a_sum_of_two_to_the_32_on_data() {
    QTest::addColumn<quint64>("large");
    QTest::addColumn<quint64>("total");
    QTest::newRow("2^32 - 1") << quint64{0xfffffffe} << quint64{0xffffffff};
    QTest::newRow("2^32") << quint64{0xffffffff} << quint64{0x80000000};       // 2^31 - 1, and 1 stays 1
    QTest::newRow("2^32 + 1") << quint64{0x100000000} << quint64{0x80000001};  // 2^31, and 1 stays 1
}

void TestOuterStep::weights_are_halved_from_a_sum_of_two_to_the_32_on() {
    QFETCH(const quint64, large);
    QFETCH(const quint64, total);
    // Equal norms, so that nothing is clipped. Where both senders meet the weights cancel out, unless their sum wraps
    // around; where the small one is alone, its share of the total shows.
    Contributions all(chunk_size);
    std::vector<float> first(chunk_size), second(chunk_size);
    first[1010] = first[1020] = second[1010] = second[1030] = 1.0F;  // the zeros that are sent lie before
    all.add(std::move(first), large);
    all.add(std::move(second), 1);
    const OuterStep step{.alpha = 1, .amplification = 4};
    const auto is_right = [&](const std::vector<float>& next) {
        const float lone = static_cast<float>(4.0 / static_cast<double>(total));
        return next[1010] == -1.0F && next[1020] == -1.0F && next[1030] == -lone;
    };
    std::vector<float> next(chunk_size);
    apply_outer_step_plain(zeros(), next, all.list(), step);
    QVERIFY(is_right(next));
    for (const Isa path : {Isa::baseline, Isa::avx2, Isa::avx512}) {
        if (!available(path)) continue;
        apply_outer_step_with(path, zeros(), next, all.list(), step, 1);
        QVERIFY2(is_right(next), name_of(path));
    }
}

void TestOuterStep::a_list_has_4096_payloads() {
    QCOMPARE(contributions_max, std::size_t{4096});
    Contributions one(chunk_size);
    one.add_single(5, 1.0F, 1U << 20U);  // 4,096 of them: 2^32, which is halved
    const std::vector<WeightedPayload> list(contributions_max, one.list().front());
    QVERIFY(stepped(zeros(), list, {})[5] == -1.0F);
}

void TestOuterStep::the_whole_list_is_within_rounding_of_the_formula() {
    const std::size_t size = 2 * chunk_size + 100;
    const Contributions all = mixed(size, 6);
    const OuterStep step{.alpha = 0.7F, .amplification = 4};
    const std::vector<float> theta = inputs::make(Kind::bell, size, 1);
    std::vector<double> norms;
    for (const auto& entry : all.list()) norms.push_back(entry.payload->norm());
    std::sort(norms.begin(), norms.end());
    const double median = norms[2];
    double total = 0;
    std::vector<double> sum(size);
    std::vector<double> weight(size);
    for (std::size_t p = 0; p < all.list().size(); ++p) {
        const double tokens = static_cast<double>(all.list()[p].weight);
        const double factor = std::min(1.0, median / all.list()[p].payload->norm());
        const std::vector<float> values = decode_plain(all.bytes(p));
        total += tokens;
        for (std::size_t i = 0; i < size; ++i) {
            sum[i] += tokens * factor * static_cast<double>(values[i]);
            weight[i] += values[i] != 0 ? tokens : 0.0;
        }
    }
    const std::vector<float> next = stepped(theta, all.list(), step);
    for (std::size_t i = 0; i < size; ++i) {
        const double mean = sum[i] / std::max(weight[i], total / 4);
        const double expected = static_cast<double>(theta[i]) - static_cast<double>(step.alpha) * mean;
        QVERIFY(std::fabs(static_cast<double>(next[i]) - expected) < 1e-6 * (std::fabs(mean) + median / 64));
    }
}

QTEST_APPLESS_MAIN(TestOuterStep)
#include "test_outer_step.moc"
