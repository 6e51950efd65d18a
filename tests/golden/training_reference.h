// What make_reference.py, make_albert_reference.py, make_coder_reference.py, make_dalle_reference.py and
// make_swav_reference.py recorded with PyTorch: tensors by name, and the comparisons that every family's test makes
// with them.
#pragma once

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/base/files.h"
#include "core/model/initial_state.h"
#include "core/model/state_layout.h"
#include "core/model/token.h"
#include "core/run/sample_order.h"
#include "core/training/trainer.h"

namespace potluck::test {

inline constexpr std::uint32_t recorded_batch = 3;
inline constexpr std::size_t recorded_steps = 10;
/// Seed and round from which the recorded batches were drawn.
inline constexpr std::uint64_t recorded_seed = 5, recorded_round = 2;

inline const std::string recordings = POTLUCK_SOURCE_DIR "/tests/golden/training/";

/// A recorded model: its shape, the state it started from, batches, losses, gradients, and where ten steps ended.
struct TrainingReference {
    model::ModelSpec spec;
    float larger = 1;    // than initial values its matrices were made, so that no gradient is lost in rounding
    run::Recipe recipe;  // of the steps
    Bytes file;
    std::map<std::string, ByteSpan> tensors;

    TrainingReference(const std::string& name, model::ModelSpec shape, double clip_norm = 0.5)
        : spec(std::move(shape)), file(read_file(recordings + "reference_" + name + ".safetensors", 1 << 20).value()) {
        recipe.batch = recorded_batch;
        recipe.clip_norm = clip_norm;
        const auto entries = model::parse_safetensors_header(file, file.size()).value();
        const std::uint64_t start = 8 + ByteReader(file).u64();
        for (const model::SafetensorsEntry& entry : entries) {
            tensors[entry.name] = ByteSpan(file).subspan(start + entry.begin, entry.end - entry.begin);
        }
    }
    TrainingReference(const TrainingReference&) = delete;
    TrainingReference& operator=(const TrainingReference&) = delete;

    template <class T>
    [[nodiscard]] std::vector<T> values(const char* name) const {
        const ByteSpan bytes = tensors.at(name);
        std::vector<T> out(bytes.size() / sizeof(T));
        std::memcpy(out.data(), bytes.data(), bytes.size());
        return out;
    }
    [[nodiscard]] std::vector<model::Token> records() const {
        const auto wide = values<std::int32_t>("records");
        return {wide.begin(), wide.end()};
    }
    [[nodiscard]] std::vector<model::Token> first_batch() const {
        std::vector<model::Token> all = records();
        all.resize(all.size() / recorded_steps);
        return all;
    }
    [[nodiscard]] std::vector<float> initial() const {
        std::vector<float> out(spec.parameters());
        model::fill_initial_state(spec, 7, out);
        for (const model::TensorSpec& tensor : model::tensors_of(spec)) {
            if (tensor.shape.size() < 2) continue;
            for (std::uint64_t i = 0; i < tensor.elements(); ++i) out[tensor.offset + i] *= larger;
        }
        return out;
    }
    [[nodiscard]] double mean_scale() const { return 1.0 / (recorded_batch * spec.context); }
};

/// A recording, its first batch, and a model with its first state.
template <class Network>
struct Recorded {
    TrainingReference reference;
    std::vector<float> parameters = reference.initial();
    std::vector<model::Token> records = reference.first_batch();
    Network network;

    Recorded(const char* name, const model::ModelSpec& shape, const training::ModelOptions& options = {})
        : reference(name, shape), network(shape, options) {
        POTLUCK_CHECK(network.use_parameters(parameters).ok());
    }
};

inline double length(std::span<const float> values) {
    double sum = 1e-60;
    for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
    return std::sqrt(sum);
}

/// Euclidean distance, relative to `scale`.
inline double distance(std::span<const float> got, std::span<const float> expected, double scale) {
    if (got.size() != expected.size()) return 1e30;
    std::vector<float> difference(expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) difference[i] = got[i] - expected[i];
    return length(difference) / scale;
}

/// A key's bias of OPT or ALBERT moves all scores of a row alike, and one before SwAV's batch norm all of a batch: its
/// true gradient is zero, and what is left is rounding.
inline bool is_key_bias(const model::TensorSpec& tensor) {
    const bool opt = tensor.name.starts_with("model.decoder.") && tensor.name.ends_with("k_proj.bias");
    return opt || tensor.name.ends_with("attention.key.bias") || tensor.name == "projection_head.0.bias";
}

/// `is_rounding` names tensors whose gradient is compared to the length of all.
inline void compare_gradients(const model::ModelSpec& spec, std::span<const float> got, std::span<const float> expected,
                              double tolerance, bool (*is_rounding)(const model::TensorSpec&) = is_key_bias) {
    double worst = 0;
    for (const model::TensorSpec& tensor : model::tensors_of(spec)) {
        const std::span<const float> a = got.subspan(tensor.offset, tensor.elements());
        const std::span<const float> b = expected.subspan(tensor.offset, tensor.elements());
        const double error = distance(a, b, length(is_rounding(tensor) ? expected : b));
        worst = std::max(worst, error);
        QVERIFY2(error <= tolerance, qPrintable(QString("%1: %2").arg(tensor.name.c_str()).arg(error)));
    }
    qInfo("worst gradient: %g of its tensor's length", worst);
}

/// Ten steps through the trainer, on a shard whose order gives the recorded batches.
inline std::vector<float> ten_steps(const TrainingReference& reference, training::Dtype matmul,
                                    std::vector<double>& losses) {
    const QTemporaryDir folder;
    const std::string path = folder.filePath("shard.bin").toStdString();
    const std::vector<model::Token> records = reference.records();
    const std::size_t length = reference.spec.context + 1;
    std::vector<model::Token> shard(records.size());
    for (std::uint64_t n = 0; n < recorded_steps * recorded_batch; ++n) {
        const std::uint64_t place =
            run::record_at(recorded_seed, {recorded_round}, PeerId{}, recorded_steps * recorded_batch, n);
        std::copy_n(&records[n * length], length, &shard[place * length]);
    }
    std::ofstream(path, std::ios::binary)
        << as_text(model::stored_tokens(shard, model::token_width(reference.spec.vocabulary)));

    training::Layout layout;
    layout.matmul = matmul;
    layout.state_bits = 32;
    training::Trainer trainer =
        training::Trainer::create({.model = reference.spec, .recipe = reference.recipe, .layout = layout, .threads = 1})
            .value();
    bool ok = trainer.start_from(reference.initial()).ok();
    ok = ok && trainer
                   .train_in({.key = {recorded_seed, {recorded_round}, PeerId{}},
                              .shard_path = path,
                              .records = recorded_steps * recorded_batch,
                              .learning_rate = 3e-3})
                   .ok();
    while (ok && trainer.totals().steps < recorded_steps) {
        const training::WindowTotals before = trainer.totals();
        ok = trainer.micro_step().ok();
        if (trainer.totals().steps > before.steps) {
            losses.push_back((trainer.totals().loss_sum - before.loss_sum) * reference.mean_scale());
        }
    }
    return trainer.parameters();
}

/// How far apart two ends are, relative to the way from the start. In the mean: Adam divides a gradient by its own
/// size, so where it is nothing but rounding, so is the step.
inline double path_error(const TrainingReference& reference, std::span<const float> after) {
    const std::vector<float> expected = reference.values<float>("after");
    const std::vector<float> before = reference.initial();
    double moved = 0, apart = 0;
    for (const model::TensorSpec& tensor : model::tensors_of(reference.spec)) {
        if (is_key_bias(tensor)) continue;
        for (std::uint64_t i = tensor.offset; i < tensor.offset + tensor.elements(); ++i) {
            moved += std::fabs(static_cast<double>(expected[i]) - static_cast<double>(before[i]));
            apart += std::fabs(static_cast<double>(expected[i]) - static_cast<double>(after[i]));
        }
    }
    return apart / moved;
}

/// The first batch's mean loss, in nats, and its gradient.
template <class Network>
void compare_first_gradient(Recorded<Network>& recorded, double loss,
                            bool (*is_rounding)(const model::TensorSpec&) = is_key_bias) {
    const TrainingReference& reference = recorded.reference;
    std::vector<float> gradient(recorded.parameters.size(), 0.0F);
    const double scale = reference.mean_scale();
    const auto found =
        recorded.network.add_gradient({.records = recorded.records, .gradient = gradient, .scale = scale});
    QVERIFY2(found.ok(), found ? "" : found.error().message.c_str());
    QVERIFY(std::fabs(*found * scale - loss) < 1e-6);
    compare_gradients(reference.spec, gradient, reference.values<float>("gradient"), 1e-5, is_rounding);
}

/// Ten steps in 32 bits end where PyTorch's ended; `loss` in nats, `path` as of path_error.
inline void compare_ten_steps(const TrainingReference& reference, double loss, double path) {
    std::vector<double> losses;
    const std::vector<float> after = ten_steps(reference, training::Dtype::fp32, losses);
    const auto expected = reference.values<double>("losses");
    QCOMPARE(losses.size(), expected.size());
    double worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) worst = std::max(worst, std::fabs(losses[i] - expected[i]));
    const double apart = path_error(reference, after);
    qInfo("ten steps: losses apart by %g nats, ends by %g of the way", worst, apart);
    QVERIFY2(worst < loss, qPrintable(QString::number(worst)));
    QVERIFY2(apart < path, qPrintable(QString::number(apart)));
}

/// Records one after the other leave the gradient that they leave together.
inline void compare_micro_batches(const TrainingReference& reference, training::Model& model) {
    const std::vector<model::Token> records = reference.first_batch();
    const std::size_t size = reference.spec.context + 1;
    std::vector<float> whole(reference.spec.parameters(), 0.0F), parts(whole);
    QVERIFY(model.add_gradient({.records = records, .gradient = whole, .scale = 1e-3}).ok());
    for (std::size_t i = 0; i < recorded_batch; ++i) {
        const std::span one = std::span(records).subspan(i * size, size);
        QVERIFY(model.add_gradient({.records = one, .gradient = parts, .scale = 1e-3}).ok());
    }
    QVERIFY(distance(parts, whole, length(whole)) < 1e-5);
}

/// A first record with `value` at `place` is malformed, and leaves no gradient.
inline void compare_refusal(const TrainingReference& reference, training::Model& model, std::size_t place,
                            model::Token value) {
    std::vector<float> gradient(reference.spec.parameters(), 0.0F);
    std::vector<model::Token> records = reference.first_batch();
    records[place] = value;
    const auto refused = model.add_gradient({.records = records, .gradient = gradient});
    QVERIFY(!refused.ok() && refused.error().code == ErrorCode::malformed);
    QCOMPARE(model.evaluate(records, 0).error().code, ErrorCode::malformed);
    QCOMPARE(length(gradient), 1e-30);
}

/// A family whose products are 32 bits wide says so before it begins.
inline void compare_refusal_of_16_bits(const model::ModelSpec& spec) {
    training::Layout layout;
    layout.matmul = training::Dtype::bf16;
    const auto refused = training::Trainer::create({.model = spec, .recipe = {}, .layout = layout, .threads = 1});
    QVERIFY(!refused.ok() && refused.error().code == ErrorCode::invalid_argument);
}

}  // namespace potluck::test
