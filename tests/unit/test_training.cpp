// The model of small shapes: activations, agreement of the fast decoder with the plain one, dropout, samples.
#include <QTest>

#include <cmath>
#include <limits>

#include "core/run/initial_state.h"
#include "core/training/device.h"
#include "core/training/elementwise.h"
#include "core/training/decoder.h"
#include "core/training/decoder_plain.h"
#include "core/training/sampler.h"

using namespace potluck;
using namespace potluck::training;

namespace {

constexpr std::uint64_t records = 40;

run::ModelSpec small_model() {
    run::ModelSpec spec;
    spec.vocabulary = 32;
    spec.context = 16;
    spec.layers = 2;
    spec.heads = 2;
    spec.width = 32;
    return spec;
}

/// Text in which most tokens follow from the one before.
std::vector<Token> toy_text(const run::ModelSpec& spec, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<Token> text(records * (spec.context + 1));
    std::uint64_t token = 0;
    for (Token& out : text) {
        token = rng.below(10) == 0 ? rng.below(spec.vocabulary) : (token * 5 + 3) % spec.vocabulary;
        out = static_cast<Token>(token);
    }
    return text;
}

/// Larger weights than a fresh model's, so that attention is far from uniform.
std::vector<float> lively_parameters(const run::ModelSpec& spec) {
    std::vector<float> values(spec.parameters());
    run::fill_initial_state(spec, 4, values);
    Rng rng(6);
    for (float& value : values) value = (value == 1 ? value : value * 4) + 0.1F * static_cast<float>(rng.unit() - 0.5);
    return values;
}

double relative_distance(std::span<const float> a, std::span<const float> b) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
        size += std::pow(static_cast<double>(b[i]), 2);
    }
    return std::sqrt(difference / size);
}

}  // namespace

class TrainingTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { use_threads(1); }

    void gelu_and_its_slope_agree_with_the_tanh_formula() {
        std::vector<float> x, y, slope;
        for (double value = -12; value <= 12; value += 0.01) x.push_back(static_cast<float>(value));
        for (const float value : {-1e30F, -100.0F, 100.0F, 1e30F}) x.push_back(value);
        y.resize(x.size());
        slope.assign(x.size(), 1.0F);
        gelu_tanh(x, y);
        gelu_tanh_backward(std::span(x).first(x.size() - 4), std::span(slope).first(x.size() - 4));
        const double root = std::sqrt(2 / 3.14159265358979323846);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double a = static_cast<double>(x[i]);
            const double u = std::tanh(root * (a + 0.044715 * a * a * a));
            QVERIFY(std::fabs(static_cast<double>(y[i]) - 0.5 * a * (1 + u)) <= 2e-6 * std::max(1.0, std::fabs(a)));
            if (i + 4 >= x.size()) continue;
            const double expected = 0.5 * (1 + u) + 0.5 * a * (1 - u * u) * root * (1 + 3 * 0.044715 * a * a);
            QVERIFY(std::fabs(static_cast<double>(slope[i]) - expected) < 4e-6);
        }
    }

    void the_fast_model_agrees_with_the_plain_one_data() {
        QTest::addColumn<int>("context");
        QTest::addColumn<int>("width");
        QTest::addColumn<int>("heads");
        QTest::addColumn<int>("vocabulary");
        QTest::newRow("small") << 16 << 32 << 2 << 32;
        QTest::newRow("odd context") << 37 << 32 << 4 << 32;
        QTest::newRow("odd head") << 20 << 30 << 3 << 17;
        QTest::newRow("long") << 130 << 64 << 2 << 256;
        QTest::newRow("heads of 64") << 33 << 128 << 2 << 64;
        QTest::newRow("one head, least width") << 8 << 8 << 1 << 2;
    }
    void the_fast_model_agrees_with_the_plain_one() {
        QFETCH(const int, context);
        QFETCH(const int, width);
        QFETCH(const int, heads);
        QFETCH(const int, vocabulary);
        run::ModelSpec spec = small_model();
        spec.context = static_cast<std::uint32_t>(context);
        spec.width = static_cast<std::uint32_t>(width);
        spec.heads = static_cast<std::uint32_t>(heads);
        spec.vocabulary = static_cast<std::uint32_t>(vocabulary);
        std::vector<float> parameters = lively_parameters(spec);
        std::vector<Token> batch = toy_text(spec, 5);
        batch.resize(3 * (spec.context + 1));
        std::vector<float> plain(parameters.size());
        const double plain_loss = plain_add_gradient(spec, parameters, batch, plain, 0.01).value();
        for (const AttentionKernel kernel :
             {AttentionKernel::blocked, AttentionKernel::fused, AttentionKernel::plain}) {
            for (const Number precision : {Number::fp32, Number::bf16}) {
                Decoder decoder(spec, {.products = precision, .attention = kernel});
                QVERIFY(decoder.use_parameters(parameters).ok());
                std::vector<float> fast(parameters.size());
                const double loss = decoder.add_gradient({.records = batch, .gradient = fast, .scale = 0.01}).value();
                const double error = relative_distance(fast, plain);
                const bool exact = precision == Number::fp32;
                QVERIFY2(error < (exact ? 1e-5 : 0.08), qPrintable(QString::number(error)));
                QVERIFY(std::fabs(loss - plain_loss) < (exact ? 1e-5 : 2e-2) * plain_loss);
                QVERIFY(std::fabs(decoder.loss_sum(batch).value() - loss) < 1e-5 * loss);
            }
        }
    }

    void gradients_of_micro_batches_sum_to_that_of_the_batch() {
        const run::ModelSpec spec = small_model();
        std::vector<float> parameters = lively_parameters(spec);
        std::vector<Token> batch = toy_text(spec, 5);
        batch.resize(4 * (spec.context + 1));
        Decoder decoder(spec, {});
        QVERIFY(decoder.use_parameters(parameters).ok());
        std::vector<float> whole(parameters.size()), parts(parameters.size());
        double loss = decoder.add_gradient({.records = batch, .gradient = whole, .scale = 0.1}).value();
        for (std::size_t i = 0; i < 4; ++i) {
            const std::span<const Token> part = std::span(batch).subspan(i * (spec.context + 1), spec.context + 1);
            loss -= decoder.add_gradient({.records = part, .gradient = parts, .scale = 0.1}).value();
        }
        QVERIFY(relative_distance(parts, whole) < 1e-5);
        QVERIFY(std::fabs(loss) < 1e-3);
    }

    void dropout_depends_on_its_seed_and_is_off_in_evaluation() {
        run::ModelSpec spec = small_model();
        spec.dropout = 0.2F;
        std::vector<float> parameters = lively_parameters(spec);
        std::vector<Token> batch = toy_text(spec, 5);
        batch.resize(2 * (spec.context + 1));
        Decoder decoder(spec, {});
        QVERIFY(decoder.use_parameters(parameters).ok());
        const auto run = [&](std::uint64_t seed, std::vector<float>& gradient) {
            gradient.assign(parameters.size(), 0.0F);
            return decoder.add_gradient({.records = batch, .gradient = gradient, .scale = 1, .dropout_seed = seed}).value();
        };
        std::vector<float> first, again, other;
        const double loss = run(1, first);
        QCOMPARE(run(1, again), loss);
        QVERIFY(first == again);
        QVERIFY(run(2, other) != loss);
        QCOMPARE(decoder.loss_sum(batch).value(), decoder.loss_sum(batch).value());

        // Along the gradient, the loss under the same mask rises by its square.
        double squares = 0;
        for (const float value : first) squares += static_cast<double>(value) * static_cast<double>(value);
        std::vector<float> moved = parameters;
        const double h = 1e-3 / std::sqrt(squares);
        for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += static_cast<float>(h) * first[i];
        QVERIFY(decoder.use_parameters(moved).ok());
        const double slope = (run(1, again) - loss) / h;
        QVERIFY2(std::fabs(slope / squares - 1) < 0.05, qPrintable(QString::number(slope / squares)));
    }

    void the_likeliest_token_wins_at_temperature_zero() {
        const std::vector<float> logits = {0, 3, 1, 3};
        Rng rng(1);
        QCOMPARE(choose_token(logits, {.temperature = 0, .top_k = 0}, rng), 1U);
        QCOMPARE(choose_token(logits, {.temperature = 5, .top_k = 1}, rng), 1U);
    }

    void tokens_are_drawn_as_often_as_the_softmax_says() {
        const std::vector<float> logits = {0, std::log(2.0F), std::log(4.0F), -50};
        std::vector<int> count(4);
        Rng rng(1);
        for (int i = 0; i < 14'000; ++i) ++count[choose_token(logits, {.temperature = 1, .top_k = 3}, rng)];
        QVERIFY(std::abs(count[0] - 2'000) < 200 && std::abs(count[1] - 4'000) < 200);
        QVERIFY(std::abs(count[2] - 8'000) < 200);
        QCOMPARE(count[3], 0);
    }
};

QTEST_GUILESS_MAIN(TrainingTest)
#include "test_training.moc"
