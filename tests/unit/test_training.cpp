// The trainer's arithmetic and algebra on small models: flat steps, activations, agreement of the fast model with the
// plain one, snapshot and rebase, resuming, samples.
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <fstream>
#include <limits>

#include "core/run/initial_state.h"
#include "core/run/sample_order.h"
#include "core/training/device.h"
#include "core/training/elementwise.h"
#include "core/training/decoder_plain.h"
#include "core/training/sampler.h"
#include "core/training/trainer.h"
#include "core/training/vector_file.h"

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

struct Fixture {
    QTemporaryDir folder;
    std::string shard = folder.filePath("shard.bin").toStdString();
    run::ModelSpec model = small_model();
    run::Recipe recipe;
    DecoderOptions options;

    Fixture() {
        recipe.batch = 4;
        write(toy_text(model, 3));
    }
    void write(const std::vector<Token>& text) const {
        std::ofstream(shard, std::ios::binary)
            .write(reinterpret_cast<const char*>(text.data()),
                   static_cast<std::streamsize>(text.size() * sizeof(Token)));
    }
    [[nodiscard]] Trainer trainer() const {
        Trainer made = Trainer::create({.model = model, .recipe = recipe, .options = options, .threads = 1}).value();
        run::fill_initial_state(model, 1, made.parameters());
        if (!made.start_from_parameters().ok()) qFatal("no start");
        return made;
    }
    [[nodiscard]] TrainingPlace place(std::uint64_t round = 0) const {
        TrainingPlace made;
        made.key = {9, {round}, PeerId{}};
        made.shard_path = shard;
        made.records = records;
        made.learning_rate = 3e-3;
        return made;
    }
};

void steps(Trainer& trainer, std::uint64_t count) {
    const std::uint64_t end = trainer.totals().steps + count;
    while (trainer.totals().steps < end) {
        if (!trainer.micro_step().ok()) qFatal("a micro-step failed");
    }
}

std::vector<float> copy_of(std::span<const float> values) { return {values.begin(), values.end()}; }

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

    void adamw_does_what_its_formula_says() {
        std::vector<float> p = {1, -2, 3}, g = {0.5F, -1, 0}, m(3), v(3);
        const std::vector<DecaySegment> segments = {{0, 2, 0.1}, {2, 3, 0}};
        adamw_step({p, g, m, v}, segments, {.learning_rate = 0.01, .step = 1, .gradient_scale = 0.5}, 1);
        // First step: mean and root of the variance cancel to the gradient's sign.
        QVERIFY(std::fabs(p[0] - (1 * (1 - 0.001F) - 0.01F)) < 1e-6F);
        QVERIFY(std::fabs(p[1] - (-2 * (1 - 0.001F) + 0.01F)) < 1e-6F);
        QCOMPARE(p[2], 3.0F);
        QVERIFY(std::fabs(m[0] - 0.025F) < 1e-7F);
        QVERIFY(std::fabs(v[1] - 0.0125F) < 1e-7F);
    }

    void threads_change_nothing_in_a_step() {
        const std::size_t size = 5'000'011;
        std::vector<float> p1(size), g(size), m1(size), v1(size);
        Rng rng(1);
        for (std::size_t i = 0; i < size; ++i) {
            p1[i] = static_cast<float>(rng.unit());
            g[i] = static_cast<float>(rng.unit() - 0.5);
        }
        std::vector<float> p2 = p1, m2 = m1, v2 = v1;
        const std::vector<DecaySegment> segments = {{0, 3'000'001, 0.1}, {3'000'001, size, 0}};
        adamw_step({p1, g, m1, v1}, segments, {.learning_rate = 0.01}, 1);
        adamw_step({p2, g, m2, v2}, segments, {.learning_rate = 0.01}, 3);
        QVERIFY(p1 == p2 && m1 == m2 && v1 == v2);
        QVERIFY(std::fabs(sum_of_squares(g, 1) - sum_of_squares(g, 3)) < 1e-6);
        g[4'999'999] = std::numeric_limits<float>::quiet_NaN();
        QVERIFY(!std::isfinite(sum_of_squares(g, 3)));
    }

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

    void loss_falls_on_a_toy_text() {
        const Fixture fixture;
        Trainer trainer = fixture.trainer();
        QVERIFY(trainer.train_in(fixture.place()).ok());
        steps(trainer, 5);
        const double first = trainer.mark().mean_loss();
        steps(trainer, 150);
        (void)trainer.mark();
        steps(trainer, 20);
        const double last = trainer.mark().mean_loss();
        QVERIFY2(first > 3.3 && last < 1.8, qPrintable(QString("%1 to %2").arg(first).arg(last)));
    }

    void rebase_keeps_what_was_trained_since_the_mark() {
        const Fixture fixture;
        Trainer trainer = fixture.trainer();
        QVERIFY(trainer.train_in(fixture.place()).ok());
        steps(trainer, 3);
        const std::vector<float> published = copy_of(trainer.parameters());
        const WindowTotals totals = trainer.mark();
        QCOMPARE(totals.steps, 3U);
        QCOMPARE(totals.tokens, 3U * 4 * 16);
        QCOMPARE(trainer.totals().tokens, 0U);
        steps(trainer, 2);
        const std::vector<float> drifted = copy_of(trainer.parameters());
        std::vector<float> next = published;
        for (float& value : next) value += 0.25F;
        QVERIFY(trainer.rebase_on(next).ok());
        for (std::size_t i = 0; i < next.size(); ++i) {
            QCOMPARE(trainer.parameters()[i], drifted[i] + (next[i] - published[i]));
        }
        QCOMPARE(trainer.totals().steps, 2U);
        QVERIFY(trainer.rebase_on(next).ok());  // the mark is `next`: nothing moves
        for (std::size_t i = 0; i < next.size(); ++i) {
            QCOMPARE(trainer.parameters()[i], drifted[i] + (next[i] - published[i]));
        }
    }

    void a_rebase_right_after_a_snapshot_is_the_new_state() {
        const Fixture fixture;
        Trainer trainer = fixture.trainer();
        QVERIFY(trainer.train_in(fixture.place()).ok());
        steps(trainer, 2);
        (void)trainer.mark();
        std::vector<float> next(fixture.model.parameters());
        run::fill_initial_state(fixture.model, 77, next);
        QVERIFY(trainer.rebase_on(next).ok());
        // L + (new - M) with M = L rounds once, so the last bits may differ.
        QVERIFY(relative_distance(trainer.parameters(), next) < 1e-6);
    }

    void training_goes_on_in_the_order_of_samples() {
        const Fixture fixture;
        const ShardShape shape{records, fixture.model.context, fixture.model.vocabulary};
        const Shard shard = Shard::open(fixture.shard, shape).value();
        const OrderKey key{9, {2}, PeerId{}};
        std::vector<Token> all, late;
        SampleReader whole(Shard::open(fixture.shard, shard.shape()).value(), key, 0);
        QVERIFY(whole.read(100, all).ok());  // past the end: the next epoch
        SampleReader resumed(Shard::open(fixture.shard, shard.shape()).value(), key, 60);
        QVERIFY(resumed.read(40, late).ok());
        QVERIFY(std::equal(late.begin(), late.end(), all.end() - static_cast<std::ptrdiff_t>(late.size())));
        QCOMPARE(resumed.position(), 100U);
        std::vector<Token> record;
        QVERIFY(shard.append_record(run::record_at(9, {2}, PeerId{}, records, 99), record).ok());
        QVERIFY(std::equal(record.rbegin(), record.rend(), all.rbegin()));
    }

    void the_same_train_request_again_goes_on_and_another_begins() {
        const Fixture fixture;
        Trainer trainer = fixture.trainer();
        QVERIFY(trainer.train_in(fixture.place()).ok());
        steps(trainer, 2);
        const std::uint64_t position = trainer.position();
        QVERIFY(position >= 8);
        QVERIFY(trainer.train_in(fixture.place()).ok());
        QCOMPARE(trainer.position(), position);
        TrainingPlace next = fixture.place(1);
        next.from_record = 5;
        QVERIFY(trainer.train_in(next).ok());
        QCOMPARE(trainer.position(), 5U);
    }

    void a_batch_that_is_no_number_is_dropped_and_not_counted() {
        const Fixture fixture;
        Trainer trainer = fixture.trainer();
        QVERIFY(trainer.train_in(fixture.place()).ok());
        steps(trainer, 1);
        const std::vector<float> good = copy_of(trainer.parameters());
        trainer.parameters()[0] = std::numeric_limits<float>::infinity();  // of token 0's embedding
        std::vector<float> poisoned = copy_of(trainer.parameters());
        const WindowTotals before = trainer.totals();
        for (int i = 0; i < 8; ++i) QVERIFY(trainer.micro_step().ok());
        QCOMPARE(trainer.totals().steps, before.steps);
        QCOMPARE(trainer.totals().tokens, before.tokens);
        QVERIFY(trainer.totals().dropped_batches > 0);
        QVERIFY(copy_of(trainer.parameters()) == poisoned);
        trainer.parameters()[0] = good[0];
        steps(trainer, 1);
        QVERIFY(std::isfinite(trainer.totals().mean_loss()));
    }

    void a_shard_that_is_not_what_it_should_be_is_refused() {
        const Fixture fixture;
        Trainer trainer = fixture.trainer();
        TrainingPlace place = fixture.place();
        place.records = records + 1;
        QVERIFY(trainer.train_in(place).error().code == ErrorCode::malformed);
        place.shard_path += ".missing";
        QVERIFY(!trainer.train_in(place).ok());
        std::vector<Token> text = toy_text(fixture.model, 3);
        for (Token& token : text) token = 32;  // the vocabulary ends at 31
        fixture.write(text);
        QVERIFY(trainer.train_in(fixture.place()).ok());
        QVERIFY(trainer.micro_step().error().code == ErrorCode::malformed);
    }

    void micro_batches_are_equal_parts_within_the_aim() {
        QCOMPARE(Trainer::micro_batch_size(8, 0), 1U);
        QCOMPARE(Trainer::micro_batch_size(8, 0.001), 8U);
        QCOMPARE(Trainer::micro_batch_size(8, 0.012), 4U);   // five fit: two parts of four
        QCOMPARE(Trainer::micro_batch_size(8, 10.0), 1U);
        QCOMPARE(Trainer::micro_batch_size(1, 0.001), 1U);
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

    void a_vector_file_keeps_what_lies_before_its_offset() {
        const QTemporaryDir folder;
        const control::VectorFile file{folder.filePath("v").toStdString(), 8};
        std::ofstream(file.path, std::ios::binary) << "headhead";
        const std::vector<float> values = {1, 2, 3};
        QVERIFY(write_vector(file, values).ok());
        std::vector<float> back(3), longer(4);
        QVERIFY(read_vector(file, back).ok());
        QVERIFY(back == values);
        QVERIFY(read_vector(file, longer).error().code == ErrorCode::malformed);
        std::string head(4, ' ');
        std::ifstream(file.path, std::ios::binary).read(head.data(), 4);
        QCOMPARE(head, std::string("head"));
        QVERIFY(write_vector(file, std::vector<float>{1, std::numeric_limits<float>::infinity(), 3}).ok());
        QVERIFY(read_vector(file, back).error().code == ErrorCode::malformed);
        QVERIFY(!write_vector({folder.filePath("no/such/folder").toStdString(), 0}, values).ok());
    }
};

QTEST_GUILESS_MAIN(TrainingTest)
#include "test_training.moc"
