// The model and the trainer beside PyTorch and transformers, as recorded by training/make_reference.py.
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/base/sha256.h"
#include "core/model/hf_config.h"
#include "core/model/state_layout.h"
#include "core/training/compute/device.h"
#include "core/training/decoder/decoder.h"
#include "core/training/decoder/plain.h"
#include "tests/golden/training_reference.h"

using namespace potluck;
using namespace potluck::test;
using namespace potluck::training;
using potluck::model::Token;

namespace {

/// How far ours may be from the fp32 recording. Our fp32 differs by the order of sums only; bf16 products keep 8 bits
/// of each operand, and now and then a unit of a ReLU falls on the other side of zero.
struct Tolerance {
    double logits;     // of the row's length
    double loss;       // nats
    double gradient;   // of its tensor's length
    double step_loss;  // nats, of each of ten steps
    double path;       // of the way ten steps go
};
constexpr Tolerance fp32_tolerance{2e-6, 2e-6, 4e-6, 5e-6, 1e-4};
constexpr Tolerance bf16_tolerance{1e-2, 2e-3, 8e-2, 5e-3, 1e-1};

Tolerance tolerance_of(Dtype matmul) { return matmul == Dtype::fp32 ? fp32_tolerance : bf16_tolerance; }

bool is_llama(const QString& name) { return name == "llama" || name.startsWith("qwen"); }

/// A model of make_reference.py's MODELS.
model::ModelSpec recorded_model(const QString& name) {
    model::ModelSpec spec;
    spec.vocabulary = 48;
    spec.context = 24;
    spec.layers = 2;
    spec.heads = 2;
    spec.width = 32;
    spec.activation = name == "gelu" ? model::Activation::gelu_tanh : model::Activation::relu;
    if (name.startsWith("opt")) spec.family = model::Family::opt;
    if (is_llama(name)) {
        spec.family = model::Family::llama;
        spec.activation = model::Activation::silu_gated;
        spec.heads = 4;
        spec.llama = {.kv_heads = 2, .head_width = 16, .inner = 40, .rope_theta = 500};
        spec.llama.qkv_bias = name == "qwen2";
        spec.llama.qk_norm = name == "qwen3";
        spec.llama.tied = name != "llama";
    }
    if (name == "opt_post") {
        spec.norm = model::NormPlace::after;
        spec.embedding = 16;
    }
    return spec;
}

struct Reference : TrainingReference {
    explicit Reference(const QString& name) : TrainingReference(name.toStdString(), recorded_model(name)) {
        if (is_llama(name)) larger = 4;
        if (name == "opt_post") {
            larger = 8;
            recipe.clip_norm = 0.25;
        }
    }
};

struct Pass {
    double loss = 0;
    std::vector<float> gradient;
};

Pass pass(const model::ModelSpec& spec, const DecoderOptions& options, std::vector<float> parameters,
          const std::vector<Token>& records, double scale) {
    Pass out;
    out.gradient.resize(parameters.size());
    Decoder decoder(spec, options);
    const bool ready = decoder.use_parameters(parameters).ok();
    const Result<double> loss =
        decoder.add_gradient({.records = records, .gradient = out.gradient, .scale = scale, .dropout_seed = 11});
    out.loss = ready && loss.ok() ? *loss * scale : 1e30;
    return out;
}

}  // namespace

class TrainingParityTest : public QObject {
    Q_OBJECT
private:
    static constexpr const char* models[] = {"gelu", "relu", "opt", "opt_post", "llama", "qwen2", "qwen3"};
    static constexpr Dtype numbers[] = {Dtype::fp32, Dtype::bf16};

    static void add_models() {
        QTest::addColumn<QString>("name");
        for (const char* name : models) QTest::newRow(name) << name;
    }
    static void add_models_and_numbers() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("matmul");
        for (const char* name : models) {
            for (const Dtype dtype : numbers) {
                QTest::addRow("%s %s", name, name_of(dtype)) << QString(name) << static_cast<int>(dtype);
            }
        }
    }

private slots:
    void initTestCase() { use_threads(1); }

    void the_initial_state_file_is_the_one_transformers_opened_data() { add_models(); }
    void the_initial_state_file_is_the_one_transformers_opened() {
        QFETCH(const QString, name);
        const Reference reference(name);
        const std::vector<float> values = reference.initial();
        Bytes file = model::state_layout(reference.spec).header;
        const ByteSpan content = std::as_bytes(std::span(values));
        file.insert(file.end(), content.begin(), content.end());
        QVERIFY(as_text(reference.file).find(sha256(file).hex()) != std::string_view::npos);
    }

    void the_config_that_an_export_writes_is_the_one_transformers_opened_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"llama", "qwen2", "qwen3"}) QTest::newRow(name) << name;
    }
    void the_config_that_an_export_writes_is_the_one_transformers_opened() {
        QFETCH(const QString, name);
        const Bytes recorded = read_file(recordings + "config_" + name.toStdString() + ".json", 1 << 16).value();
        const std::string written = model::hugging_face_config(Reference(name).spec).dump(2) + "\n";
        QCOMPARE(QString::fromStdString(written), QString::fromStdString(std::string(as_text(recorded))));
    }

    void logits_match_data() { add_models_and_numbers(); }
    void logits_match() {
        QFETCH(const QString, name);
        QFETCH(const int, matmul);
        const Reference reference(name);
        const auto dtype = static_cast<Dtype>(matmul);
        std::vector<float> parameters = reference.initial();
        Decoder decoder(reference.spec, {.matmul = dtype});
        QVERIFY(decoder.use_parameters(parameters).ok());
        const std::vector<float> expected = reference.values<float>("logits");
        const std::vector<Token> records = reference.first_batch();
        const std::uint32_t context = reference.spec.context;
        for (std::size_t b = 0; b < recorded_batch; ++b) {
            const Token* record = &records[b * (context + 1)];
            const std::vector<std::uint32_t> tokens(record, record + context);
            const std::vector<float> logits = decoder.logits(tokens).value();
            const std::span<const float> row = std::span(expected).subspan(b * logits.size(), logits.size());
            const double error = distance(logits, row, length(row));
            QVERIFY2(error < tolerance_of(dtype).logits, qPrintable(QString::number(error)));
        }
    }

    void the_plain_version_matches_data() { add_models(); }
    void the_plain_version_matches() {
        QFETCH(const QString, name);
        const Reference reference(name);
        std::vector<float> parameters = reference.initial(), gradient(parameters.size());
        const double loss =
            plain_add_gradient(reference.spec, parameters, reference.first_batch(), gradient, reference.mean_scale())
                .value();
        QVERIFY(std::fabs(loss * reference.mean_scale() - reference.values<double>("losses").front()) <
                fp32_tolerance.loss);
        compare_gradients(reference.spec, gradient, reference.values<float>("gradient"), fp32_tolerance.gradient);
    }

    void loss_and_every_gradient_match_data() { add_models_and_numbers(); }
    void loss_and_every_gradient_match() {
        QFETCH(const QString, name);
        QFETCH(const int, matmul);
        const Reference reference(name);
        const auto dtype = static_cast<Dtype>(matmul);
        const Tolerance tolerance = tolerance_of(dtype);
        const double expected_loss = reference.values<double>("losses").front();
        for (const AttentionKernel kernel :
             {AttentionKernel::blocked, AttentionKernel::fused, AttentionKernel::plain}) {
            const Pass got = pass(reference.spec, {.matmul = dtype, .attention = kernel}, reference.initial(),
                                  reference.first_batch(), reference.mean_scale());
            QVERIFY2(std::fabs(got.loss - expected_loss) < tolerance.loss, qPrintable(QString::number(got.loss)));
            compare_gradients(reference.spec, got.gradient, reference.values<float>("gradient"), tolerance.gradient);
            if (QTest::currentTestFailed()) return;
        }
        std::vector<float> parameters = reference.initial();
        Decoder decoder(reference.spec, {.matmul = dtype});
        QVERIFY(decoder.use_parameters(parameters).ok());
        const double loss = decoder.loss_sum(reference.first_batch()).value() * reference.mean_scale();
        QVERIFY2(std::fabs(loss - expected_loss) < tolerance.loss, qPrintable(QString::number(loss)));
    }

    void checkpointing_changes_no_gradient_data() { add_models_and_numbers(); }
    void checkpointing_changes_no_gradient() {
        QFETCH(const QString, name);
        QFETCH(const int, matmul);
        const Reference reference(name);
        model::ModelSpec spec = reference.spec;
        for (const float dropout : {0.0F, 0.2F}) {
            spec.dropout = dropout;
            DecoderOptions options{.matmul = static_cast<Dtype>(matmul)};
            const Pass kept = pass(spec, options, reference.initial(), reference.first_batch(), 1.0);
            QVERIFY(kept.loss < 1e6);
            for (const Checkpointing mode : {Checkpointing::selective, Checkpointing::full}) {
                options.checkpointing = mode;
                const Pass again = pass(spec, options, reference.initial(), reference.first_batch(), 1.0);
                QCOMPARE(again.loss, kept.loss);
                QVERIFY2(again.gradient == kept.gradient,
                         qPrintable(QString("%1, dropout %2").arg(name_of(mode)).arg(static_cast<double>(dropout))));
            }
        }
    }

    void ten_steps_of_adamw_end_where_pytorch_ends_data() { add_models_and_numbers(); }
    void ten_steps_of_adamw_end_where_pytorch_ends() {
        QFETCH(const QString, name);
        QFETCH(const int, matmul);
        const Reference reference(name);
        const auto dtype = static_cast<Dtype>(matmul);
        const Tolerance tolerance = tolerance_of(dtype);
        std::vector<double> losses;
        std::vector<float> after = ten_steps(reference, dtype, losses);
        QCOMPARE(losses.size(), recorded_steps);
        Decoder decoder(reference.spec, {.matmul = dtype});
        QVERIFY(decoder.use_parameters(after).ok());
        losses.push_back(decoder.loss_sum(reference.first_batch()).value() * reference.mean_scale());

        const std::vector<double> expected = reference.values<double>("losses");
        double worst = 0;
        for (std::size_t i = 0; i < losses.size(); ++i) worst = std::max(worst, std::fabs(losses[i] - expected[i]));
        const double apart = path_error(reference, after);
        qInfo("worst loss difference %g nats, ends apart by %g of the way", worst, apart);
        QVERIFY2(worst < tolerance.step_loss, qPrintable(QString::number(worst)));
        QVERIFY2(apart < tolerance.path, qPrintable(QString::number(apart)));
    }
};

QTEST_GUILESS_MAIN(TrainingParityTest)
#include "test_training_parity.moc"
