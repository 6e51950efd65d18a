// C: the same bytes whatever the order, threads and path; which means stay, how they are rounded, what a reader
// refuses.
#include <QtTest>

#include <cmath>
#include <memory>

#include "core/numerics/codec/payload_layout.h"
#include "core/numerics/outer/step_code.h"
#include "core/numerics/outer/step_layout.h"
#include "tests/golden/numerics_inputs.h"

using namespace potluck;
using namespace potluck::numerics;
using inputs::Kind;

namespace {

class Payloads {
public:
    Payloads(std::size_t size, std::uint32_t k) : m_size(size), m_k(k) {}
    void add(std::vector<float> error, std::uint64_t weight) {
        m_bytes.push_back(std::make_unique<std::vector<std::byte>>(encode(error, m_k, 2)));
        m_views.push_back(std::make_unique<PayloadView>());
        if (PayloadView::parse(*m_bytes.back(), m_size, m_k, *m_views.back()) != PayloadFault::none) qFatal("fault");
        m_list.push_back({.payload = m_views.back().get(), .weight = weight});
    }
    [[nodiscard]] std::vector<WeightedPayload>& list() { return m_list; }

private:
    std::size_t m_size;
    std::uint32_t m_k;
    std::vector<std::unique_ptr<std::vector<std::byte>>> m_bytes;
    std::vector<std::unique_ptr<PayloadView>> m_views;
    std::vector<WeightedPayload> m_list;
};

Payloads mixed(std::size_t size, std::uint32_t k, std::uint64_t count) {
    Payloads all(size, k);
    for (std::uint64_t i = 0; i < count; ++i) {
        const Kind kinds[] = {Kind::uniform, Kind::bell, Kind::clustered, Kind::ties};
        all.add(inputs::make(kinds[i % 4], size, 100 + i), 1 + mix64(i) % 1'000);
    }
    return all;
}

std::vector<float> means_of(const std::vector<WeightedPayload>& list, std::size_t size, std::uint32_t amplification) {
    std::vector<float> means(size);
    apply_outer_step_plain(means, means, list, {.alpha = -1, .amplification = amplification});
    return means;
}

StepView parsed(const std::vector<std::byte>& step, std::uint64_t size) {
    StepView view;
    if (StepView::parse(step, size, view) != PayloadFault::none) qFatal("fault");
    return view;
}

/// What the step moves each coordinate by.
std::vector<float> decoded(const std::vector<std::byte>& step, std::size_t size) {
    std::vector<float> values(size);
    apply_step(values, values, parsed(step, size), -1.0F, 2);
    return values;
}

/// A step of one chunk whose only mean is `value`, at place 7.
std::vector<std::byte> single(float value) {
    std::vector<float> error(chunk_size);
    error[7] = value;
    Payloads all(chunk_size, 64);
    all.add(std::move(error), 1);
    return encode_step(all.list(), chunk_size, {.amplification = 1}, 1);
}

}  // namespace

class TestStepCode : public QObject {
    Q_OBJECT
private slots:
    void every_path_equals_plain_data();
    void every_path_equals_plain();
    void twice_as_many_means_stay_as_entries_are_sent();
    void the_largest_means_stay_and_the_others_are_dropped();
    void a_value_is_within_half_of_its_blocks_unit();
    void a_scale_is_the_smallest_that_holds_its_block();
    void alpha_scales_the_step_and_nothing_else_moves();
    void a_coded_step_of_a_list_is_its_step_applied();
    void a_step_in_place_is_the_step();
    void all_of_4096_need_no_gaps();
    void every_cut_and_every_changed_header_is_refused();
    void an_invalid_step_is_refused_data();
    void an_invalid_step_is_refused();
    void no_step_is_longer_than_its_bound();
};

void TestStepCode::every_path_equals_plain_data() {
    QTest::addColumn<std::size_t>("size");
    QTest::addColumn<std::uint32_t>("k");
    QTest::newRow("ten parameters") << std::size_t{10} << 64U;
    QTest::newRow("a chunk") << chunk_size << 64U;
    QTest::newRow("a chunk and an odd rest") << chunk_size + 1001 << 300U;
    QTest::newRow("two groups") << group_size + 2 * chunk_size + 3 << 64U;
    QTest::newRow("everything") << std::size_t{20'001} << 4096U;
}

void TestStepCode::every_path_equals_plain() {
    QFETCH(std::size_t, size);
    QFETCH(std::uint32_t, k);
    Payloads all = mixed(size, k, 5);
    const std::vector<std::byte> plain = encode_step_plain(all.list(), size, {.amplification = 4});
    for (const Isa path : {Isa::baseline, Isa::avx2, Isa::avx512}) {
        if (!available(path)) continue;
        for (const unsigned threads : {1U, 3U})
            QVERIFY(encode_step_with(path, all.list(), size, {.amplification = 4}, threads) == plain);
        std::swap(all.list().front(), all.list().back());
    }
    StepView view;
    QVERIFY(StepView::parse(plain, size, view) == PayloadFault::none);
}

void TestStepCode::twice_as_many_means_stay_as_entries_are_sent() {
    QCOMPARE(kept_of_step(1), step_layout::kept_min);
    QCOMPARE(step_layout::kept_min, 512U);
    QCOMPARE(kept_of_step(256), 512U);
    QCOMPARE(kept_of_step(257), 514U);
    QCOMPARE(kept_of_step(2047), 4094U);
    QCOMPARE(kept_of_step(4096), 4096U);
    // Of payloads that send different shares the largest decides.
    Payloads all(chunk_size, 300);
    all.add(inputs::make(Kind::bell, chunk_size, 1), 1);
    QCOMPARE(parsed(encode_step(all.list(), chunk_size, {.amplification = 4}, 1), chunk_size).kept(), 600U);
}

void TestStepCode::the_largest_means_stay_and_the_others_are_dropped() {
    const std::size_t size = chunk_size;
    Payloads all = mixed(size, 256, 6);
    const std::vector<float> means = means_of(all.list(), size, 4);
    const std::vector<float> kept = decoded(encode_step(all.list(), size, {.amplification = 4}, 1), size);
    std::vector<float> sorted(means);
    for (float& mean : sorted) mean = std::fabs(mean);
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    const float least = sorted[511];
    QVERIFY(least > 0);
    for (std::size_t i = 0; i < size; ++i) {
        if (std::fabs(means[i]) < least) QVERIFY(kept[i] == 0.0F);
    }
}

void TestStepCode::a_value_is_within_half_of_its_blocks_unit() {
    Payloads all = mixed(chunk_size, 4096, 3);
    const std::vector<float> means = means_of(all.list(), chunk_size, 1);
    const std::vector<float> kept = decoded(encode_step(all.list(), chunk_size, {.amplification = 1}, 1), chunk_size);
    for (std::size_t at = 0; at < chunk_size; at += 256) {
        float largest = 0;
        for (std::size_t i = at; i < at + 256; ++i) largest = std::max(largest, std::fabs(means[i]));
        const float unit = std::ldexp(1.0F, step_layout::scale_of(largest));
        for (std::size_t i = at; i < at + 256; ++i) QVERIFY(std::fabs(kept[i] - means[i]) <= unit / 2);
    }
}

void TestStepCode::a_scale_is_the_smallest_that_holds_its_block() {
    QCOMPARE(step_layout::scale_of(0.0F), 0);
    QCOMPARE(step_layout::scale_of(7.0F), 0);
    QCOMPARE(step_layout::scale_of(std::nextafter(7.5F, 0.0F)), 0);
    QCOMPARE(step_layout::scale_of(7.5F), 1);
    QCOMPARE(step_layout::scale_of(8.0F), 1);
    QCOMPARE(step_layout::scale_of(3.5F), -1);
    QCOMPARE(step_layout::scale_of(0x1p60F), 58);
    QCOMPARE(step_layout::scale_of(0x1p-140F), -126);
    QVERIFY(decoded(single(3.0F), chunk_size)[7] == 3.0F);
    QVERIFY(decoded(single(-0x1p60F), chunk_size)[7] == -0x1p60F);
    QVERIFY(decoded(single(0x1p-140F), chunk_size)[7] == 0.0F);
}

void TestStepCode::alpha_scales_the_step_and_nothing_else_moves() {
    const std::vector<std::byte> step = single(3.0F);
    std::vector<float> theta(chunk_size, -0.0F);
    theta[7] = 1.0F;
    std::vector<float> next(chunk_size, 5.0F);
    apply_step(theta, next, parsed(step, chunk_size), 0.5F, 1);
    QVERIFY(next[7] == -0.5F);
    for (std::size_t i = 0; i < chunk_size; ++i) {
        if (i != 7) QVERIFY(next[i] == 0.0F && std::signbit(next[i]));
    }
}

void TestStepCode::a_coded_step_of_a_list_is_its_step_applied() {
    const std::size_t size = 2 * chunk_size + 77;
    Payloads all = mixed(size, 64, 4);
    const std::vector<float> theta = inputs::make(Kind::bell, size, 3);
    std::vector<float> expected(size), plain(size), fast(size), exact(size);
    apply_step(theta, expected, parsed(encode_step(all.list(), size, {.amplification = 2}, 1), size), 0.7F, 1);
    const OuterStep coded{.alpha = 0.7F, .amplification = 2, .form = StepForm::coded};
    apply_outer_step(theta, fast, all.list(), coded, 2);
    apply_outer_step_plain(theta, plain, all.list(), coded);
    apply_outer_step(theta, exact, all.list(), {.alpha = 0.7F, .amplification = 2}, 2);
    QVERIFY(std::memcmp(fast.data(), expected.data(), size * sizeof(float)) == 0);
    QVERIFY(std::memcmp(plain.data(), expected.data(), size * sizeof(float)) == 0);
    QVERIFY(std::memcmp(exact.data(), expected.data(), size * sizeof(float)) != 0);
    apply_outer_step(theta, fast, {}, coded, 2);
    QVERIFY(std::memcmp(fast.data(), theta.data(), size * sizeof(float)) == 0);
}

void TestStepCode::a_step_in_place_is_the_step() {
    const std::size_t size = group_size + 5000;
    Payloads all = mixed(size, 64, 4);
    const std::vector<std::byte> step = encode_step(all.list(), size, {.amplification = 4}, 2);
    std::vector<float> theta = inputs::make(Kind::bell, size, 3);
    std::vector<float> next(size);
    apply_step(theta, next, parsed(step, size), 0.7F, 3);
    apply_step(theta, theta, parsed(step, size), 0.7F, 1);
    QVERIFY(std::memcmp(theta.data(), next.data(), size * sizeof(float)) == 0);
}

void TestStepCode::all_of_4096_need_no_gaps() {
    Payloads all = mixed(chunk_size, 4096, 2);
    const std::vector<std::byte> step = encode_step(all.list(), chunk_size, {.amplification = 4}, 1);
    QCOMPARE(step.size(), std::size_t{16 + 4 + 1 + 16 + 2048});
}

void TestStepCode::every_cut_and_every_changed_header_is_refused() {
    Payloads all = mixed(5000, 64, 2);
    const std::vector<std::byte> step = encode_step(all.list(), 5000, {.amplification = 4}, 1);
    StepView view;
    for (std::size_t cut = 0; cut < step.size(); ++cut) {
        QVERIFY(StepView::parse(std::span(step).first(cut), 5000, view) != PayloadFault::none);
    }
    QVERIFY(StepView::parse(step, 5001, view) == PayloadFault::wrong_size);
    QCOMPARE(view.group_count(), std::size_t{0});
    std::vector<std::byte> longer = step;
    longer.push_back(std::byte{0});
    QVERIFY(StepView::parse(longer, 5000, view) == PayloadFault::trailing_bytes);
    std::vector<std::byte> renamed = step;
    renamed[2] = std::byte{'P'};
    QVERIFY(StepView::parse(renamed, 5000, view) == PayloadFault::bad_magic);
}

void TestStepCode::an_invalid_step_is_refused_data() {
    QTest::addColumn<std::size_t>("at");
    QTest::addColumn<int>("byte");
    QTest::addColumn<int>("fault");
    // The step of ten parameters: two means, one block.
    const auto row = [](const char* name, std::size_t at, int byte, PayloadFault fault) {
        QTest::newRow(name) << at << byte << static_cast<int>(fault);
    };
    row("fewer means than any step keeps", 4, 255, PayloadFault::bad_k);  // 255 + 256
    row("an odd number of means", 4, 1, PayloadFault::bad_k);             // 1 + 512
    row("an unknown gap code", 20, 13, PayloadFault::bad_index);
    row("a scale below all", 21, -127, PayloadFault::bad_mean);
    row("a scale above all", 21, 59, PayloadFault::bad_mean);
    row("a low value of -8", 22, 0x18, PayloadFault::bad_mean);
    row("a high value of -8", 22, 0x81, PayloadFault::bad_mean);
}

void TestStepCode::an_invalid_step_is_refused() {
    QFETCH(std::size_t, at);
    QFETCH(int, byte);
    QFETCH(int, fault);
    Payloads all = mixed(10, 64, 1);
    std::vector<std::byte> step = encode_step(all.list(), 10, {.amplification = 4}, 1);
    QCOMPARE(step[5], std::byte{2});
    if (at == 4 && byte == 255) step[5] = std::byte{1};
    step[at] = static_cast<std::byte>(byte);
    StepView view;
    QCOMPARE(static_cast<int>(StepView::parse(step, 10, view)), fault);

    // Half a byte behind an odd number of means, and a gap code where there are no gaps.
    Payloads odd = mixed(8 * 3, 64, 1);  // ceil(24 * 512 / 4096) = 3 means
    std::vector<std::byte> three = encode_step(odd.list(), 24, {.amplification = 4}, 1);
    three[23] |= std::byte{0x10};
    QVERIFY(StepView::parse(three, 24, view) == PayloadFault::trailing_bytes);
    Payloads whole = mixed(10, 4096, 1);
    std::vector<std::byte> full = encode_step(whole.list(), 10, {.amplification = 4}, 1);
    full[20] = std::byte{1};
    QVERIFY(StepView::parse(full, 10, view) == PayloadFault::bad_index);
}

void TestStepCode::no_step_is_longer_than_its_bound() {
    for (const std::uint32_t k : {1U, 64U, 256U, 700U, 2047U, 4096U}) {
        for (const std::size_t size : {std::size_t{10}, chunk_size + 1, group_size + 9}) {
            // One entry far from the others costs gaps the most.
            Payloads all = mixed(size, k, 3);
            const std::vector<std::byte> step = encode_step(all.list(), size, {.amplification = 4}, 2);
            QVERIFY(step.size() <= step_bytes_max(size, kept_of_step(k)));
        }
    }
    QVERIFY(step_bytes_max(124'000'000, 512) < 20'000'000);
}

QTEST_APPLESS_MAIN(TestStepCode)
#include "test_step_code.moc"
