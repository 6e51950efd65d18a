// CenteredClip: the same bits whatever the order, threads and path; where the middle lies, how far it reaches, and who
// has no say in it.
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/numerics/outer/centered_clip.h"
#include "core/numerics/outer/outer_stepper.h"
#include "core/numerics/outer/step_code.h"
#include "core/numerics/rounding.h"
#include "tests/golden/numerics_inputs.h"

using namespace potluck;
using namespace potluck::numerics;
using inputs::Kind;

namespace {

constexpr OuterStep centered{.alpha = 1, .amplification = 4, .robust = RobustRule::centered_clip};
constexpr OuterStep mean{.alpha = 1, .amplification = 4};

enum class From { other, newcomer, same_person };

/// Payloads with the views that stand on them.
class Contributions {
public:
    explicit Contributions(std::size_t size) : m_size(size) {}

    void add(std::vector<float> error, std::uint32_t k, std::uint64_t weight = 10, From from = From::other) {
        m_bytes.push_back(std::make_unique<std::vector<std::byte>>(encode(error, k, 2)));
        m_views.push_back(std::make_unique<PayloadView>());
        if (PayloadView::parse(*m_bytes.back(), m_size, k, *m_views.back()) != PayloadFault::none) qFatal("fault");
        m_list.push_back({.payload = m_views.back().get(),
                          .weight = weight,
                          .newcomer = from == From::newcomer,
                          .repeated = from == From::same_person});
    }
    /// `value` at `place`, nothing elsewhere.
    void add_single(std::size_t place, float value, From from = From::other) {
        std::vector<float> error(m_size);
        error[place] = value;
        add(std::move(error), 64, 10, from);
    }
    [[nodiscard]] const std::vector<WeightedPayload>& list() const { return m_list; }

private:
    std::size_t m_size;
    std::vector<std::unique_ptr<std::vector<std::byte>>> m_bytes;
    std::vector<std::unique_ptr<PayloadView>> m_views;
    std::vector<WeightedPayload> m_list;
};

/// `signal` times what all share, and noise of one's own.
std::vector<float> movement(std::size_t size, std::uint64_t seed, float signal) {
    const std::vector<float> shared = inputs::make(Kind::bell, size, 1);
    std::vector<float> own = inputs::make(Kind::bell, size, 1000 + seed);
    for (std::size_t i = 0; i < size; ++i) own[i] += signal * shared[i];
    return own;
}

/// A list as a round may have it: newcomers, second computers, zeros, weights of all sizes, other k.
Contributions mixed(std::size_t size, std::uint32_t k, std::uint64_t count, std::uint64_t seed) {
    Contributions all(size);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t random = mix64(seed * 1000 + i);
        std::vector<float> error = movement(size, seed * 1000 + i, random % 3 == 0 ? -1.0F : 1.5F);
        if (random % 11 == 0) std::ranges::fill(error, 0.0F);
        if (random % 13 == 0) error[random % size] = 0x1p60F;
        const From from = i < 8 || random % 5 > 1 ? From::other : random % 5 == 0 ? From::newcomer : From::same_person;
        all.add(std::move(error), random % 7 == 0 ? 64 : k, 1 + (random >> 20U) % 100'000, from);
    }
    return all;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

std::vector<float> moved(const Contributions& all, std::size_t size, OuterStep step) {
    std::vector<float> next(size);
    apply_outer_step(next, next, all.list(), step, 1);
    return next;
}

StepPlan plan_of(const Contributions& all, std::size_t size) {
    const RoundingGuard guard;
    StepPlan plan = plan_step(all.list(), centered);
    set_pulls(isa_in_use(), plan, size, 2);
    return plan;
}

/// How much of its weight counts.
double part(const StepPlan& plan, std::size_t share, std::size_t iteration) {
    return static_cast<double>(plan.shares[share].pull[iteration]) / static_cast<double>(plan.shares[share].weight);
}

}  // namespace

class TestCenteredClip : public QObject {
    Q_OBJECT
private slots:
    void every_path_equals_plain_data();
    void every_path_equals_plain();
    void order_and_threads_do_not_change_a_bit();
    void where_nothing_is_cut_it_is_the_mean();
    void eight_payloads_need_a_say();
    void the_middle_of_an_even_number_is_the_value_nearer_zero();
    void opposite_payloads_move_the_other_way();
    void a_distant_payload_counts_less();
    void a_minority_that_flips_signs_takes_less_away();
    void the_mean_sent_the_other_way_keeps_its_weight();
    void newcomers_move_neither_the_middle_nor_the_radius();
    void more_than_half_alike_leave_the_others_nothing();
    void squared_distances_are_exact();
    void pulls_and_rest_are_the_weight();
};

void TestCenteredClip::every_path_equals_plain_data() {
    QTest::addColumn<int>("size");
    QTest::addColumn<int>("k");
    QTest::addColumn<int>("count");
    for (const int size : {1, 65, 4097, 20'001}) {
        for (const int k : {64, 900, 4096}) {
            for (const int count : {8, 9, 16, 41}) {
                QTest::addRow("size %d k %d count %d", size, k, count) << size << k << count;
            }
        }
    }
    QTest::newRow("two groups") << 270'001 << 512 << 10;
}

void TestCenteredClip::every_path_equals_plain() {
    QFETCH(int, size);
    QFETCH(int, k);
    QFETCH(int, count);
    const auto length = static_cast<std::size_t>(size);
    const Contributions all = mixed(length, static_cast<std::uint32_t>(k), static_cast<std::uint64_t>(count),
                                    static_cast<std::uint64_t>(size + k));
    const std::vector<float> theta = inputs::make(Kind::bell, length, 3);
    OuterStep step = centered;
    std::vector<float> plain(length), next(length);
    apply_outer_step_plain(theta, plain, all.list(), step);
    const std::vector<std::byte> coded = encode_step_plain(all.list(), length, step);
    for (const Isa path : all_isas) {
        if (!available(path)) continue;
        apply_outer_step_with(path, theta, next, all.list(), step, 1);
        QVERIFY2(same_bits(next, plain), name_of(path));
        QVERIFY2(encode_step_with(path, all.list(), length, step, 2) == coded, name_of(path));
    }
}

void TestCenteredClip::order_and_threads_do_not_change_a_bit() {
    const std::size_t size = 3 * group_size + 17;
    const Contributions all = mixed(size, 300, 12, 5);
    const std::vector<float> expected = moved(all, size, centered);
    QVERIFY(!same_bits(expected, moved(all, size, mean)));
    Rng rng(41);
    for (const unsigned threads : {1U, 2U, 7U}) {
        std::vector<WeightedPayload> list = all.list();
        for (std::size_t i = list.size() - 1; i > 0; --i) std::swap(list[i], list[rng.below(i + 1)]);
        std::vector<float> next(size);
        apply_outer_step(next, next, list, centered, threads);
        QVERIFY(same_bits(next, expected));
    }
}

void TestCenteredClip::where_nothing_is_cut_it_is_the_mean() {
    // Ten payloads of one length at right angles: all lie equally far from their middle, which is zero, and their mean.
    Contributions all(chunk_size);
    for (std::size_t i = 0; i < 10; ++i) all.add_single(1000 + i, i % 2 == 0 ? 0.3F : -0.3F);
    const std::vector<float> next = moved(all, chunk_size, centered);
    QVERIFY(same_bits(next, moved(all, chunk_size, mean)));
    QVERIFY(next[1000] < 0 && next[1001] > 0);
}

void TestCenteredClip::eight_payloads_need_a_say() {
    QCOMPARE(clip_voters_min, std::size_t{8});
    QCOMPARE(clip_iterations, std::size_t{3});
    Contributions all(chunk_size);
    for (std::uint64_t i = 0; i < 7; ++i) all.add(movement(chunk_size, i, 1), 4096);
    all.add(movement(chunk_size, 7, 1), 4096, 10, From::newcomer);
    all.add(movement(chunk_size, 8, 1), 4096, 10, From::same_person);
    all.add(std::vector<float>(chunk_size), 4096);
    QVERIFY(same_bits(moved(all, chunk_size, centered), moved(all, chunk_size, mean)));
    all.add(movement(chunk_size, 9, 1), 4096);
    QVERIFY(!same_bits(moved(all, chunk_size, centered), moved(all, chunk_size, mean)));
    // Where all are newcomers they have the say.
    Contributions fresh(chunk_size);
    for (std::uint64_t i = 0; i < 8; ++i) fresh.add(movement(chunk_size, i, 1), 4096, 10, From::newcomer);
    QVERIFY(!same_bits(moved(fresh, chunk_size, centered), moved(fresh, chunk_size, mean)));
}

void TestCenteredClip::the_middle_of_an_even_number_is_the_value_nearer_zero() {
    // More than half of eight have 1, 2, 3, 4 and 5 at one place, less three their opposites, four at another: the
    // middle of -3 -2 -1 1 2 3 4 5 lies between 1 and 2, and of -4 to 4 between two signs. Distances show where it is.
    const auto squared_sum = [](const std::vector<int>& values) {
        Contributions all(chunk_size);
        for (const int value : values) all.add_single(1000, static_cast<float>(value));
        StepPlan plan = plan_step(all.list(), centered);
        for (StepPlan::Share& share : plan.shares) share.factor = 1;  // unclipped, so that all values differ
        plan.exponent = 0;
        ChunkCentre centre(isa_in_use(), plan);
        centre.open(0);
        std::vector<ProductSum> squares(values.size());
        centre.add_squares(chunk_size, 0, squares);
        std::vector<int> all_squares;
        for (const ProductSum& square : squares) all_squares.push_back(static_cast<int>(square.low));
        return all_squares;
    };
    const auto from = [](std::vector<int> values, int middle) {
        for (int& value : values) value = (value - middle) * (value - middle);
        return values;
    };
    const std::vector<int> up = {5, -1, 4, -2, 3, -3, 2, 1}, even = {4, -1, 3, -2, 2, -3, 1, -4};
    const std::vector<int> odd = {4, -1, 3, -2, 2, -3, 1, -4, 5}, down = {-5, 1, -4, 2, -3, 3, -2, -1};
    QVERIFY(squared_sum(up) == from(up, 1));
    QVERIFY(squared_sum(down) == from(down, -1));
    QVERIFY(squared_sum(even) == from(even, 0));
    QVERIFY(squared_sum(odd) == from(odd, 1));
}

void TestCenteredClip::opposite_payloads_move_the_other_way() {
    Contributions all(chunk_size), opposite(chunk_size);
    for (std::uint64_t i = 0; i < 10; ++i) {
        std::vector<float> error = movement(chunk_size, i, 1);
        all.add(error, 1024, 5 + i);
        for (float& value : error) value = -value;
        opposite.add(std::move(error), 1024, 5 + i);
    }
    std::vector<float> next = moved(all, chunk_size, centered);
    for (float& value : next) value = 0.0F - value;
    QVERIFY(same_bits(next, moved(opposite, chunk_size, centered)));
}

void TestCenteredClip::a_distant_payload_counts_less() {
    Contributions all(chunk_size);
    for (std::uint64_t i = 0; i < 9; ++i) all.add(movement(chunk_size, i, 3), 4096);
    all.add(movement(chunk_size, 9, -3), 4096);
    const StepPlan plan = plan_of(all, chunk_size);
    int whole = 0;
    for (std::size_t i = 0; i < 9; ++i) {
        whole += part(plan, i, 0) == 1 ? 1 : 0;
        QVERIFY(part(plan, i, 0) > 0.8 && part(plan, i, 2) > 0.8);
    }
    QVERIFY(whole >= 5);
    QVERIFY(part(plan, 9, 0) < 0.5 && part(plan, 9, 2) < 0.5);
}

void TestCenteredClip::a_minority_that_flips_signs_takes_less_away() {
    const std::size_t size = 2 * chunk_size;
    Contributions all(size);
    for (std::uint64_t i = 0; i < 16; ++i) {
        std::vector<float> error = movement(size, i, 2);
        if (i >= 9) std::ranges::transform(error, error.begin(), [](float value) { return -1000 * value; });
        all.add(std::move(error), 4096);
    }
    const std::vector<float> shared = inputs::make(Kind::bell, size, 1);
    const auto along = [&](const std::vector<float>& next) {
        double sum = 0;
        for (std::size_t i = 0; i < size; ++i) sum -= static_cast<double>(next[i]) * static_cast<double>(shared[i]);
        return sum;
    };
    // 9 less 7 of 16 is an eighth.
    QVERIFY(along(moved(all, size, mean)) > 0);
    QVERIFY(along(moved(all, size, centered)) > 2 * along(moved(all, size, mean)));
}

/// What the rule does not see: seven payloads that are shorter than those of the nine, and so nearer the middle.
void TestCenteredClip::the_mean_sent_the_other_way_keeps_its_weight() {
    std::vector<float> opposite(chunk_size);
    Contributions all(chunk_size);
    for (std::uint64_t i = 0; i < 9; ++i) {
        std::vector<float> error = movement(chunk_size, i, 0.5F);
        for (std::size_t j = 0; j < chunk_size; ++j) opposite[j] -= 0.6F / 9 * error[j];
        all.add(std::move(error), 4096);
    }
    for (int i = 0; i < 7; ++i) all.add(opposite, 4096);
    const StepPlan plan = plan_of(all, chunk_size);
    for (std::size_t iteration = 0; iteration < clip_iterations; ++iteration) {
        for (std::size_t i = 9; i < 16; ++i) QCOMPARE(part(plan, i, iteration), 1.0);
    }
}

void TestCenteredClip::newcomers_move_neither_the_middle_nor_the_radius() {
    Contributions few(chunk_size), crowd(chunk_size);
    for (std::uint64_t i = 0; i < 9; ++i) {
        few.add(movement(chunk_size, i, 2), 4096);
        crowd.add(movement(chunk_size, i, 2), 4096);
    }
    for (std::uint64_t i = 0; i < 30; ++i) {
        crowd.add(movement(chunk_size, 9, -2), 4096, 1, i % 2 == 0 ? From::newcomer : From::same_person);
        crowd.add(std::vector<float>(chunk_size), 4096, 1);
    }
    const StepPlan alone = plan_of(few, chunk_size), together = plan_of(crowd, chunk_size);
    for (std::size_t i = 0; i < 9; ++i) QVERIFY(std::fabs(part(alone, i, 0) - part(together, i, 0)) < 1e-6);
    QVERIFY(part(together, 9, 0) < 0.6);
}

void TestCenteredClip::more_than_half_alike_leave_the_others_nothing() {
    Contributions all(chunk_size);
    for (int i = 0; i < 6; ++i) all.add_single(1000, 2.0F);
    for (std::size_t i = 0; i < 4; ++i) all.add_single(2000 + i, 2.0F);
    const std::vector<float> next = moved(all, chunk_size, centered);
    QVERIFY(next[1000] == -2.0F * 100 / 60);  // all have come to it, and six of ten sent it
    for (std::size_t i = 0; i < 4; ++i) QVERIFY(next[2000 + i] == 0.0F);
}

void TestCenteredClip::squared_distances_are_exact() {
    ProductSum sum;
    constexpr std::int64_t largest = std::int64_t{1} << 62U;
    for (int i = 0; i < 1000; ++i) sum.add(largest);
    for (int i = 0; i < 999; ++i) sum.add(-largest);
    sum.add(-1);
    sum.carry();
    QVERIFY((sum == ProductSum{.high = (largest >> 32) - 1, .low = 0xffffffff}));
    ProductSum twice = sum;
    twice.add(sum);
    twice.carry();
    QVERIFY((twice == ProductSum{.high = (largest >> 31) - 1, .low = 0xfffffffe}));
}

void TestCenteredClip::pulls_and_rest_are_the_weight() {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const Contributions all = mixed(5000, 1024, 20, seed);
        const StepPlan plan = plan_of(all, 5000);
        QVERIFY(plan.centred && plan.total >= 1U << 31U);
        for (std::size_t iteration = 0; iteration < clip_iterations; ++iteration) {
            std::uint64_t sum = plan.rest[iteration];
            for (const StepPlan::Share& share : plan.shares) {
                QVERIFY(share.pull[iteration] <= share.weight);
                sum += share.pull[iteration];
            }
            QCOMPARE(sum, std::uint64_t{plan.total});
            QVERIFY(plan.rest[iteration] > 0);
        }
    }
}

QTEST_APPLESS_MAIN(TestCenteredClip)
#include "test_centered_clip.moc"
