// One volunteer's training on a small model: flat operations, files, snapshot and rebase in every kind of memory,
// resuming, falling numbers, changing the layout on the way.
#include <QTemporaryDir>
#include <QTest>

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>

#include "core/base/rng.h"
#include "core/model/initial_state.h"
#include "core/run/sample_order.h"
#include "core/training/compute/device.h"
#include "core/training/kernels/flat.h"
#include "core/training/trainer.h"
#include "core/training/vector_file.h"
#include "tests/unit/training/small_model.h"

using namespace potluck;
using namespace potluck::training;
using potluck::model::Token;
using potluck::test::small_model;

namespace {

constexpr std::uint64_t records = 40;

/// Text in which most tokens follow from the one before.
std::vector<Token> toy_text(const model::ModelSpec& spec, std::uint64_t seed) {
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
    model::ModelSpec model = small_model();
    run::Recipe recipe;
    Layout layout;
    control::VectorFile file{folder.filePath("vector.bin").toStdString(), 0};

    Fixture() {
        recipe.batch = 4;
        write(toy_text(model, 3));
    }
    void write(const std::vector<Token>& text) const {
        std::ofstream(shard, std::ios::binary)
            << as_text(model::stored_tokens(text, model::token_width(model.vocabulary)));
    }
    [[nodiscard]] Trainer trainer() const {
        Trainer made = Trainer::create({.model = model,
                                        .recipe = recipe,
                                        .layout = layout,
                                        .threads = 1,
                                        .scratch = folder.path().toStdString()})
                           .value();
        if (!made.start_from(initial()).ok()) qFatal("no start");
        return made;
    }
    [[nodiscard]] std::vector<float> initial(std::uint64_t seed = 1) const {
        std::vector<float> values(model.parameters());
        model::fill_initial_state(model, seed, values);
        return values;
    }
    WindowTotals snapshot(Trainer& trainer) const { return trainer.snapshot(file).value(); }
    [[nodiscard]] bool rebase(Trainer& trainer, std::span<const float> next) const {
        VectorWriter writer = VectorWriter::open(file).value();
        return writer.write(next).ok() && writer.close().ok() && trainer.rebase(file).ok();
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

double relative_distance(std::span<const float> a, std::span<const float> b) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
        size += std::pow(static_cast<double>(b[i]), 2);
    }
    return std::sqrt(difference / size);
}

}  // namespace

class LocalTrainingTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { use_threads(1); }

    void threads_change_nothing_in_a_norm() {
        const std::size_t size = 5'000'011;
        std::vector<float> g(size);
        Rng rng(1);
        for (float& value : g) value = static_cast<float>(rng.unit() - 0.5);
        std::vector<std::uint16_t> bits(size);
        for (std::size_t i = 0; i < size; ++i) {
            bits[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(g[i]) >> 16U);
        }
        QVERIFY(std::fabs(sum_of_squares(g, 1) - sum_of_squares(g, 3)) < 1e-6);
        QVERIFY(std::fabs(sum_of_squares(bits, 3) / sum_of_squares(g, 3) - 1) < 0.01);
        g[4'999'999] = std::numeric_limits<float>::quiet_NaN();
        QVERIFY(!std::isfinite(sum_of_squares(g, 3)));
    }

    void loss_falls_on_a_toy_text() {
        const Fixture fixture;
        Trainer trainer = fixture.trainer();
        QVERIFY(trainer.train_in(fixture.place()).ok());
        steps(trainer, 5);
        const double first = fixture.snapshot(trainer).mean_loss();
        steps(trainer, 150);
        (void)fixture.snapshot(trainer);
        steps(trainer, 20);
        const double last = fixture.snapshot(trainer).mean_loss();
        QVERIFY2(first > 3.3 && last < 1.8, qPrintable(QString("%1 to %2").arg(first).arg(last)));
    }

    void rebase_keeps_what_was_trained_since_the_anchor() {
        const Fixture fixture;
        Trainer trainer = fixture.trainer();
        QVERIFY(trainer.train_in(fixture.place()).ok());
        steps(trainer, 3);
        const std::vector<float> published = trainer.parameters();
        const WindowTotals totals = fixture.snapshot(trainer);
        QCOMPARE(totals.steps, 3U);
        QCOMPARE(totals.tokens, 3U * 4 * 16);
        QCOMPARE(trainer.totals().tokens, 0U);
        steps(trainer, 2);
        const std::vector<float> drifted = trainer.parameters();
        std::vector<float> next = published;
        for (float& value : next) value += 0.25F;
        QVERIFY(fixture.rebase(trainer, next));
        for (std::size_t i = 0; i < next.size(); ++i) {
            QCOMPARE(trainer.parameters()[i], drifted[i] + (next[i] - published[i]));
        }
        QCOMPARE(trainer.totals().steps, 2U);
        QVERIFY(fixture.rebase(trainer, next));  // the anchor is `next`: nothing moves
        for (std::size_t i = 0; i < next.size(); ++i) {
            QCOMPARE(trainer.parameters()[i], drifted[i] + (next[i] - published[i]));
        }
    }

    void a_rebase_right_after_a_snapshot_is_the_new_state() {
        const Fixture fixture;
        Trainer trainer = fixture.trainer();
        QVERIFY(trainer.train_in(fixture.place()).ok());
        steps(trainer, 2);
        (void)fixture.snapshot(trainer);
        std::vector<float> next(fixture.model.parameters());
        next = fixture.initial(77);
        QVERIFY(fixture.rebase(trainer, next));
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
        const std::vector<float> good = trainer.parameters();
        std::vector<float> poisoned = good;
        poisoned[0] = std::numeric_limits<float>::infinity();  // of token 0's embedding
        QVERIFY(trainer.start_from(poisoned).ok());
        for (int i = 0; i < 8; ++i) QVERIFY(trainer.micro_step().ok());
        QCOMPARE(trainer.totals().steps, 1U);
        QCOMPARE(trainer.totals().tokens, 64U);
        QVERIFY(trainer.totals().dropped_batches > 0);
        QVERIFY(trainer.parameters() == poisoned);
        QVERIFY(trainer.start_from(good).ok());
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

    void tokens_beyond_16_bits_are_read_and_learnt() {
        Fixture fixture;
        fixture.model.vocabulary = 70'000;
        fixture.model.width = 16;
        std::vector<Token> text = toy_text(small_model(), 3);
        for (Token& token : text) token += 69'968;
        fixture.write(text);
        const auto shard = Shard::open(fixture.shard, {records, fixture.model.context, fixture.model.vocabulary});
        QVERIFY(shard.ok());
        std::vector<Token> record;
        QVERIFY(shard->append_record(3, record).ok());
        QVERIFY(std::equal(record.begin(), record.end(), text.begin() + 3 * (fixture.model.context + 1)));
        QVERIFY(!Shard::open(fixture.shard, {records, fixture.model.context, 65'536}).ok());

        Trainer trainer = fixture.trainer();
        QVERIFY(trainer.train_in(fixture.place()).ok());
        steps(trainer, 1);
        const double first = trainer.totals().loss_sum;
        QVERIFY(std::abs(trainer.totals().mean_loss() - std::log(70'000.0)) < 0.5);
        steps(trainer, 60);
        const double others = (trainer.totals().loss_sum - first) / 60;
        QVERIFY2(others < 0.9 * first, std::to_string(others / first).c_str());
    }

    void micro_batches_are_equal_parts_within_the_aim() {
        QCOMPARE(Trainer::micro_batch_size(8, 0, 0.06), 1U);
        QCOMPARE(Trainer::micro_batch_size(8, 0.001, 0.06), 8U);
        QCOMPARE(Trainer::micro_batch_size(8, 0.012, 0.06), 4U);  // five fit: two parts of four
        QCOMPARE(Trainer::micro_batch_size(8, 10.0, 0.06), 1U);
        QCOMPARE(Trainer::micro_batch_size(1, 0.001, 0.06), 1U);
    }

    void a_vector_file_keeps_what_lies_before_its_offset() {
        const QTemporaryDir folder;
        const control::VectorFile file{folder.filePath("v").toStdString(), 8};
        std::ofstream(file.path, std::ios::binary) << "headhead";
        const auto write = [](const control::VectorFile& to, const std::vector<float>& values) {
            Result<VectorWriter> writer = VectorWriter::open(to);
            return writer.ok() && writer->write(values).ok() && writer->close().ok();
        };
        const std::vector<float> values = {1, 2, 3};
        QVERIFY(write(file, values));
        std::vector<float> back(3);
        QVERIFY(VectorReader::open(file, 3).value().read(back).ok());
        QVERIFY(back == values);
        QVERIFY(check_vector(file, 4).error().code == ErrorCode::malformed);
        QVERIFY(check_vector({file.path, 9}, 3).error().code == ErrorCode::malformed);
        QVERIFY(check_vector({file.path + "no", 0}, 3).error().code == ErrorCode::not_found);
        std::string head(4, ' ');
        std::ifstream(file.path, std::ios::binary).read(head.data(), 4);
        QCOMPARE(head, std::string("head"));
        for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
            QVERIFY(write(file, {1, bad, 3}));
            QVERIFY(check_vector(file, 3).error().code == ErrorCode::malformed);
        }
        QVERIFY(!write({folder.filePath("no/such/folder").toStdString(), 0}, values));
    }

    void every_layout_learns_the_toy_text_data() {
        QTest::addColumn<int>("weights");
        QTest::addColumn<int>("gradient");
        QTest::addColumn<int>("anchor");
        QTest::addColumn<int>("bits");
        for (const Dtype weights : {Dtype::fp32, Dtype::bf16}) {
            for (const Dtype gradient : {Dtype::fp32, Dtype::bf16}) {
                for (const Residency anchor : {Residency::host, Residency::disk}) {
                    for (const int bits : {8, 32}) {
                        QTest::addRow("%s %s %s %d", name_of(weights), name_of(gradient),
                                      anchor == Residency::disk ? "disk" : "memory", bits)
                            << static_cast<int>(weights) << static_cast<int>(gradient) << static_cast<int>(anchor)
                            << bits;
                    }
                }
            }
        }
    }
    void every_layout_learns_the_toy_text() {
        QFETCH(const int, weights);
        QFETCH(const int, gradient);
        QFETCH(const int, anchor);
        QFETCH(const int, bits);
        Fixture fixture;
        fixture.layout.weights = static_cast<Dtype>(weights);
        fixture.layout.gradient = static_cast<Dtype>(gradient);
        fixture.layout.anchor = static_cast<Residency>(anchor);
        fixture.layout.state_bits = static_cast<std::uint32_t>(bits);
        Trainer trainer = fixture.trainer();
        QVERIFY(trainer.train_in(fixture.place()).ok());
        steps(trainer, 150);
        (void)fixture.snapshot(trainer);
        const std::vector<float> published = trainer.parameters();
        steps(trainer, 20);
        const double loss = trainer.totals().mean_loss();
        QVERIFY2(loss < 1.9, qPrintable(QString::number(loss)));
        // L + (next - M): what was trained since the snapshot stays, and the anchor is exactly `next`.
        const std::vector<float> drifted = trainer.parameters();
        std::vector<float> next = published;
        for (float& value : next) value += 0.25F;
        QVERIFY(fixture.rebase(trainer, next));
        const std::vector<float> moved = trainer.parameters();
        const double rounding = fixture.layout.weights == Dtype::bf16 ? 1.0 / 128 : 1e-6;
        for (std::size_t i = 0; i < next.size(); ++i) {
            const double expected = static_cast<double>(drifted[i]) + 0.25;
            QVERIFY(std::fabs(static_cast<double>(moved[i]) - expected) <= rounding * (std::fabs(expected) + 0.3));
        }
        QVERIFY(fixture.rebase(trainer, next));
        QVERIFY(trainer.parameters() == moved);
    }

    void every_precision_learns_the_toy_text() {
        for (const Dtype matmul : {Dtype::fp32, Dtype::bf16, Dtype::fp16}) {
            Fixture fixture;
            fixture.layout.matmul = matmul;
            Trainer trainer = fixture.trainer();
            QVERIFY(trainer.train_in(fixture.place()).ok());
            steps(trainer, 150);
            (void)fixture.snapshot(trainer);
            steps(trainer, 20);
            QVERIFY2(trainer.totals().mean_loss() < 1.9, name_of(matmul));
            QCOMPARE(trainer.totals().dropped_batches, 0U);
        }
    }

    void lamb_learns_the_toy_text_with_either_number_of_bits() {
        for (const std::uint32_t bits : {8U, 32U}) {
            Fixture fixture;
            fixture.recipe.optimizer = run::Optimizer::lamb;
            fixture.layout.state_bits = bits;
            Trainer trainer = fixture.trainer();
            TrainingPlace place = fixture.place();
            place.learning_rate = 3e-2;
            QVERIFY(trainer.train_in(place).ok());
            steps(trainer, 150);
            (void)fixture.snapshot(trainer);
            steps(trainer, 20);
            const double loss = trainer.totals().mean_loss();
            QVERIFY2(loss < 2.0, qPrintable(QString::number(loss)));
        }
    }

    void lambs_debiasing_follows_the_recipe() {
        const auto moved = [](run::LambDebias way) {
            Fixture fixture;
            fixture.recipe.optimizer = run::Optimizer::lamb;
            fixture.recipe.lamb_debias = way;
            Trainer trainer = fixture.trainer();
            if (!trainer.train_in(fixture.place()).ok()) return 0.0;
            steps(trainer, 1);
            const std::vector<float> before = fixture.initial(), after = trainer.parameters();
            double squares = 0;
            for (std::size_t i = 0; i < before.size(); ++i) {
                const double difference = static_cast<double>(after[i]) - static_cast<double>(before[i]);
                squares += difference * difference;
            }
            return std::sqrt(squares);
        };
        // sqrt(1 - 0.95) / (1 - 0.9)
        const double ratio = moved(run::LambDebias::rate) / moved(run::LambDebias::none);
        QVERIFY2(std::abs(ratio - 2.236) < 0.01, qPrintable(QString::number(ratio)));
    }

    void an_overflowing_fp16_step_is_skipped_and_the_scale_halved() {
        Fixture fixture;
        fixture.layout.matmul = Dtype::fp16;
        Trainer trainer = fixture.trainer();
        QVERIFY(trainer.train_in(fixture.place()).ok());
        std::vector<float> large = fixture.initial();
        for (float& value : large) value *= 40;  // gradients leave fp16's range at the first scale
        QVERIFY(trainer.start_from(large).ok());
        for (int i = 0; i < 400 && trainer.totals().steps == 0; ++i) QVERIFY(trainer.micro_step().ok());
        QVERIFY(trainer.totals().dropped_batches > 0);
        QVERIFY(trainer.totals().steps > 0);
        for (const float value : trainer.parameters()) QVERIFY(std::isfinite(value));
    }

    void a_trainer_goes_on_in_another_layout() {
        Fixture fixture;
        Trainer trainer = fixture.trainer();
        QVERIFY(trainer.train_in(fixture.place()).ok());
        steps(trainer, 60);
        (void)fixture.snapshot(trainer);
        const std::vector<float> before = trainer.parameters();
        Layout small = fixture.layout;
        small.checkpointing = Checkpointing::full;
        small.micro_batch = 1;
        small.anchor = Residency::disk;
        QVERIFY(trainer.follow(small).ok());
        QVERIFY(trainer.parameters() == before);
        steps(trainer, 60);
        small.weights = Dtype::bf16;
        small.gradient = Dtype::bf16;
        QVERIFY(trainer.follow(small).ok());
        steps(trainer, 40);
        (void)fixture.snapshot(trainer);
        steps(trainer, 10);
        QVERIFY2(trainer.totals().mean_loss() < 1.9, qPrintable(QString::number(trainer.totals().mean_loss())));
        QVERIFY(fixture.rebase(trainer, before));
    }

    void stochastic_rounding_is_right_on_average() {
        const std::size_t size = 20'000;
        std::vector<std::uint16_t> local(size, 0x3F80);  // 1.0; the next bf16 is 1.0078125
        std::vector<float> anchor(size, 0.0F), next(size, 0.002F);
        rebase(local, anchor, next, RoundingKey{.seed = 5, .first = 0});
        double up = 0;
        for (const std::uint16_t half : local) {
            QVERIFY(half == 0x3F80 || half == 0x3F81);
            up += half - 0x3F80;
        }
        const double share = up / static_cast<double>(size);
        QVERIFY2(std::fabs(share - 0.256) < 0.02, qPrintable(QString::number(share)));
    }

    void the_loss_scale_grows_slowly_and_falls_at_once() {
        LossScale plain(Dtype::bf16);
        plain.step_overflowed();
        QCOMPARE(plain.factor(), 1.0);
        LossScale scale(Dtype::fp16);
        QCOMPARE(scale.factor(), 65'536.0);
        for (std::uint32_t i = 0; i + 1 < LossScale::growth_after; ++i) scale.step_was_finite();
        QCOMPARE(scale.factor(), 65'536.0);
        scale.step_was_finite();
        QCOMPARE(scale.factor(), 131'072.0);
        scale.step_overflowed();
        QCOMPARE(scale.factor(), 65'536.0);
        for (int i = 0; i < 100; ++i) scale.step_overflowed();
        QVERIFY(scale.factor() >= 1);
    }
};

QTEST_GUILESS_MAIN(LocalTrainingTest)
#include "test_local_training.moc"
