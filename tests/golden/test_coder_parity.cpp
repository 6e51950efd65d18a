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

struct RecordedCoder : Recorded<PictureCoder> {
    RecordedCoder() : Recorded("coder", recorded_model()) {}
};

/// A bias right before a norm of few channels hardly moves what comes out: what its gradient holds is rounding.
bool is_bias(const model::TensorSpec& tensor) { return tensor.role == model::Role::bias; }

}  // namespace

class CoderParityTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { use_threads(1); }

    void codes_losses_and_gradients_are_pytorchs() {
        RecordedCoder recorded;
        const TrainingReference& reference = recorded.reference;
        const auto codes = recorded.network.codes_of(recorded.records);
        QVERIFY2(codes.ok(), codes ? "" : codes.error().message.c_str());
        const auto expected_codes = reference.values<std::int32_t>("codes");
        QVERIFY(std::ranges::equal(*codes, expected_codes, {}, [](std::uint32_t code) { return std::int32_t(code); }));

        const auto figures = reference.values<double>("figures");
        const auto found = recorded.network.evaluate(recorded.records, 0);
        QVERIFY(found.ok() && found->pictures);
        QVERIFY(std::abs(found->loss_sum * reference.mean_scale() - figures[0]) < 1e-6);
        QVERIFY(std::abs(found->pictures->squared_error - figures[1]) < 1e-6);
        std::vector<bool> used(200);
        for (const std::int32_t code : expected_codes) used[static_cast<std::size_t>(code)] = true;
        QVERIFY(found->pictures->codes_used == used);

        compare_first_gradient(recorded, figures[0], is_bias);
    }

    void micro_batches_of_one_add_up_to_the_whole() {
        RecordedCoder recorded;
        compare_micro_batches(recorded.reference, recorded.network);
    }

    void a_picture_is_drawn_again_as_by_pytorch() {
        RecordedCoder recorded;
        const std::span first = std::span(recorded.records).first(recorded.reference.spec.context);
        const auto drawn = recorded.network.next_logits(first);
        QVERIFY2(drawn.ok(), drawn ? "" : drawn.error().message.c_str());
        const auto expected = recorded.reference.values<float>("drawn");
        QVERIFY(distance(*drawn, expected, length(expected)) < 1e-5);
        QVERIFY(!recorded.network.next_logits(first.first(10)).ok());
        // Its codes alone make the same picture.
        const auto codes =
            recorded.network.codes_of(std::span(recorded.records).first(recorded.reference.spec.context + 1));
        QVERIFY(codes.ok());
        const auto again = recorded.network.picture_of(*codes);
        QVERIFY2(again.ok(), again ? "" : again.error().message.c_str());
        QVERIFY(distance(*again, *drawn, length(*drawn)) < 1e-6);
        std::vector<std::uint32_t> beyond = *codes;
        beyond.back() = 200;  // 8 times 5 times 5
        QVERIFY(!recorded.network.picture_of(beyond).ok() &&
                !recorded.network.picture_of(std::span(*codes).first(15)).ok());
    }

    void a_record_that_is_no_picture_is_refused() {
        RecordedCoder recorded;
        compare_refusal(recorded.reference, recorded.network, 5, 256);
        compare_refusal(recorded.reference, recorded.network, recorded.reference.spec.context, 1);
    }

    /// A number that rounds to the other side after a step moves a picture's loss by more than rounding.
    void ten_steps_end_where_pytorchs_end() { compare_ten_steps({"coder", recorded_model(), 0.05}, 1e-3, 1e-2); }

    void products_in_16_bits_are_refused() { compare_refusal_of_16_bits(recorded_model()); }
};

QTEST_GUILESS_MAIN(CoderParityTest)
#include "test_coder_parity.moc"
