// The trainer beside PyTorch and transformers, as recorded by training/make_reference.py.
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>

#include "core/base/files.h"
#include "core/base/sha256.h"
#include "core/run/initial_state.h"
#include "core/run/sample_order.h"
#include "core/run/state_layout.h"
#include "core/training/device.h"
#include "core/training/decoder_plain.h"
#include "core/training/trainer.h"

using namespace potluck;
using namespace potluck::training;

namespace {

constexpr std::uint32_t batch = 3;
constexpr std::size_t steps = 10;

run::ModelSpec model(run::Activation activation) {
    run::ModelSpec spec;
    spec.vocabulary = 48;
    spec.context = 24;
    spec.layers = 2;
    spec.heads = 2;
    spec.width = 32;
    spec.activation = activation;
    return spec;
}

std::vector<float> initial(const run::ModelSpec& spec) {
    std::vector<float> values(spec.parameters());
    run::fill_initial_state(spec, 7, values);
    return values;
}

struct Reference {
    Bytes file;
    std::map<std::string, ByteSpan> tensors;

    explicit Reference(const QString& name) {
        const std::string folder = POTLUCK_SOURCE_DIR "/tests/golden/training/";
        const std::string path = folder + "reference_" + name.toStdString() + ".safetensors";
        file = read_file(path, 1 << 20).value();
        const auto entries = run::parse_safetensors_header(file, file.size()).value();
        const std::uint64_t start = 8 + ByteReader(file).u64();
        for (const run::SafetensorsEntry& entry : entries) {
            tensors[entry.name] = ByteSpan(file).subspan(start + entry.begin, entry.end - entry.begin);
        }
    }
    template <class T>
    [[nodiscard]] std::vector<T> values(const char* name) const {
        const ByteSpan bytes = tensors.at(name);
        std::vector<T> out(bytes.size() / sizeof(T));
        std::memcpy(out.data(), bytes.data(), bytes.size());
        return out;
    }
    [[nodiscard]] std::vector<Token> records() const {
        const auto wide = values<std::int32_t>("records");
        return {wide.begin(), wide.end()};
    }
    [[nodiscard]] std::vector<Token> first_batch() const {
        std::vector<Token> all = records();
        all.resize(all.size() / steps);
        return all;
    }
};

/// Largest difference, relative to the largest value expected.
double distance(std::span<const float> got, std::span<const float> expected) {
    double most = 1e-30, difference = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        most = std::max(most, std::fabs(static_cast<double>(expected[i])));
        difference = std::max(difference, std::fabs(static_cast<double>(got[i]) - static_cast<double>(expected[i])));
    }
    return got.size() == expected.size() ? difference / most : 1e30;
}

void compare_gradients(const run::ModelSpec& spec, std::span<const float> got, std::span<const float> expected,
                       double tolerance) {
    for (const run::TensorSpec& tensor : run::tensors_of(spec)) {
        // A key's bias moves all scores of a row alike: its true gradient is zero, and what is left is rounding.
        const std::size_t size = tensor.elements();
        std::vector<float> a(got.begin() + static_cast<std::ptrdiff_t>(tensor.offset),
                             got.begin() + static_cast<std::ptrdiff_t>(tensor.offset + size));
        std::vector<float> b(expected.begin() + static_cast<std::ptrdiff_t>(tensor.offset),
                             expected.begin() + static_cast<std::ptrdiff_t>(tensor.offset + size));
        const double error = distance(a, b);
        QVERIFY2(error <= tolerance, qPrintable(QString("%1: %2").arg(tensor.name.c_str()).arg(error)));
    }
}

/// Ten steps through the trainer, on a shard whose order gives the recorded batches.
std::vector<float> ten_steps(const run::ModelSpec& spec, const Reference& reference, std::vector<double>& losses) {
    const QTemporaryDir folder;
    const std::string path = folder.filePath("shard.bin").toStdString();
    const std::vector<Token> records = reference.records();
    const std::size_t length = spec.context + 1;
    std::vector<Token> shard(records.size());
    for (std::uint64_t n = 0; n < steps * batch; ++n) {
        const std::uint64_t place = run::record_at(5, {2}, PeerId{}, steps * batch, n);
        std::copy_n(&records[n * length], length, &shard[place * length]);
    }
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(shard.data()), static_cast<std::streamsize>(shard.size() * sizeof(Token)));

    run::Recipe recipe;
    recipe.batch = batch;
    recipe.clip_norm = 0.5;
    Trainer trainer = Trainer::create({.model = spec, .recipe = recipe, .options = {}, .threads = 1}).value();
    std::ranges::copy(initial(spec), trainer.parameters().begin());
    bool ok = trainer.start_from_parameters().ok();
    ok = ok && trainer.train_in({.key = {5, {2}, PeerId{}}, .shard_path = path, .records = steps * batch,
                                 .learning_rate = 3e-3}).ok();
    while (ok && trainer.totals().steps < steps) {
        const WindowTotals before = trainer.totals();
        ok = trainer.micro_step().ok();
        if (trainer.totals().steps > before.steps) {
            losses.push_back((trainer.totals().loss_sum - before.loss_sum) / (batch * spec.context));
        }
    }
    const std::span<const float> after = trainer.parameters();
    return {after.begin(), after.end()};
}

}  // namespace

class TrainingParityTest : public QObject {
    Q_OBJECT
private:
    static void add_rows() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("activation");
        QTest::newRow("gelu") << "gelu" << static_cast<int>(run::Activation::gelu_tanh);
        QTest::newRow("relu") << "relu" << static_cast<int>(run::Activation::relu);
    }

private slots:
    void initTestCase() { use_threads(1); }

    void the_initial_state_file_is_the_one_transformers_opened() {
        const run::ModelSpec spec = model(run::Activation::gelu_tanh);
        const run::StateLayout layout = run::state_layout(spec);
        const std::vector<float> values = initial(spec);
        Bytes file = layout.header;
        const ByteSpan content = std::as_bytes(std::span(values));
        file.insert(file.end(), content.begin(), content.end());
        const Reference reference("gelu");
        QVERIFY(as_text(reference.file).find(sha256(file).hex()) != std::string_view::npos);
    }

    void logits_match_data() { add_rows(); }
    void logits_match() {
        QFETCH(const QString, name);
        QFETCH(const int, activation);
        const run::ModelSpec spec = model(static_cast<run::Activation>(activation));
        const Reference reference(name);
        std::vector<float> parameters = initial(spec);
        Decoder decoder(spec, {});
        QVERIFY(decoder.use_parameters(parameters).ok());
        const std::vector<float> expected = reference.values<float>("logits");
        const std::vector<Token> records = reference.first_batch();
        for (std::size_t b = 0; b < batch; ++b) {
            const std::vector<std::uint32_t> tokens(&records[b * (spec.context + 1)],
                                                    &records[b * (spec.context + 1) + spec.context]);
            const std::vector<float> logits = decoder.logits(tokens).value();
            const std::span<const float> row = std::span(expected).subspan(b * logits.size(), logits.size());
            QVERIFY2(distance(logits, row) < 2e-6, qPrintable(QString::number(distance(logits, row))));
        }
    }

    void loss_and_every_gradient_match_data() { add_rows(); }
    void loss_and_every_gradient_match() {
        QFETCH(const QString, name);
        QFETCH(const int, activation);
        const run::ModelSpec spec = model(static_cast<run::Activation>(activation));
        const Reference reference(name);
        std::vector<float> parameters = initial(spec);
        const std::vector<Token> records = reference.first_batch();
        const double scale = 1.0 / (batch * spec.context);
        const double expected_loss = reference.values<double>("losses").front();

        std::vector<float> plain(parameters.size()), fast(parameters.size());
        const double plain_loss = plain_add_gradient(spec, parameters, records, plain, scale).value();
        QVERIFY(std::fabs(plain_loss * scale - expected_loss) < 2e-6);
        compare_gradients(spec, plain, reference.values<float>("gradient"), 2e-5);

        Decoder decoder(spec, {});
        QVERIFY(decoder.use_parameters(parameters).ok());
        const double loss = decoder.add_gradient({.records = records, .gradient = fast, .scale = scale}).value();
        QVERIFY(std::fabs(loss * scale - expected_loss) < 2e-6);
        QVERIFY(std::fabs(decoder.loss_sum(records).value() * scale - expected_loss) < 2e-6);
        compare_gradients(spec, fast, reference.values<float>("gradient"), 2e-5);
    }

    void ten_steps_of_adamw_end_where_pytorch_ends_data() { add_rows(); }
    void ten_steps_of_adamw_end_where_pytorch_ends() {
        QFETCH(const QString, name);
        QFETCH(const int, activation);
        const run::ModelSpec spec = model(static_cast<run::Activation>(activation));
        const Reference reference(name);
        std::vector<double> losses;
        const std::vector<float> after = ten_steps(spec, reference, losses);
        const std::vector<double> expected = reference.values<double>("losses");
        QCOMPARE(losses.size(), steps);
        for (std::size_t i = 0; i < steps; ++i) {
            QVERIFY2(std::fabs(losses[i] - expected[i]) < 2e-5, qPrintable(QString::number(losses[i] - expected[i])));
        }
        // Adam divides a gradient by its own size: where it is nothing but rounding, so is the step. Hence the mean.
        const std::vector<float> expected_after = reference.values<float>("after");
        double moved = 0, apart = 0;
        const std::vector<float> before = initial(spec);
        for (std::size_t i = 0; i < after.size(); ++i) {
            moved += std::fabs(static_cast<double>(expected_after[i]) - static_cast<double>(before[i]));
            apart += std::fabs(static_cast<double>(expected_after[i]) - static_cast<double>(after[i]));
        }
        QVERIFY2(apart < 2e-4 * moved, qPrintable(QString("%1 of %2").arg(apart).arg(moved)));
        Decoder decoder(spec, {});
        std::vector<float> copy = after;
        QVERIFY(decoder.use_parameters(copy).ok());
        const double loss = decoder.loss_sum(reference.first_batch()).value() / (batch * spec.context);
        QVERIFY2(std::fabs(loss - expected.back()) < 2e-5, qPrintable(QString::number(loss - expected.back())));
    }
};

QTEST_GUILESS_MAIN(TrainingParityTest)
#include "test_training_parity.moc"
