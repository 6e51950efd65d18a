// ALBERT beside PyTorch and transformers, as recorded by training/make_albert_reference.py.
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/mix.h"
#include "core/base/sha256.h"
#include "core/model/hf_config.h"
#include "core/model/initial_state.h"
#include "core/model/state_layout.h"
#include "core/run/sample_order.h"
#include "core/training/compute/device.h"
#include "core/training/encoder/encoder.h"
#include "core/training/encoder/masking.h"
#include "core/training/trainer.h"

using namespace potluck;
using namespace potluck::training;
using potluck::model::Token;

namespace {

constexpr std::uint32_t batch = 3;
constexpr std::size_t steps = 10;
constexpr std::uint64_t run_seed = 5, round_number = 2;
const std::string folder = POTLUCK_SOURCE_DIR "/tests/golden/training/";

model::ModelSpec recorded_model() {
    model::ModelSpec spec;
    spec.family = model::Family::albert;
    spec.vocabulary = 97;
    spec.context = 24;
    spec.layers = 3;
    spec.heads = 4;
    spec.width = 32;
    spec.albert = {.embedding = 16, .inner = 64};
    return spec;
}

struct Reference {
    model::ModelSpec spec = recorded_model();
    Bytes file = read_file(folder + "reference_albert.safetensors", 1 << 20).value();
    std::map<std::string, ByteSpan> tensors;

    Reference() {
        const auto entries = model::parse_safetensors_header(file, file.size()).value();
        const std::uint64_t start = 8 + ByteReader(file).u64();
        for (const model::SafetensorsEntry& entry : entries) {
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
    [[nodiscard]] std::vector<float> initial() const {
        std::vector<float> out(spec.parameters());
        model::fill_initial_state(spec, 7, out);
        for (const model::TensorSpec& tensor : model::tensors_of(spec)) {
            if (tensor.shape.size() < 2) continue;
            for (std::uint64_t i = 0; i < tensor.elements(); ++i) out[tensor.offset + i] *= 4;
        }
        return out;
    }
    [[nodiscard]] static std::uint64_t seed() { return mix64(run_seed ^ mix64(~round_number)); }
};

double length(std::span<const float> values) {
    double sum = 1e-60;
    for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
    return std::sqrt(sum);
}

double distance(std::span<const float> got, std::span<const float> expected, double scale) {
    if (got.size() != expected.size()) return 1e30;
    std::vector<float> difference(expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) difference[i] = got[i] - expected[i];
    return length(difference) / scale;
}

/// A key's bias moves all scores of a row alike: its true gradient is zero, and what is left is rounding.
bool is_key_bias(const model::TensorSpec& tensor) { return tensor.name.ends_with("attention.key.bias"); }

}  // namespace

class AlbertParityTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { use_threads(1); }

    void our_config_is_the_one_that_transformers_opened() {
        const auto recorded = read_file(folder + "config_albert.json", 1 << 16).value();
        QVERIFY(nlohmann::json::parse(as_text(recorded)) == model::hugging_face_config(recorded_model()));
        QVERIFY(model::parse_hugging_face_config(recorded).value() == recorded_model());
    }

    void gaps_and_orders_are_those_that_python_draws() {
        const Reference reference;
        const auto examples = mask_records(reference.spec, reference.first_batch(), Reference::seed(), 0);
        QVERIFY(examples.ok());
        const auto expected = reference.values<std::int32_t>("ids");
        QVERIFY(std::equal(examples->ids.begin(), examples->ids.end(), expected.begin(), expected.end()));
    }

    void losses_scores_and_gradients_are_pytorchs_data() {
        QTest::addColumn<int>("checkpointing");
        QTest::newRow("everything kept") << static_cast<int>(Checkpointing::none);
        QTest::newRow("computed again") << static_cast<int>(Checkpointing::full);
    }
    void losses_scores_and_gradients_are_pytorchs() {
        QFETCH(const int, checkpointing);
        const Reference reference;
        std::vector<float> parameters = reference.initial();
        Encoder encoder(reference.spec, {.checkpointing = static_cast<Checkpointing>(checkpointing)});
        QVERIFY(encoder.use_parameters(parameters).ok());
        const std::vector<Token> records = reference.first_batch();
        const auto found = encoder.pair_sums(records, Reference::seed(), 0);
        QVERIFY2(found.ok(), found ? "" : found.error().message.c_str());
        const auto parts = reference.values<double>("parts");
        QVERIFY(std::abs(found->gaps / batch - parts[0]) < 2e-6);
        QVERIFY(std::abs(found->order / batch - parts[1]) < 2e-6);

        std::vector<float> gradient(parameters.size(), 0.0F);
        const double scale = 1.0 / (batch * reference.spec.context);
        const auto loss = encoder.add_gradient(
            {.records = records, .gradient = gradient, .scale = scale, .record_seed = Reference::seed()});
        QVERIFY2(loss.ok(), loss ? "" : loss.error().message.c_str());
        QVERIFY(std::abs(*loss * scale - parts[0] - parts[1]) < 2e-6);
        const auto expected = reference.values<float>("gradient");
        double worst = 0;
        for (const model::TensorSpec& tensor : model::tensors_of(reference.spec)) {
            const auto a = std::span(gradient).subspan(tensor.offset, tensor.elements());
            const auto b = std::span(expected).subspan(tensor.offset, tensor.elements());
            const double error = distance(a, b, length(is_key_bias(tensor) ? std::span<const float>(expected) : b));
            worst = std::max(worst, error);
            QVERIFY2(error <= 1e-5, qPrintable(QString("%1: %2").arg(tensor.name.c_str()).arg(error)));
        }
        qInfo("worst gradient: %g of its tensor's length", worst);
    }

    void a_gap_is_scored_as_by_transformers() {
        const Reference reference;
        std::vector<float> parameters = reference.initial();
        Encoder encoder(reference.spec, {});
        QVERIFY(encoder.use_parameters(parameters).ok());
        const auto examples = mask_records(reference.spec, reference.first_batch(), Reference::seed(), 0).value();
        const std::vector<std::uint32_t> first(examples.ids.begin(), examples.ids.begin() + examples.lengths[0]);
        const auto scores = encoder.next_logits(first);
        QVERIFY2(scores.ok(), scores ? "" : scores.error().message.c_str());
        const auto expected = reference.values<float>("gap_scores");
        QVERIFY(distance(*scores, expected, length(expected)) < 2e-6);
    }

    void products_in_16_bits_are_refused() {
        Layout layout;
        layout.matmul = Dtype::bf16;
        const auto refused = Trainer::create({.model = recorded_model(), .recipe = {}, .layout = layout, .threads = 1});
        QVERIFY(!refused.ok() && refused.error().code == ErrorCode::invalid_argument);
    }

    void ten_steps_end_where_pytorchs_end() {
        const Reference reference;
        const QTemporaryDir place;
        const std::string path = place.filePath("shard.bin").toStdString();
        const std::vector<Token> records = reference.records();
        const std::size_t size = reference.spec.context + 1;
        std::vector<Token> shard(records.size());
        for (std::uint64_t n = 0; n < steps * batch; ++n) {
            const std::uint64_t at = run::record_at(run_seed, {round_number}, PeerId{}, steps * batch, n);
            std::copy_n(&records[n * size], size, &shard[at * size]);
        }
        std::ofstream(path, std::ios::binary)
            << as_text(model::stored_tokens(shard, model::token_width(reference.spec.vocabulary)));
        run::Recipe recipe;
        recipe.batch = batch;
        recipe.clip_norm = 0.5;
        Layout layout;
        layout.state_bits = 32;
        Trainer trainer =
            Trainer::create({.model = reference.spec, .recipe = recipe, .layout = layout, .threads = 1}).value();
        QVERIFY(trainer.start_from(reference.initial()).ok());
        QVERIFY(trainer
                    .train_in({.key = {run_seed, {round_number}, PeerId{}},
                               .shard_path = path,
                               .records = steps * batch,
                               .learning_rate = 3e-3})
                    .ok());
        const auto losses = reference.values<double>("losses");
        while (trainer.totals().steps < steps) {
            const WindowTotals before = trainer.totals();
            QVERIFY(trainer.micro_step().ok());
            if (trainer.totals().steps == before.steps) continue;
            const double loss = (trainer.totals().loss_sum - before.loss_sum) / (batch * reference.spec.context);
            QVERIFY2(std::abs(loss - losses[before.steps]) < 5e-6, std::to_string(loss).c_str());
        }
        const auto after = trainer.parameters(), start = reference.initial();
        const auto expected = reference.values<float>("after");
        double moved = 0, apart = 0;
        for (const model::TensorSpec& tensor : model::tensors_of(reference.spec)) {
            if (is_key_bias(tensor)) continue;
            for (std::uint64_t i = tensor.offset; i < tensor.offset + tensor.elements(); ++i) {
                moved += std::fabs(static_cast<double>(expected[i]) - static_cast<double>(start[i]));
                apart += std::fabs(static_cast<double>(expected[i]) - static_cast<double>(after[i]));
            }
        }
        qInfo("ten steps: %g of the way apart", apart / moved);
        QVERIFY2(apart / moved < 1e-4, std::to_string(apart / moved).c_str());
    }
};

QTEST_GUILESS_MAIN(AlbertParityTest)
#include "test_albert_parity.moc"
