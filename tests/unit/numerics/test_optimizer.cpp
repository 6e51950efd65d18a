// Optimizer steps: the vectorised ones equal the plain one bit for bit, codes equal the search, and what the rules of
// optimizer.h promise.
#include <QtTest>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/rng.h"
#include "core/numerics/optimizer/dynamic_map.h"
#include "core/numerics/optimizer/optimizer_parts.h"
#include "tests/golden/numerics_inputs.h"
#include "tests/unit/numerics/spoiled_thread.h"

using namespace potluck;
using namespace potluck::numerics;
using inputs::Kind;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

std::vector<Isa> paths() {
    std::vector<Isa> all;
    for (const Isa path : {Isa::baseline, Isa::avx2, Isa::avx512}) {
        if (available(path)) all.push_back(path);
    }
    return all;
}

template <class Number>
Number as(float x) {
    if constexpr (std::is_same_v<Number, float>)
        return x;
    else
        return Bf16{static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16U)};
}

template <class Number>
std::vector<Number> vector_of(const std::vector<float>& values) {
    std::vector<Number> out;
    for (const float x : values) out.push_back(as<Number>(x));
    return out;
}

template <class Number>
std::span<const std::byte> bytes_of(const std::vector<Number>& values) {
    return std::as_bytes(std::span(values));
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

/// Everything a state holds, one slice after another.
std::vector<std::byte> bytes_of(OptimizerState& state) {
    std::vector<std::byte> all;
    const auto add = [&](auto span) {
        const auto bytes = std::as_bytes(span);
        all.insert(all.end(), bytes.begin(), bytes.end());
    };
    for (std::size_t i = 0; i < state.slices().size(); ++i) {
        const OptimizerState::Moments moments = state.moments(i);
        add(moments.mean_codes);
        add(moments.variance_codes);
        add(moments.mean_scales);
        add(moments.variance_scales);
        add(moments.mean);
        add(moments.variance);
    }
    return all;
}

/// Slices of odd lengths with a gap: short ones, one of whole blocks, one of several pieces.
std::vector<ParameterSlice> odd_slices() {
    return {{0, 1, 0.0F},        {1, 4'000, 0.1F},         {4'000, 8'096, 0.1F},    {8'100, 12'933, 0.0F},
            {12'933, 12'933, 0}, {12'933, 150'000, 0.05F}, {150'000, 154'097, 0.1F}};
}
constexpr std::size_t odd_size = 154'100;

/// Gradients with everything a step may meet: zeros of both signs, denormals, NaN, infinities, huge and tiny numbers,
/// and a whole block and a half of nothing usable.
std::vector<float> wild_gradient(std::uint64_t seed) {
    std::vector<float> out = inputs::make(Kind::clustered, odd_size, seed);
    Rng rng(seed + 1);
    const float odd[] = {0.0F, -0.0F, 1e-40F, -3e-42F, not_a_number, infinity, -infinity, 1e30F, -1e19F, 1e-25F, 2e17F};
    for (std::size_t i = 0; i < out.size() / 20; ++i) out[rng.below(out.size())] = odd[rng.below(std::size(odd))];
    for (std::size_t i = 20'000; i < 20'400; ++i) out[i] = not_a_number;
    for (std::size_t i = 30'000; i < 31'000; ++i) out[i] = 0.0F;
    for (std::size_t i = 40'000; i < 41'000; ++i) out[i] *= 1e-20F;
    return out;
}

template <class Parameter, class Gradient>
void check_equal(StepHyperparams settings, StateBits bits) {
    std::vector<float> start = inputs::make(Kind::bell, odd_size, 7);
    start[50] = infinity;
    start[60'000] = not_a_number;
    start[60'001] = 3e38F;
    start[60'002] = 1e-41F;
    std::vector<Parameter> expected = vector_of<Parameter>(start);
    OptimizerState expected_state(odd_slices(), bits);
    struct Run {
        Isa path;
        unsigned threads;
        std::vector<Parameter> parameters;
        OptimizerState state;
    };
    std::vector<Run> runs;
    for (const Isa path : paths()) {
        for (const unsigned threads : {1U, 2U, 7U}) runs.push_back({path, threads, expected, expected_state});
    }
    for (std::uint64_t step = 1; step <= 4; ++step) {
        const std::vector<Gradient> gradient = vector_of<Gradient>(wild_gradient(step));
        settings.learning_rate = 3e-3;
        settings.gradient_scale = 0.37;
        settings.step = step;
        settings.rounding_seed = 99 + step;
        const std::span<const Gradient> view = gradient;
        plain_optimizer_step<Parameter, Gradient>(expected_state, 0, odd_slices().size(), expected, view, settings);
        for (Run& run : runs) {
            optimizer_step_with<Parameter, Gradient>(run.path, run.state, 0, odd_slices().size(), run.parameters, view,
                                                     settings, run.threads);
            QVERIFY2(same(bytes_of(run.parameters), bytes_of(expected)), name_of(run.path));
            QVERIFY2(bytes_of(run.state) == bytes_of(expected_state), name_of(run.path));
        }
    }
    QVERIFY(!same(bytes_of(expected), bytes_of(vector_of<Parameter>(start))));
}

/// A state, its parameters and a way to step them, for one slice from zero.
struct Small {
    explicit Small(std::size_t size, StateBits bits, float decay = 0.0F)
        : parameters(size), gradient(size), state({{0, size, decay}}, bits) {}
    void step(const StepHyperparams& settings) {
        optimizer_step<float, float>(state, 0, 1, parameters, gradient, settings, 1);
    }
    std::vector<float> parameters, gradient;
    OptimizerState state;
};

/// Compares the codes of 256 magnitudes, both signs, on all paths with the search.
void check_codes(const std::array<float, optimizer_block>& values) {
    std::array<std::uint8_t, optimizer_block> mean{}, variance{};
    for (const Isa path : paths()) {
        codes_with(path, values.data(), 1.0F, mean.data(), variance.data());
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (mean[i] != plain_mean_code(values[i]) || variance[i] != plain_variance_code(std::fabs(values[i]))) {
                QFAIL(qPrintable(QString("%1 of %2").arg(static_cast<double>(values[i])).arg(name_of(path))));
            }
        }
    }
}

/// Every `stride`-th float of [-1, 1], and those around each limit.
void sweep_codes(std::uint32_t stride) {
    alignas(64) std::array<float, optimizer_block> values{};
    std::size_t filled = 0;
    const auto add = [&](std::uint32_t bits) {
        if (bits > 0x3f800000U) return;
        for (const std::uint32_t sign : {0U, 0x80000000U}) {
            values[filled++] = std::bit_cast<float>(bits | sign);
            if (filled == values.size()) {
                check_codes(values);
                filled = 0;
            }
        }
    };
    for (std::uint64_t bits = 0; bits <= 0x3f800000U; bits += stride) add(static_cast<std::uint32_t>(bits));
    const auto around = [&](float limit) {
        for (std::uint32_t i = 0; i < 7; ++i) add(std::bit_cast<std::uint32_t>(limit) + i - 3);
    };
    for (const float limit : mean_limits) around(limit);
    for (const float limit : variance_limits) around(limit);
    for (const float value : variance_map) around(value);
    add(0x3f800000U);
    while (filled != 0) add(0);
}

}  // namespace

class TestOptimizer : public QObject {
    Q_OBJECT
private slots:
    void maps_are_sorted_and_keep_their_landmarks();
    void limits_lie_in_the_middle();
    void codes_equal_the_search();
    void every_map_value_has_its_own_code();
    void every_version_equals_the_plain_one_data();
    void every_version_equals_the_plain_one();
    void the_first_step_has_the_length_of_the_learning_rate();
    void decay_comes_before_the_step();
    void eight_bits_follow_thirty_two();
    void small_slices_keep_floats();
    void a_number_without_a_finite_gradient_stays();
    void a_block_without_a_finite_gradient_keeps_its_bytes();
    void a_variance_above_zero_is_never_lost();
    void fading_moments_become_zero();
    void lamb_steps_in_proportion_to_the_parameters();
    void lamb_makes_up_for_early_moments_in_three_ways();
    void stepping_slices_one_by_one_is_the_same();
    void stochastic_rounding_is_right_on_average();
    void stochastic_rounding_depends_on_seed_and_place();
    void a_flushing_thread_gets_the_same_bytes();
    void reset_forgets();
};

void TestOptimizer::maps_are_sorted_and_keep_their_landmarks() {
    for (std::size_t i = 1; i < 256; ++i) {
        QVERIFY(mean_map[i] > mean_map[i - 1]);
        QVERIFY(variance_map[i] > variance_map[i - 1]);
    }
    QCOMPARE(mean_map[0], -0.99296875F);
    QCOMPARE(mean_map[mean_zero_code], 0.0F);
    QCOMPARE(mean_map[128], 5.5e-7F);
    QCOMPARE(mean_map[255], 1.0F);
    QCOMPARE(variance_map[0], 0.0F);
    QCOMPARE(variance_map[1], 3.25e-7F);
    QCOMPARE(variance_map[255], 1.0F);
    for (std::size_t i = 1; i <= 127; ++i) QCOMPARE(mean_map[127 - i], -mean_map[127 + i]);
}

void TestOptimizer::limits_lie_in_the_middle() {
    const auto check = [](double below, double above, double limit) {
        const double middle = (below + above) / 2;
        QVERIFY(std::fabs(limit - middle) <= 4e-6 * middle);
    };
    for (std::size_t i = 0; i < std::size(mean_limits); ++i) {
        check(static_cast<double>(mean_map[127 + i]), static_cast<double>(mean_map[128 + i]),
              static_cast<double>(mean_limits[i]));
    }
    QCOMPARE(variance_limits[0], 0.0F);
    for (std::size_t i = 1; i < std::size(variance_limits); ++i) {
        check(static_cast<double>(variance_map[i]), static_cast<double>(variance_map[i + 1]),
              static_cast<double>(variance_limits[i]));
    }
}

void TestOptimizer::codes_equal_the_search() {
    // All 2^30 magnitudes take minutes: POTLUCK_HEAVY=1.
    sweep_codes(qEnvironmentVariableIntValue("POTLUCK_HEAVY") != 0 ? 1 : 4093);
}

void TestOptimizer::every_map_value_has_its_own_code() {
    for (std::uint32_t code = 0; code < 256; ++code) {
        QCOMPARE(std::uint32_t{plain_mean_code(mean_map[code])}, code);
        QCOMPARE(std::uint32_t{plain_variance_code(variance_map[code])}, code);
    }
    QCOMPARE(std::uint32_t{plain_mean_code(-1.0F)}, 0U);
    QCOMPARE(std::uint32_t{plain_variance_code(1e-30F)}, 1U);
}

void TestOptimizer::every_version_equals_the_plain_one_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("bits");
    QTest::addColumn<int>("types");
    const char* const names[] = {"AdamW", "LAMB", "LAMB with its rate debiased", "LAMB without"};
    for (const int kind : {0, 1, 2, 3}) {
        for (const int bits : {8, 32}) {
            for (const int types : {0, 1, 2, 3}) {
                QTest::addRow("%s %d bits, bf16 %d", names[kind], bits, types) << kind << bits << types;
            }
        }
    }
}

void TestOptimizer::every_version_equals_the_plain_one() {
    QFETCH(int, kind);
    QFETCH(int, bits);
    QFETCH(int, types);
    constexpr LambDebias ways[] = {LambDebias::moments, LambDebias::moments, LambDebias::rate, LambDebias::none};
    const StepHyperparams which{.kind = kind == 0 ? OptimizerKind::adamw : OptimizerKind::lamb,
                                .lamb_debias = ways[kind]};
    const auto wide = bits == 8 ? StateBits::bits8 : StateBits::bits32;
    if (types == 0) check_equal<float, float>(which, wide);
    if (types == 1) check_equal<float, Bf16>(which, wide);
    if (types == 2) check_equal<Bf16, float>(which, wide);
    if (types == 3) check_equal<Bf16, Bf16>(which, wide);
}

void TestOptimizer::the_first_step_has_the_length_of_the_learning_rate() {
    for (const StateBits bits : {StateBits::bits8, StateBits::bits32}) {
        Small small(5'000, bits);
        small.gradient = inputs::make(Kind::bell, 5'000, 3);
        small.step({.learning_rate = 0.01});
        for (std::size_t i = 0; i < 5'000; ++i) {
            const float expected = small.gradient[i] > 0 ? -0.01F : 0.01F;
            if (std::fabs(small.gradient[i]) > 1e-4F) QVERIFY(std::fabs(small.parameters[i] - expected) < 1e-5F);
        }
    }
}

void TestOptimizer::decay_comes_before_the_step() {
    Small small(1, StateBits::bits32, 0.5F);
    small.parameters[0] = 2.0F;
    small.gradient[0] = 1.0F;
    small.step({.learning_rate = 0.1});
    QVERIFY(std::fabs(small.parameters[0] - (2.0F * 0.95F - 0.1F)) < 1e-6F);  // not (2 - 0.1) * 0.95
}

void TestOptimizer::eight_bits_follow_thirty_two() {
    // A quadratic bowl whose directions differ in steepness by a thousand.
    constexpr std::size_t size = 8'192;
    Small coarse(size, StateBits::bits8), fine(size, StateBits::bits32);
    const std::vector<float> start = inputs::make(Kind::uniform, size, 5);
    coarse.parameters = fine.parameters = start;
    const auto loss_and_slope = [](Small& small) {
        double loss = 0;
        for (std::size_t i = 0; i < size; ++i) {
            const float steep = static_cast<float>(1 + i % 1000);
            small.gradient[i] = steep * small.parameters[i];
            loss += static_cast<double>(small.gradient[i]) * static_cast<double>(small.parameters[i]) / 2;
        }
        return loss;
    };
    const double before = loss_and_slope(fine);
    double coarse_loss = 0, fine_loss = 0;
    for (std::uint64_t step = 1; step <= 40; ++step) {
        coarse_loss = loss_and_slope(coarse);
        fine_loss = loss_and_slope(fine);
        coarse.step({.learning_rate = 0.005, .step = step});
        fine.step({.learning_rate = 0.005, .step = step});
    }
    QVERIFY(fine_loss < before * 0.8);
    const double off = std::fabs(coarse_loss - fine_loss) / fine_loss;
    QVERIFY2(off < 0.01, qPrintable(QString::number(off)));
}

void TestOptimizer::small_slices_keep_floats() {
    const std::vector<ParameterSlice> slices = {{0, 4'095, 0}, {4'095, 8'191, 0}};
    OptimizerState state(slices, StateBits::bits8);
    QCOMPARE(state.moments(0).mean.size(), std::size_t{4'095});
    QVERIFY(state.moments(0).mean_codes.empty());
    QCOMPARE(state.moments(1).mean_codes.size(), std::size_t{4'096});
    QCOMPARE(state.moments(1).mean_scales.size(), std::size_t{16});
    QVERIFY(state.moments(1).mean.empty());
    QCOMPARE(state.bytes(), std::uint64_t{2 * (4'095 * 4 + 4'096 + 16 * 4)});
    QCOMPARE(OptimizerState::bytes_for(slices, StateBits::bits32), std::uint64_t{2 * 4 * 8'191});
    const std::vector<ParameterSlice> large = {{0, 1'000'000, 0}};
    QVERIFY(OptimizerState::bytes_for(large, StateBits::bits8) <= 2'032'000);  // 2.03 bytes a parameter
}

void TestOptimizer::a_number_without_a_finite_gradient_stays() {
    for (const float bad : {not_a_number, infinity, -infinity, 1e20F}) {
        for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::lamb}) {
            Small small(300, StateBits::bits32, 0.1F);
            small.parameters = inputs::make(Kind::bell, 300, 1);
            small.gradient = inputs::make(Kind::bell, 300, 2);
            small.step({.kind = kind, .learning_rate = 0.1});
            const float parameter = small.parameters[77];
            const float mean = small.state.moments(0).mean[77], variance = small.state.moments(0).variance[77];
            small.gradient[77] = bad;
            const float other = small.parameters[78];
            small.step({.kind = kind, .learning_rate = 0.1, .step = 2});
            QCOMPARE(small.parameters[77], parameter);
            QCOMPARE(small.state.moments(0).mean[77], mean);
            QCOMPARE(small.state.moments(0).variance[77], variance);
            QVERIFY(small.parameters[78] != other);
        }
    }
}

void TestOptimizer::a_block_without_a_finite_gradient_keeps_its_bytes() {
    Small small(8'192, StateBits::bits8);
    small.gradient = inputs::make(Kind::bell, 8'192, 2);
    small.step({.learning_rate = 0.1});
    const std::vector<std::byte> before = bytes_of(small.state);
    small.gradient.assign(8'192, not_a_number);
    for (std::uint64_t step = 2; step < 5; ++step) small.step({.learning_rate = 0.1, .step = step});
    QVERIFY(bytes_of(small.state) == before);
}

void TestOptimizer::a_variance_above_zero_is_never_lost() {
    Small small(8'192, StateBits::bits8);
    small.gradient.assign(8'192, 1e-6F);
    small.gradient[100] = 1.0F;  // a million times the others of its block: their squares are 10^-12 of its own
    small.step({.learning_rate = 1e-3});
    QCOMPARE(std::uint32_t{small.state.moments(0).variance_codes[99]}, 1U);
    QCOMPARE(std::uint32_t{small.state.moments(0).variance_codes[100]}, 255U);
    small.gradient.assign(8'192, 0.0F);
    const float before = small.parameters[99];
    small.step({.learning_rate = 1e-3, .step = 2});
    QVERIFY(std::fabs(small.parameters[99] - before) < 1e-3F);
}

void TestOptimizer::fading_moments_become_zero() {
    Small small(4'096, StateBits::bits8);
    small.gradient.assign(4'096, 1e-13F);
    small.step({.learning_rate = 1e-3});
    QVERIFY(small.state.moments(0).variance_scales[3] > 0);
    small.gradient.assign(4'096, 0.0F);
    for (std::uint64_t step = 2; step < 1'500; ++step) small.step({.learning_rate = 1e-3, .step = step});
    QCOMPARE(small.state.moments(0).mean_scales[3], 0.0F);
    QCOMPARE(small.state.moments(0).variance_scales[3], 0.0F);
    QCOMPARE(std::uint32_t{small.state.moments(0).mean_codes[1000]}, 127U);
    QCOMPARE(std::uint32_t{small.state.moments(0).variance_codes[1000]}, 0U);
}

void TestOptimizer::lamb_steps_in_proportion_to_the_parameters() {
    const auto moved = [](float factor, double trust_max) {
        Small small(10'000, StateBits::bits8);
        small.gradient = inputs::make(Kind::bell, 10'000, 2);
        small.parameters = inputs::make(Kind::bell, 10'000, 3);
        for (float& p : small.parameters) p *= factor;
        const std::vector<float> before = small.parameters;
        small.step({.kind = OptimizerKind::lamb, .learning_rate = 0.1, .trust_max = trust_max});
        double squares = 0, own = 0;
        for (std::size_t i = 0; i < before.size(); ++i) {
            const double difference = static_cast<double>(small.parameters[i]) - static_cast<double>(before[i]);
            squares += difference * difference;
            own += static_cast<double>(before[i]) * static_cast<double>(before[i]);
        }
        return std::pair(std::sqrt(squares), std::sqrt(own));
    };
    for (const float factor : {1.0F, 100.0F}) {
        const auto [step, length] = moved(factor, 1e9);
        QVERIFY(std::fabs(step - 0.1 * length) < 1e-4 * length);
    }
    QVERIFY(std::fabs(moved(100.0F, 0.5).first - 0.05) < 1e-4);  // capped
    QVERIFY(std::fabs(moved(0.0F, 10.0).first - 10.0) < 1e-2);   // ratio 1: ten thousand steps of 0.1 each
}

/// The factors of DeDLOC's betas; without moments debiased, the first step of one is that of
/// the other times the factor.
void TestOptimizer::lamb_makes_up_for_early_moments_in_three_ways() {
    const auto factor_at = [](std::uint64_t step) {
        return lamb_rate({.lamb_debias = LambDebias::rate, .learning_rate = 1, .beta2 = 0.999, .step = step});
    };
    QVERIFY(std::fabs(factor_at(1) - 0.316) < 1e-3 && std::fabs(factor_at(10) - 0.153) < 1e-3);
    QVERIFY(std::fabs(factor_at(1'000) - 0.795) < 1e-3);
    const auto moved = [](LambDebias way) {
        Small small(1'000, StateBits::bits32, 0.1F);
        small.gradient = inputs::make(Kind::bell, 1'000, 2);
        small.parameters = inputs::make(Kind::bell, 1'000, 3);
        const std::vector<float> before = small.parameters;
        small.step({.kind = OptimizerKind::lamb, .lamb_debias = way, .learning_rate = 0.1, .beta2 = 0.999});
        double squares = 0;
        for (std::size_t i = 0; i < before.size(); ++i) {
            const double difference = static_cast<double>(small.parameters[i]) - static_cast<double>(before[i]);
            squares += difference * difference;
        }
        return std::sqrt(squares);
    };
    const double none = moved(LambDebias::none);
    QVERIFY(std::fabs(moved(LambDebias::rate) - factor_at(1) * none) < 1e-5 * none);
    QVERIFY(std::fabs(moved(LambDebias::moments) - none) < 1e-4 * none);  // the ratio takes the scale away
}

void TestOptimizer::stepping_slices_one_by_one_is_the_same() {
    const std::vector<float> gradient = inputs::make(Kind::clustered, odd_size, 4);
    const StepHyperparams settings{.kind = OptimizerKind::lamb, .learning_rate = 0.01, .rounding_seed = 5};
    std::vector<float> at_once = inputs::make(Kind::bell, odd_size, 5), one_by_one = at_once;
    OptimizerState first(odd_slices(), StateBits::bits8), second(odd_slices(), StateBits::bits8);
    optimizer_step<float, float>(first, 0, odd_slices().size(), at_once, gradient, settings, 2);
    for (std::size_t i = 0; i < odd_slices().size(); ++i) {
        optimizer_step<float, float>(second, i, 1, one_by_one, gradient, settings, 1);
    }
    QVERIFY(same(bytes_of(at_once), bytes_of(one_by_one)));
    QVERIFY(bytes_of(first) == bytes_of(second));
}

void TestOptimizer::stochastic_rounding_is_right_on_average() {
    // 1 + 2^-7 is the next bfloat16 after 1; a tenth of that step is kept by a tenth of the numbers.
    const float wanted = 1.0F + 0.1F * 0x1p-7F;
    std::uint64_t up = 0;
    constexpr std::uint32_t numbers = 1'000'000;
    for (std::uint32_t i = 0; i < numbers; ++i) {
        Bf16 out;
        store(out, wanted, arithmetic::block_key(17, i / 256 * 256), i % 256);
        QVERIFY(out.bits == 0x3f80 || out.bits == 0x3f81);
        up += out.bits - 0x3f80U;
    }
    QVERIFY(std::fabs(static_cast<double>(up) / numbers - 0.1) < 0.0015);  // five standard deviations
    // Small steps add up although each is lost to rounding to nearest.
    constexpr std::size_t size = 4'096;
    std::vector<Bf16> parameters(size, as<Bf16>(1.0F));
    const std::vector<float> gradient(size, 1.0F);
    OptimizerState state({{0, size, 0}}, StateBits::bits8);
    for (std::uint64_t step = 1; step <= 100; ++step) {
        optimizer_step<Bf16, float>(state, 0, 1, parameters, gradient,
                                    {.learning_rate = 1e-4, .step = step, .rounding_seed = step}, 1);
    }
    double sum = 0;
    for (const Bf16 p : parameters) sum += static_cast<double>(to_fp32(p));
    QVERIFY(std::fabs(sum / size - 0.99) < 0.0005);
}

void TestOptimizer::stochastic_rounding_depends_on_seed_and_place() {
    const auto stepped = [](std::uint64_t seed) {
        std::vector<Bf16> parameters(8'192, as<Bf16>(1.0F));
        const std::vector<float> gradient(8'192, 1.0F);
        OptimizerState state({{0, 8'192, 0}}, StateBits::bits8);
        optimizer_step<Bf16, float>(state, 0, 1, parameters, gradient, {.learning_rate = 2e-3, .rounding_seed = seed},
                                    2);
        return parameters;
    };
    QVERIFY(same(bytes_of(stepped(1)), bytes_of(stepped(1))));
    QVERIFY(!same(bytes_of(stepped(1)), bytes_of(stepped(2))));
    const std::vector<Bf16> one = stepped(1);
    QVERIFY(!same(std::as_bytes(std::span(one).first(256)), std::as_bytes(std::span(one).subspan(256, 256))));
}

void TestOptimizer::a_flushing_thread_gets_the_same_bytes() {
    const auto stepped = [] {
        Small small(5'000, StateBits::bits32);
        small.gradient.assign(5'000, 1e-21F);
        small.step({.learning_rate = 1e-3, .epsilon = 1e-25});
        return small.parameters;
    };
    const std::vector<float> expected = stepped();
    const test::SpoiledThread spoiled(test::flushing);
    const std::vector<float> flushed = stepped();
    QVERIFY(same(bytes_of(expected), bytes_of(flushed)));
}

void TestOptimizer::reset_forgets() {
    Small small(5'000, StateBits::bits8);
    const std::vector<std::byte> fresh = bytes_of(small.state);
    small.gradient.assign(5'000, 1.0F);
    small.step({.learning_rate = 1e-3});
    QVERIFY(bytes_of(small.state) != fresh);
    small.state.reset();
    QVERIFY(bytes_of(small.state) == fresh);
}

QTEST_APPLESS_MAIN(TestOptimizer)
#include "test_optimizer.moc"
