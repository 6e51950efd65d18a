// The picture coder beside PyTorch, as recorded by training/make_coder_reference.py.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/training/compute/device.h"
#include "core/training/picture/coder.h"
#include "core/training/trainer.h"
#include "tests/golden/training_reference.h"

using namespace potluck;
using namespace potluck::test;
using namespace potluck::training;
using potluck::model::Token;

namespace {

model::ModelSpec recorded_model() {
    model::ModelSpec spec;
    spec.family = model::Family::coder;
    spec.layers = 1;
    spec.heads = 1;
    spec.width = 16;
    spec.coder = {.side = 16, .halvings = 2, .levels = {8, 5, 5}};
    spec.context = model::coder_context(spec.coder);
    return spec;
}

struct Reference : TrainingReference {
    Reference() : TrainingReference("coder", recorded_model()) { clip = 0.05; }
};

/// A bias right before a norm of few channels hardly moves what comes out: what its gradient holds is rounding.
double scale_of(const model::TensorSpec& tensor, std::span<const float> own, std::span<const float> all) {
    return tensor.role == model::Role::bias ? length(all) : length(own);
}

}  // namespace

class CoderParityTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { use_threads(1); }

    void codes_losses_and_gradients_are_pytorchs() {
        const Reference reference;
        std::vector<float> parameters = reference.initial();
        PictureCoder coder(reference.spec, {});
        QVERIFY(coder.use_parameters(parameters).ok());
        const std::vector<Token> records = reference.first_batch();
        const auto codes = coder.codes_of(records);
        QVERIFY2(codes.ok(), codes ? "" : codes.error().message.c_str());
        const auto expected_codes = reference.values<std::int32_t>("codes");
        QVERIFY(std::ranges::equal(*codes, expected_codes, {}, [](std::uint32_t code) { return std::int32_t(code); }));

        const auto figures = reference.values<double>("figures");
        const auto found = coder.evaluate(records, 0);
        QVERIFY(found.ok() && found->pictures);
        QVERIFY(std::abs(found->loss_sum * reference.mean_scale() - figures[0]) < 1e-6);
        QVERIFY(std::abs(found->pictures->squared_error - figures[1]) < 1e-6);
        std::vector<bool> used(200);
        for (const std::int32_t code : expected_codes) used[static_cast<std::size_t>(code)] = true;
        QVERIFY(found->pictures->codes_used == used);

        std::vector<float> gradient(parameters.size(), 0.0F);
        const double scale = reference.mean_scale();
        const auto loss = coder.add_gradient({.records = records, .gradient = gradient, .scale = scale});
        QVERIFY2(loss.ok(), loss ? "" : loss.error().message.c_str());
        QVERIFY(std::abs(*loss * scale - figures[0]) < 1e-6);
        const auto expected = reference.values<float>("gradient");
        double worst = 0;
        for (const model::TensorSpec& tensor : model::tensors_of(reference.spec)) {
            const auto a = std::span(gradient).subspan(tensor.offset, tensor.elements());
            const auto b = std::span(expected).subspan(tensor.offset, tensor.elements());
            const double error = distance(a, b, scale_of(tensor, b, expected));
            worst = std::max(worst, error);
            QVERIFY2(error <= 1e-5, qPrintable(QString("%1: %2").arg(tensor.name.c_str()).arg(error)));
        }
        qInfo("worst gradient: %g of its tensor's length", worst);
    }

    void micro_batches_of_one_add_up_to_the_whole() {
        const Reference reference;
        std::vector<float> parameters = reference.initial();
        PictureCoder coder(reference.spec, {});
        QVERIFY(coder.use_parameters(parameters).ok());
        const std::vector<Token> records = reference.first_batch();
        const std::size_t size = reference.spec.context + 1;
        std::vector<float> whole(parameters.size(), 0.0F), parts(parameters.size(), 0.0F);
        QVERIFY(coder.add_gradient({.records = records, .gradient = whole, .scale = 1e-3}).ok());
        for (std::size_t i = 0; i < recorded_batch; ++i) {
            const std::span one = std::span(records).subspan(i * size, size);
            QVERIFY(coder.add_gradient({.records = one, .gradient = parts, .scale = 1e-3}).ok());
        }
        QVERIFY(distance(parts, whole, length(whole)) < 1e-5);
    }

    void a_picture_is_drawn_again_as_by_pytorch() {
        const Reference reference;
        std::vector<float> parameters = reference.initial();
        PictureCoder coder(reference.spec, {});
        QVERIFY(coder.use_parameters(parameters).ok());
        const std::vector<Token> records = reference.first_batch();
        const auto drawn = coder.next_logits(std::span(records).first(reference.spec.context));
        QVERIFY2(drawn.ok(), drawn ? "" : drawn.error().message.c_str());
        const auto expected = reference.values<float>("drawn");
        QVERIFY(distance(*drawn, expected, length(expected)) < 1e-5);
        QVERIFY(!coder.next_logits(std::span(records).first(10)).ok());
    }

    void what_is_no_picture_is_refused() {
        const Reference reference;
        std::vector<float> parameters = reference.initial();
        PictureCoder coder(reference.spec, {});
        QVERIFY(coder.use_parameters(parameters).ok());
        std::vector<float> gradient(parameters.size(), 0.0F);
        for (const auto& [place, value] : {std::pair(std::size_t{5}, Token{256}), {reference.spec.context, Token{1}}}) {
            std::vector<Token> records = reference.first_batch();
            records[place] = value;
            const auto refused = coder.add_gradient({.records = records, .gradient = gradient});
            QVERIFY(!refused.ok() && refused.error().code == ErrorCode::malformed);
            QCOMPARE(coder.evaluate(records, 0).error().code, ErrorCode::malformed);
        }
        QCOMPARE(length(gradient), 1e-30);
    }

    void ten_steps_end_where_pytorchs_end() {
        const Reference reference;
        std::vector<double> losses;
        const std::vector<float> after = ten_steps(reference, Dtype::fp32, losses);
        const auto expected = reference.values<double>("losses");
        QCOMPARE(losses.size(), expected.size());
        double worst = 0;
        for (std::size_t step = 0; step < expected.size(); ++step)
            worst = std::max(worst, std::abs(losses[step] - expected[step]));
        const double error = path_error(reference, after);
        qInfo("ten steps: losses apart by %g, %g of the way apart", worst, error);
        // A number that rounds to the other side after a step moves a picture's loss by more than rounding.
        QVERIFY2(worst < 1e-3, std::to_string(worst).c_str());
        QVERIFY2(error < 1e-2, std::to_string(error).c_str());
    }

    void products_in_16_bits_are_refused() {
        Layout layout;
        layout.matmul = Dtype::bf16;
        const auto refused = Trainer::create({.model = recorded_model(), .recipe = {}, .layout = layout, .threads = 1});
        QVERIFY(!refused.ok() && refused.error().code == ErrorCode::invalid_argument);
    }
};

QTEST_GUILESS_MAIN(CoderParityTest)
#include "test_coder_parity.moc"
