// ALBERT beside PyTorch and transformers, as recorded by training/make_albert_reference.py.
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/base/mix.h"
#include "core/model/hf_config.h"
#include "core/training/compute/device.h"
#include "core/training/encoder/encoder.h"
#include "core/training/encoder/masking.h"
#include "core/training/trainer.h"
#include "tests/golden/training_reference.h"

using namespace potluck;
using namespace potluck::test;
using namespace potluck::training;
using potluck::model::Token;

namespace {

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

struct Reference : TrainingReference {
    explicit Reference(const char* name = "albert") : TrainingReference(name, recorded_model()) { larger = 4; }
    /// Of what is drawn for its records.
    [[nodiscard]] static std::uint64_t seed() { return mix64(recorded_seed ^ mix64(~recorded_round)); }
};

}  // namespace

class AlbertParityTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { use_threads(1); }

    void our_config_is_the_one_that_transformers_opened() {
        const auto recorded = read_file(recordings + "config_albert.json", 1 << 16).value();
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
        QVERIFY(std::abs(found->gaps / recorded_batch - parts[0]) < 2e-6);
        QVERIFY(std::abs(found->order / recorded_batch - parts[1]) < 2e-6);

        std::vector<float> gradient(parameters.size(), 0.0F);
        const double scale = reference.mean_scale();
        const auto loss = encoder.add_gradient(
            {.records = records, .gradient = gradient, .scale = scale, .record_seed = Reference::seed()});
        QVERIFY2(loss.ok(), loss ? "" : loss.error().message.c_str());
        QVERIFY(std::abs(*loss * scale - parts[0] - parts[1]) < 2e-6);
        compare_gradients(reference.spec, gradient, reference.values<float>("gradient"), 1e-5);
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

    void products_in_16_bits_are_refused() { compare_refusal_of_16_bits(recorded_model()); }

    void ten_steps_end_where_pytorchs_end() { compare_ten_steps(Reference(), 5e-6, 1e-4); }

    /// As DeDLOC trained it.
    void ten_steps_of_lamb_end_where_pytorchs_end() {
        Reference reference("albert_lamb");
        reference.recipe.optimizer = run::Optimizer::lamb;
        reference.recipe.lamb_debias = run::LambDebias::rate;
        reference.recipe.beta2 = 0.999;
        reference.recipe.epsilon = 1e-6;
        reference.recipe.weight_decay = 0.01;
        compare_ten_steps(reference, 5e-6, 1e-4);
    }
};

QTEST_GUILESS_MAIN(AlbertParityTest)
#include "test_albert_parity.moc"
