#include <QTest>

#include <algorithm>
#include <cmath>

#include "core/base/sha256.h"
#include "core/model/initial_state.h"
#include "core/model/model_spec.h"
#include "core/model/presets.h"

using namespace potluck;
using namespace potluck::model;

namespace {

ModelSpec model_of(Family family) {
    ModelSpec model;
    model.family = family;
    model.layers = 2;
    model.embedding = family == Family::opt ? 64 : 0;
    model.llama.tied = false;
    return model;
}

std::vector<float> initial_state(const ModelSpec& model, std::uint64_t seed = 1) {
    std::vector<float> values(model.parameters());
    fill_initial_state(model, seed, values);
    return values;
}

}  // namespace

class InitialStateTest : public QObject {
    Q_OBJECT
private slots:
    void every_tensor_has_its_spread_data() {
        QTest::addColumn<int>("family");
        QTest::addColumn<double>("deviation");
        QTest::addRow("gpt2") << static_cast<int>(Family::gpt2) << 0.02;
        QTest::addRow("opt") << static_cast<int>(Family::opt) << 0.006;
        QTest::addRow("llama") << static_cast<int>(Family::llama) << 0.02;
    }
    void every_tensor_has_its_spread() {
        QFETCH(const int, family);
        QFETCH(const double, deviation);
        const ModelSpec model = model_of(static_cast<Family>(family));
        const std::vector<float> values = initial_state(model);
        int residual = 0;
        for (const TensorSpec& tensor : tensors_of(model)) {
            double sum = 0, squares = 0;
            for (std::uint64_t i = 0; i < tensor.elements(); ++i) {
                sum += values[tensor.offset + i];
                squares += double{values[tensor.offset + i]} * values[tensor.offset + i];
            }
            const double count = static_cast<double>(tensor.elements());
            if (tensor.shape.size() == 1) {
                QCOMPARE(sum, tensor.name.ends_with("bias") ? 0.0 : count);
                continue;
            }
            const bool output = tensor.name.ends_with("c_proj.weight") || tensor.name.ends_with(".out_proj.weight") ||
                                tensor.name.ends_with("fc2.weight") || tensor.name.ends_with(".o_proj.weight") ||
                                tensor.name.ends_with("down_proj.weight");
            residual += output ? 1 : 0;
            const double expected = output ? deviation / 2 : deviation;  // sqrt(2 * 2 layers) = 2
            QVERIFY2(std::abs(std::sqrt(squares / count) / expected - 1) < 0.05, tensor.name.c_str());
            QVERIFY2(std::abs(sum / count) < expected * 0.05, tensor.name.c_str());
        }
        QCOMPARE(residual, 4);
    }

    void a_dalle_starts_as_linear_maps_of_pytorch_do() {
        ModelSpec model = *model_preset("dalle-emoji");
        model.width = 32;
        model.heads = 2;
        model.layers = 30;
        const std::vector<float> values = initial_state(model);
        std::uint64_t reads = 0;
        for (const TensorSpec& tensor : tensors_of(model)) {
            const std::span one = std::span(values).subspan(tensor.offset, tensor.elements());
            const auto [least, most] = std::ranges::minmax(one);
            if (tensor.role == Role::gain || tensor.name.ends_with("norm.bias")) {
                QVERIFY(least == most && most == (tensor.role == Role::gain ? 1.0F : 0.0F));
            } else if (tensor.role == Role::scale) {
                const float expected = *tensor.layer < 18 ? 0.1F : *tensor.layer < 24 ? 1e-5F : 1e-6F;
                QVERIFY(least == expected && most == expected);
            } else {
                if (tensor.shape.size() == 2) reads = tensor.shape[1];
                const double bound = 1 / std::sqrt(static_cast<double>(reads));
                QVERIFY2(most <= bound && most > 0.7 * bound, tensor.name.c_str());
                QVERIFY2(least >= -bound && least < -0.7 * bound, tensor.name.c_str());
            }
        }
    }

    void a_swav_starts_as_torchvisions_networks_do() {
        const ModelSpec model = *model_preset("swav-tiny");
        const std::vector<float> values = initial_state(model);
        double reads = 0;
        for (const TensorSpec& tensor : tensors_of(model)) {
            const std::span one = std::span(values).subspan(tensor.offset, tensor.elements());
            const auto [least, most] = std::ranges::minmax(one);
            if (tensor.shape.size() == 2) reads = static_cast<double>(tensor.shape[1]);
            if (tensor.shape.size() == 4) {  // what each input reaches: outputs times places
                double squares = 0;
                for (const float value : one) squares += static_cast<double>(value) * static_cast<double>(value);
                const double reached = static_cast<double>(tensor.shape[0] * tensor.shape[2] * tensor.shape[3]);
                const double found = squares / static_cast<double>(one.size());
                QVERIFY2(std::abs(found * reached / 2 - 1) < 0.15, tensor.name.c_str());
            } else if (tensor.shape.size() == 2 || tensor.name == "projection_head.0.bias" ||
                       tensor.name == "projection_head.3.bias") {
                const double bound = 1 / std::sqrt(reads);
                QVERIFY2(most <= bound && most > 0.9 * bound, tensor.name.c_str());
                QVERIFY2(least >= -bound && least < -0.9 * bound, tensor.name.c_str());
            } else {
                QVERIFY2(least == most && most == (tensor.role == Role::gain ? 1.0F : 0.0F), tensor.name.c_str());
            }
        }
    }

    void a_seed_has_its_bytes_and_another_has_others() {
        const auto digest = [](const ModelSpec& model, std::uint64_t seed) {
            const std::vector<float> values = initial_state(model, seed);
            return sha256(std::as_bytes(std::span(values))).hex();
        };
        ModelSpec small;
        small.context = 16;
        small.layers = 1;
        small.width = 8;
        // Written by another program: tests/golden/seeded.
        QCOMPARE(digest(small, 1), std::string("22eb7744deb29f00e4359753d407cc70aa7a9e5f883b98f9a4647773439482a9"));
        QVERIFY(digest(small, 2) != digest(small, 1));
        small.family = Family::opt;
        QCOMPARE(digest(small, 1), std::string("03723cedad14970603c19585014c08f93a742ea245d57e302667cf0b9c1a1625"));
        QVERIFY(digest(small, 2) != digest(small, 1));
    }
};

QTEST_APPLESS_MAIN(InitialStateTest)
#include "test_initial_state.moc"
