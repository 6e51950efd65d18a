// The written-out model: its passes over memory, and its agreement with the plain one for both families, every
// precision, attention kernel, layout of memory and kind of checkpointing; the choice of a token.
#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/rng.h"
#include "core/model/initial_state.h"
#include "core/training/compute/device.h"
#include "core/training/decoder/decoder.h"
#include "core/training/decoder/plain.h"
#include "core/training/kernels/elementwise.h"
#include "core/training/sampler.h"
#include "tests/unit/training/small_model.h"

using namespace potluck;
using namespace potluck::training;
using potluck::model::Token;
using potluck::test::small_model;

namespace {

model::ModelSpec small_opt(model::NormPlace norm, std::uint32_t embedding) {
    model::ModelSpec spec = small_model();
    spec.family = model::Family::opt;
    spec.activation = model::Activation::relu;
    spec.norm = norm;
    spec.embedding = embedding;
    return spec;
}

/// Two query heads to a key head, a head width that is not width / heads, and an inner width of its own.
model::ModelSpec small_llama() {
    model::ModelSpec spec = small_model();
    spec.family = model::Family::llama;
    spec.activation = model::Activation::silu_gated;
    spec.heads = 4;
    spec.llama = {.kv_heads = 2, .head_width = 16, .inner = 40, .rope_theta = 100, .norm_epsilon = 1e-4};
    return spec;
}

model::ModelSpec model_named(const QString& name) {
    if (name.startsWith("llama") || name.startsWith("qwen")) {
        model::ModelSpec spec = small_llama();
        spec.llama.tied = name != "llama, own head";
        spec.llama.qkv_bias = name == "qwen2";
        spec.llama.qk_norm = name == "qwen3";
        if (name == "llama, odd heads") spec.llama.head_width = 10;
        return spec;
    }
    if (name == "opt") return small_opt(model::NormPlace::before, 0);
    if (name == "opt 350m") return small_opt(model::NormPlace::after, 24);
    model::ModelSpec spec = small_model();
    if (name == "relu") spec.activation = model::Activation::relu;
    return spec;
}

std::vector<Token> random_records(const model::ModelSpec& spec, std::size_t count) {
    Rng rng(5);
    std::vector<Token> text(count * (spec.context + 1));
    for (Token& token : text) token = static_cast<Token>(rng.below(spec.vocabulary));
    return text;
}

/// Larger weights than a fresh model's, so that attention is far from uniform.
std::vector<float> lively_parameters(const model::ModelSpec& spec) {
    std::vector<float> values(spec.parameters());
    model::fill_initial_state(spec, 4, values);
    const float by = spec.family == model::Family::opt ? 12 : 4;
    Rng rng(6);
    for (float& value : values) value = (value == 1 ? value : value * by) + 0.1F * static_cast<float>(rng.unit() - 0.5);
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

float widened(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U); }
std::uint16_t narrowed(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}
std::vector<float> widened(const std::vector<std::uint16_t>& bits) {
    std::vector<float> out;
    for (const std::uint16_t half : bits) out.push_back(widened(half));
    return out;
}
FlatView view_of(std::vector<std::uint16_t>& bits) { return {bits.data(), bits.size(), Dtype::bf16, {}}; }

struct Found {
    std::vector<float> gradient;
    double loss = 0;
};

Found found_by(const model::ModelSpec& spec, const DecoderOptions& options, const FlatView& parameters,
               std::span<const Token> records, std::uint64_t seed = 1, double scale = 0.01) {
    Decoder decoder(spec, options);
    Found found;
    found.gradient.resize(spec.parameters());
    if (!decoder.use_parameters(parameters).ok()) qFatal("no parameters");
    const Result<double> loss =
        decoder.add_gradient({.records = records, .gradient = found.gradient, .scale = scale, .dropout_seed = seed});
    if (!loss.ok()) qFatal("%s", loss.error().message.c_str());
    found.loss = *loss;
    return found;
}

}  // namespace

class TrainingTest : public QObject {
    Q_OBJECT
private:
    static void add_models() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"gelu", "relu", "opt", "opt 350m", "llama", "llama, own head", "qwen2", "qwen3"}) {
            QTest::newRow(name) << QString(name);
        }
    }

private slots:
    void initTestCase() { use_threads(1); }

    void gelu_and_its_slope_agree_with_the_tanh_formula() {
        std::vector<float> x, y, derivative;
        for (double value = -12; value <= 12; value += 0.01) x.push_back(static_cast<float>(value));
        const std::size_t moderate = x.size();
        for (const float value : {-1e30F, -100.0F, 100.0F, 1e30F}) x.push_back(value);
        y.resize(x.size());
        gelu_tanh<float>(x, y);
        derivative.assign(moderate, 1.0F);
        std::vector<float> sums(moderate, 2.0F);
        gelu_tanh_backward(RowShape{1, static_cast<std::int64_t>(moderate)}, x.data(), derivative.data(), sums.data());
        const double root = std::sqrt(2 / 3.14159265358979323846);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double a = static_cast<double>(x[i]);
            const double u = std::tanh(root * (a + 0.044715 * a * a * a));
            QVERIFY(std::fabs(static_cast<double>(y[i]) - 0.5 * a * (1 + u)) <= 2e-6 * std::max(1.0, std::fabs(a)));
            if (i >= moderate) continue;
            const double expected = 0.5 * (1 + u) + 0.5 * a * (1 - u * u) * root * (1 + 3 * 0.044715 * a * a);
            QVERIFY(std::fabs(static_cast<double>(derivative[i]) - expected) < 4e-6);
            QCOMPARE(sums[i], 2.0F + derivative[i]);
        }
    }

    void sixteen_bits_are_rounded_to_nearest_even() {
        const std::vector<float> x = {1.0F,
                                      1.00390625F,
                                      1.01171875F,
                                      -3.14159F,
                                      0.0F,
                                      1e-40F,
                                      3.4e38F,
                                      std::numeric_limits<float>::infinity(),
                                      std::bit_cast<float>(0x7fffffffU)};
        for (const std::int64_t width : {9, 3}) {  // both below sixteen: the end of a row
            std::vector<Bf16> y(x.size());
            std::vector<float> sums(9);
            narrow_rows(RowShape{9 / width, width}, x.data(), y.data(), sums.data(), {});
            for (std::size_t i = 0; i + 1 < x.size(); ++i) QCOMPARE(y[i].bits, narrowed(x[i]));
            QVERIFY(std::isnan(widened(y.back().bits)));
        }
        std::vector<float> many(40, 1.00390625F), sum(40);
        std::vector<Bf16> all(40);
        narrow_rows(RowShape{1, 40}, many.data(), all.data(), sum.data(), {});
        for (const Bf16& value : all) QCOMPARE(value.bits, narrowed(1.00390625F));
    }

    void dropout_drops_its_share_and_keeps_the_mean() {
        const std::int64_t width = 1000, count = 200;
        const std::vector<float> zero(static_cast<std::size_t>(width * count)), one(zero.size(), 1.0F);
        std::vector<float> out(zero.size()), other(zero.size());
        add_rows(RowShape{count, width}, zero.data(), one.data(), out.data(), {7, 0.2F});
        const auto dropped = std::count(out.begin(), out.end(), 0.0F);
        QVERIFY(std::abs(static_cast<double>(dropped) / static_cast<double>(out.size()) - 0.2) < 0.005);
        QVERIFY(std::count(out.begin(), out.end(), 1.0F / 0.8F) + dropped == static_cast<std::ptrdiff_t>(out.size()));
        // Rows that another thread begins with are dropped alike.
        add_rows(RowShape{1, width, 50}, zero.data(), one.data(), other.data(), {7, 0.2F});
        QVERIFY(std::equal(other.begin(), other.begin() + width, out.begin() + 50 * width));
        add_rows(RowShape{count, width}, zero.data(), one.data(), other.data(), {8, 0.2F});
        QVERIFY(other != out);
    }

    void the_fast_model_agrees_with_the_plain_one_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("context");
        QTest::addColumn<int>("width");
        QTest::addColumn<int>("heads");
        QTest::addColumn<int>("vocabulary");
        QTest::newRow("small") << "gelu" << 16 << 32 << 2 << 32;
        QTest::newRow("relu") << "relu" << 16 << 32 << 2 << 32;
        QTest::newRow("odd context") << "gelu" << 37 << 32 << 4 << 32;
        QTest::newRow("odd head") << "gelu" << 20 << 30 << 3 << 17;
        QTest::newRow("long") << "gelu" << 130 << 64 << 2 << 256;
        QTest::newRow("heads of 64") << "gelu" << 33 << 128 << 2 << 64;
        QTest::newRow("heads of 16") << "gelu" << 33 << 32 << 2 << 64;
        QTest::newRow("one head, least width") << "gelu" << 8 << 8 << 1 << 2;
        QTest::newRow("opt") << "opt" << 16 << 32 << 2 << 32;
        QTest::newRow("opt with odd heads") << "opt" << 21 << 40 << 4 << 50;
        QTest::newRow("opt, norms after, narrow embedding") << "opt 350m" << 16 << 32 << 2 << 32;
        QTest::newRow("llama") << "llama" << 37 << 32 << 4 << 32;
        QTest::newRow("llama, one key head") << "llama" << 16 << 24 << 2 << 33;
        QTest::newRow("llama, own head") << "llama, own head" << 16 << 32 << 4 << 32;
        QTest::newRow("llama, odd heads") << "llama, odd heads" << 21 << 40 << 4 << 50;
        QTest::newRow("qwen2") << "qwen2" << 16 << 32 << 4 << 32;
        QTest::newRow("qwen3") << "qwen3" << 16 << 32 << 4 << 32;
    }
    void the_fast_model_agrees_with_the_plain_one() {
        QFETCH(const QString, name);
        QFETCH(const int, context);
        QFETCH(const int, width);
        QFETCH(const int, heads);
        QFETCH(const int, vocabulary);
        model::ModelSpec spec = model_named(name);
        spec.context = static_cast<std::uint32_t>(context);
        spec.width = static_cast<std::uint32_t>(width);
        spec.heads = static_cast<std::uint32_t>(heads);
        spec.vocabulary = static_cast<std::uint32_t>(vocabulary);
        if (spec.family == model::Family::llama) spec.llama.kv_heads = spec.heads / 2;
        std::vector<float> parameters = lively_parameters(spec);
        const std::vector<Token> batch = random_records(spec, 3);
        std::vector<float> plain(parameters.size());
        const double plain_loss = plain_add_gradient(spec, parameters, batch, plain, 0.01).value();
        for (const AttentionKernel kernel :
             {AttentionKernel::blocked, AttentionKernel::fused, AttentionKernel::plain}) {
            for (const Dtype precision : {Dtype::fp32, Dtype::bf16, Dtype::fp16}) {
                for (const Kernels kernels : {Kernels::own, Kernels::library}) {
                    const DecoderOptions options{.matmul = precision, .attention = kernel, .kernels = kernels};
                    const Found fast = found_by(spec, options, parameters, batch);
                    const double error = relative_distance(fast.gradient, plain);
                    const bool exact = precision == Dtype::fp32;
                    QVERIFY2(
                        error < (exact ? 1e-5 : 0.08),
                        qPrintable(
                            QString("%1 %2 %3: %4").arg(int(kernel)).arg(int(precision)).arg(int(kernels)).arg(error)));
                    QVERIFY(std::fabs(fast.loss - plain_loss) < (exact ? 1e-5 : 2e-2) * plain_loss);
                    Decoder decoder(spec, options);
                    QVERIFY(decoder.use_parameters(parameters).ok());
                    QVERIFY(std::fabs(decoder.loss_sum(batch).value() - fast.loss) < 1e-5 * fast.loss);
                }
            }
        }
    }

    void checkpointing_changes_no_bit_of_the_gradient_data() { add_models(); }
    void checkpointing_changes_no_bit_of_the_gradient() {
        QFETCH(const QString, name);
        model::ModelSpec spec = model_named(name);
        for (const float dropout : {0.0F, 0.2F}) {
            spec.dropout = dropout;
            std::vector<float> parameters = lively_parameters(spec);
            const std::vector<Token> batch = random_records(spec, 3);
            for (const Dtype precision : {Dtype::fp32, Dtype::bf16}) {
                for (const Kernels kernels : {Kernels::own, Kernels::library}) {
                    DecoderOptions options{.matmul = precision, .kernels = kernels};
                    const Found kept = found_by(spec, options, parameters, batch);
                    for (const Checkpointing kind : {Checkpointing::selective, Checkpointing::full}) {
                        options.checkpointing = kind;
                        const Found again = found_by(spec, options, parameters, batch);
                        QVERIFY2(again.gradient == kept.gradient && again.loss == kept.loss, name_of(kind));
                    }
                }
            }
        }
    }

    void where_weights_and_gradients_lie_changes_little_data() { add_models(); }
    void where_weights_and_gradients_lie_changes_little() {
        QFETCH(const QString, name);
        const model::ModelSpec spec = model_named(name);
        std::vector<float> parameters = lively_parameters(spec);
        std::vector<std::uint16_t> bits;
        for (float& value : parameters) {
            bits.push_back(narrowed(value));
            value = widened(bits.back());  // so that both hold the same numbers
        }
        const std::vector<Token> batch = random_records(spec, 3);
        for (const Dtype precision : {Dtype::fp32, Dtype::bf16}) {
            const Found resident = found_by(spec, {.matmul = precision}, parameters, batch);
            for (const Streaming flow : {Streaming::resident, Streaming::streamed}) {
                const DecoderOptions options{.matmul = precision, .weights_flow = flow};
                QVERIFY(found_by(spec, options, parameters, batch).gradient == resident.gradient);
                QVERIFY(found_by(spec, options, view_of(bits), batch).gradient == resident.gradient);

                Decoder decoder(spec, options);
                QVERIFY(decoder.use_parameters(view_of(bits)).ok());
                std::vector<std::uint16_t> gradient(bits.size());
                (void)decoder
                    .add_gradient({.records = batch, .gradient = view_of(gradient), .scale = 0.01, .dropout_seed = 1})
                    .value();
                QVERIFY(relative_distance(widened(gradient), resident.gradient) < 5e-3);
            }
        }
    }

    void threads_change_only_the_last_bits() {
        model::ModelSpec spec = small_model();
        spec.width = 128;
        spec.context = 256;
        spec.dropout = 0.1F;
        std::vector<float> parameters = lively_parameters(spec);
        const std::vector<Token> batch = random_records(spec, 4);
        for (const Dtype precision : {Dtype::fp32, Dtype::bf16}) {
            const Found one = found_by(spec, {.matmul = precision}, parameters, batch);
            use_threads(2);
            const Found two = found_by(spec, {.matmul = precision}, parameters, batch);
            use_threads(1);
            QVERIFY(relative_distance(two.gradient, one.gradient) < (precision == Dtype::fp32 ? 1e-5 : 2e-2));
            QVERIFY(std::fabs(two.loss - one.loss) < 1e-3 * one.loss);
        }
    }

    void a_large_vocabulary_is_worked_off_in_parts() {
        model::ModelSpec spec = small_model();
        spec.vocabulary = 60'000;
        spec.width = 16;
        spec.context = 128;
        std::vector<float> parameters = lively_parameters(spec);
        const std::vector<Token> batch = random_records(spec, 2);  // 256 rows of 240 kB
        std::vector<float> plain(parameters.size());
        const double loss = plain_add_gradient(spec, parameters, batch, plain, 0.01).value();
        for (const Kernels kernels : {Kernels::own, Kernels::library}) {
            const Found fast = found_by(spec, {.kernels = kernels}, parameters, batch);
            QVERIFY(relative_distance(fast.gradient, plain) < 1e-5);
            QVERIFY(std::fabs(fast.loss - loss) < 1e-5 * loss);
        }
        // The last token is nobody's input: only its logit shows that it is no number.
        std::vector<Token> others = batch;
        for (Token& token : others) token = static_cast<Token>(token % 59'000);
        parameters[59'999 * 16] = std::numeric_limits<float>::infinity();
        for (const Kernels kernels : {Kernels::own, Kernels::library}) {
            const Found spoilt = found_by(spec, {.kernels = kernels}, parameters, others);
            QVERIFY(!std::isfinite(spoilt.loss));
            QVERIFY(spoilt.gradient == std::vector<float>(parameters.size()));
        }
    }

    void a_gradient_that_overflows_is_not_finite() {
        const model::ModelSpec spec = small_model();
        std::vector<float> parameters = lively_parameters(spec), gradient(parameters.size());
        const std::vector<Token> batch = random_records(spec, 1);
        Decoder decoder(spec, {.matmul = Dtype::fp16});
        QVERIFY(decoder.use_parameters(parameters).ok());
        QVERIFY(std::isfinite(decoder.add_gradient({.records = batch, .gradient = gradient, .scale = 64}).value()));
        const auto is_finite = [](float value) { return std::isfinite(value); };
        QVERIFY(std::all_of(gradient.begin(), gradient.end(), is_finite));
        QVERIFY(std::isfinite(decoder.add_gradient({.records = batch, .gradient = gradient, .scale = 1e9}).value()));
        QVERIFY(!std::all_of(gradient.begin(), gradient.end(), is_finite));
    }

    void gradients_of_micro_batches_sum_to_that_of_the_batch() {
        const model::ModelSpec spec = small_model();
        std::vector<float> parameters = lively_parameters(spec);
        const std::vector<Token> batch = random_records(spec, 4);
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

    void dropout_depends_on_its_seed_and_is_off_in_evaluation_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("heads");
        QTest::addColumn<bool>("library");
        QTest::newRow("gpt2") << "gelu" << 2 << false;
        QTest::newRow("gpt2 with odd heads") << "gelu" << 8 << false;
        QTest::newRow("gpt2 by the library") << "gelu" << 2 << true;
        QTest::newRow("opt") << "opt" << 2 << false;
        QTest::newRow("opt 350m") << "opt 350m" << 2 << false;
    }
    void dropout_depends_on_its_seed_and_is_off_in_evaluation() {
        QFETCH(const QString, name);
        QFETCH(const int, heads);
        QFETCH(const bool, library);
        model::ModelSpec spec = model_named(name);
        spec.heads = static_cast<std::uint32_t>(heads);
        spec.dropout = 0.2F;
        std::vector<float> parameters = lively_parameters(spec);
        const std::vector<Token> batch = random_records(spec, 2);
        const DecoderOptions options{.kernels = library ? Kernels::library : Kernels::own};
        const Found first = found_by(spec, options, parameters, batch, 1, 1),
                    again = found_by(spec, options, parameters, batch, 1, 1);
        QCOMPARE(again.loss, first.loss);
        QVERIFY(first.gradient == again.gradient);
        QVERIFY(found_by(spec, options, parameters, batch, 2, 1).loss != first.loss);
        Decoder decoder(spec, options);
        QVERIFY(decoder.use_parameters(parameters).ok());
        QCOMPARE(decoder.loss_sum(batch).value(), decoder.loss_sum(batch).value());

        // Along the gradient, the loss under the same mask rises by its square.
        double squares = 0;
        for (const float value : first.gradient) squares += static_cast<double>(value) * static_cast<double>(value);
        const double h = 1e-3 / std::sqrt(squares);
        const auto loss_at = [&](double step) {
            std::vector<float> moved = parameters;
            for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += static_cast<float>(step) * first.gradient[i];
            return found_by(spec, options, moved, batch, 1, 1).loss;
        };
        const double derivative = (loss_at(h) - loss_at(-h)) / (2 * h);
        QVERIFY2(std::fabs(derivative / squares - 1) < 0.05, qPrintable(QString::number(derivative / squares)));
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
