// SwAV beside PyTorch, as recorded by training/make_swav_reference.py.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "core/base/mix.h"
#include "core/model/presets.h"
#include "core/training/compute/device.h"
#include "core/training/make_model.h"
#include "core/training/picture/crops.h"
#include "core/training/picture/sinkhorn.h"
#include "core/training/picture/swav.h"
#include "core/training/service.h"
#include "core/training/trainer.h"
#include "tests/golden/training_reference.h"

using namespace potluck;
using namespace potluck::test;
using namespace potluck::training;
using potluck::model::Token;

namespace {

model::ModelSpec recorded_model() {
    model::ModelSpec spec;
    spec.family = model::Family::swav;
    spec.layers = 4;
    spec.heads = 1;
    spec.width = 8;
    spec.swav = {.side = 16,
                 .hidden = 24,
                 .embedding = 16,
                 .prototypes = 12,
                 .large_side = 16,
                 .small_side = 12,
                 .small_crops = 2,
                 .area_min = 0.2,
                 .area_split = 0.5,
                 .temperature = 0.5,
                 .epsilon = 0.5,
                 .queue = 6,
                 .together = recorded_batch};
    spec.context = model::swav_context(spec.swav);
    return spec;
}

model::ModelSpec recorded_bottleneck() {
    model::ModelSpec spec = recorded_model();
    spec.swav.stem = model::SwavStem::large;
    spec.swav.block = model::SwavBlock::bottleneck;
    spec.swav.temperature = 0.1;
    spec.swav.epsilon = 0.05;
    spec.swav.large_side = 48;
    spec.swav.small_side = 40;
    return spec;
}

/// Of what the trainer draws for a record of the recorded round.
std::uint64_t record_seed() { return mix64(recorded_seed ^ mix64(~recorded_round)); }

struct RecordedSwav : Recorded<Swav> {
    explicit RecordedSwav(const char* name = "swav", const model::ModelSpec& spec = recorded_model(),
                          const ModelOptions& options = {})
        : Recorded(name, spec, options) {}
    [[nodiscard]] Result<double> gradient(std::span<float> sums, std::uint64_t round = recorded_round) {
        return gradient_of(records, sums, round);
    }
    [[nodiscard]] Result<double> gradient_of(std::span<const Token> some, std::span<float> sums, std::uint64_t round) {
        return network.add_gradient({.records = some,
                                     .gradient = sums,
                                     .scale = reference.mean_scale(),
                                     .record_seed = record_seed(),
                                     .first = 0,
                                     .round = round});
    }
};

}  // namespace

class SwavParityTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { use_threads(1); }

    void crops_are_pytorchs() {
        const TrainingReference reference("swav", recorded_model());
        const Crops crops = crops_of(reference.spec, reference.first_batch(), record_seed(), 0);
        const auto check = [](std::span<const float> got, std::span<const float> expected) {
            QCOMPARE(got.size(), expected.size());
            for (std::size_t i = 0; i < got.size(); ++i)
                QVERIFY2(std::abs(got[i] - expected[i]) < 1e-4F, qPrintable(QString("%1").arg(i)));
        };
        check(crops.large, reference.values<float>("large"));
        check(crops.small, reference.values<float>("small"));
    }

    void losses_and_gradients_are_pytorchs() {
        RecordedSwav recorded;
        std::vector<float> gradient(recorded.parameters.size(), 0.0F);
        const auto loss = recorded.gradient(gradient);
        QVERIFY2(loss.ok(), loss ? "" : loss.error().message.c_str());
        const double expected = recorded.reference.values<double>("figures")[0];
        QVERIFY(std::abs(*loss * recorded.reference.mean_scale() - expected) < 1e-5);
        compare_gradients(recorded.reference.spec, gradient, recorded.reference.values<float>("gradient"), 1e-4);
    }

    void bottlenecks_behind_the_large_stem_are_pytorchs() {
        RecordedSwav recorded("swav_bottleneck", recorded_bottleneck());
        std::vector<float> gradient(recorded.parameters.size(), 0.0F);
        const auto loss = recorded.gradient(gradient);
        QVERIFY2(loss.ok(), loss ? "" : loss.error().message.c_str());
        const double expected = recorded.reference.values<double>("figures")[0];
        QVERIFY(std::abs(*loss * recorded.reference.mean_scale() - expected) < 1e-5);
        const auto lengths = recorded.reference.values<double>("lengths");
        std::size_t next = 0;
        for (const model::TensorSpec& tensor : model::tensors_of(recorded.reference.spec)) {
            const double found = length(std::span(gradient).subspan(tensor.offset, tensor.elements()));
            const double wanted = lengths.at(next++);
            QVERIFY2(std::abs(found - wanted) < 1e-3 * wanted + 1e-6, tensor.name.c_str());
        }
        QCOMPARE(next, lengths.size());
    }

    void parts_that_run_again_have_the_same_gradients_data() {
        QTest::addColumn<bool>("bottleneck");
        QTest::addColumn<std::uint32_t>("small_crops");
        QTest::newRow("basic") << false << 2U;
        QTest::newRow("bottleneck") << true << 2U;
        QTest::newRow("large crops alone") << true << 0U;
    }
    void parts_that_run_again_have_the_same_gradients() {
        QFETCH(const bool, bottleneck);
        QFETCH(const std::uint32_t, small_crops);
        model::ModelSpec spec = bottleneck ? recorded_bottleneck() : recorded_model();
        spec.swav.small_crops = small_crops;
        const char* name = bottleneck ? "swav_bottleneck" : "swav";
        RecordedSwav kept(name, spec), again(name, spec, {.checkpointing = Checkpointing::full});
        std::vector<float> expected(kept.parameters.size(), 0.0F), got = expected;
        const double loss = kept.gradient(expected).value();
        QCOMPARE(again.gradient(got).value(), loss);
        QVERIFY(length(expected) > 1e-3);
        compare_gradients(spec, got, expected, 1e-6);
        // What is summed already is added to.
        QVERIFY(again.gradient(got).ok());
        for (float& value : expected) value *= 2;
        compare_gradients(spec, got, expected, 1e-6);
    }

    void products_in_16_bits_come_near_those_in_32_data() {
        QTest::addColumn<int>("matmul");
        QTest::addColumn<int>("checkpointing");
        for (const Checkpointing kind : {Checkpointing::none, Checkpointing::full})
            for (const Dtype matmul : {Dtype::bf16, Dtype::fp16})
                QTest::addRow("%s, %s", name_of(matmul), name_of(kind))
                    << static_cast<int>(matmul) << static_cast<int>(kind);
    }
    void products_in_16_bits_come_near_those_in_32() {
        QFETCH(const int, matmul);
        QFETCH(const int, checkpointing);
        const auto number = static_cast<Dtype>(matmul);
        RecordedSwav exact,
            short_numbers("swav", recorded_model(),
                          {.matmul = number, .checkpointing = static_cast<Checkpointing>(checkpointing)});
        std::vector<float> expected(exact.parameters.size(), 0.0F), got = expected;
        const double loss = exact.gradient(expected).value();
        const double found = short_numbers.gradient(got).value();
        const double apart = distance(got, expected, length(expected));
        qInfo("loss apart by %.2g of it, gradient by %.2g of its length", std::abs(found - loss) / loss, apart);
        QVERIFY(found != loss && std::abs(found - loss) < 1e-2 * loss);
        // Norms over three pictures make much of little; fp16 has three bits more.
        QVERIFY(apart < (number == Dtype::bf16 ? 0.3 : 0.06));
    }

    void ten_steps_end_where_pytorchs_end() { compare_ten_steps({"swav", recorded_model(), 1e-4}, 1e-5, 1e-3); }

    void prototypes_stay_while_they_are_frozen() {
        model::ModelSpec spec = recorded_model();
        spec.swav.frozen = recorded_round + 1;
        RecordedSwav recorded("swav", spec);
        const model::TensorSpec prototypes = model::tensors_of(spec).back();
        std::vector<float> gradient(recorded.parameters.size(), 0.0F);
        QVERIFY(recorded.gradient(gradient).ok());
        QVERIFY(length(gradient) > 1e-3);
        QCOMPARE(length(std::span(gradient).subspan(prototypes.offset)), 1e-30);
        QVERIFY(recorded.gradient(gradient, spec.swav.frozen).ok());
        QVERIFY(length(std::span(gradient).subspan(prototypes.offset)) > 1e-3);
    }

    /// Two batches of three fill a queue of six; the third batch's assignments are balanced with it.
    void the_queue_counts_once_it_is_full_and_its_round_has_come() {
        model::ModelSpec late = recorded_model();
        late.swav.queue_from = recorded_round + 1;
        RecordedSwav recorded, other("swav", late);
        std::vector<float> gradient(recorded.parameters.size(), 0.0F);
        const std::vector<Token> records = recorded.reference.records();
        const std::size_t size = recorded.records.size();
        for (std::size_t batch = 0; batch < 3; ++batch) {
            const auto some = std::span(records).subspan(batch * size, size);
            const double queued = recorded.gradient_of(some, gradient, recorded_round).value();
            const double without = other.gradient_of(some, gradient, recorded_round).value();
            QVERIFY((queued == without) == (batch < 2));
        }
    }

    void pictures_that_are_not_alike_have_features_that_are_not() {
        RecordedSwav recorded;
        const std::vector<Token> all = recorded.reference.records();
        const auto statistics = recorded.network.norm_statistics(all);
        QVERIFY(statistics.ok());
        std::vector<std::string> names;
        for (const NormStatistics& one : *statistics) {
            names.push_back(one.name);
            for (const float variance : one.variance) QVERIFY(variance >= 0 && std::isfinite(variance));
        }
        const std::vector<std::string> first = {"bn1", "layer1.0.bn1", "layer1.0.bn2", "layer2.0.bn1"};
        QVERIFY(std::ranges::equal(std::span(names).first(first.size()), first));
        QCOMPARE(names.back(), std::string("layer4.0.downsample.1"));
        QCOMPARE(names.size(), std::size_t{12});
        const auto features = recorded.network.features(all, *statistics);
        QVERIFY(features.ok());
        const std::uint64_t width = model::swav_features(recorded.reference.spec);
        QCOMPARE(features->size(), 30 * width);
        // What statistics are frozen does not depend on what else is looked at.
        const auto one =
            recorded.network.features(std::span(all).first(recorded.reference.spec.context + 1), *statistics);
        QVERIFY(distance(*one, std::span(*features).first(width), length(*one)) < 1e-5);
        QVERIFY(distance(*one, std::span(*features).subspan(width, width), length(*one)) > 0.1);
    }

    /// Each picture is there twice, so that its nearest is known: the other one.
    void the_trainer_tells_which_pictures_are_nearest() {
        const TrainingReference reference("swav", recorded_model());
        const std::vector<std::uint32_t> queries = {0, 6, 12, 18};
        constexpr std::uint32_t half = 12, asked = 8;
        std::vector<Token> records = reference.records();
        records.resize(half * (std::size_t{reference.spec.context} + 1));
        records.insert(records.end(), records.begin(), records.end());
        const std::vector<float> initial = reference.initial();
        const QTemporaryDir folder;
        const std::string state = folder.filePath("state").toStdString(), file = folder.filePath("p").toStdString();
        QVERIFY(write_file_atomically(state, std::as_bytes(std::span(initial))).ok());
        QVERIFY(write_file_atomically(file, model::stored_tokens(records, model::TokenWidth::bits16)).ok());
        TrainerService service(PrecisionChoice::fp32);
        const auto answer = [&](const auto& call) {
            return service.handle({1, std::string(call.name), to_json(call)});
        };
        control::NearestRequest request{{state, 0}, file, 2 * half, 4, asked};
        QVERIFY(answer(request).error.has_value());  // nothing is loaded
        control::LoadRequest load{reference.spec, reference.recipe, {state, 0}, 1};
        load.layout = to_json(Layout{});
        QVERIFY(!answer(load).error);
        const auto reply = control::read_as<control::NearestReply>(answer(request).result).value();
        QCOMPARE(reply.rows.size(), queries.size());
        for (std::size_t i = 0; i < queries.size(); ++i) {
            const control::NearestRow& row = reply.rows[i];
            QCOMPARE(row.query, queries[i]);
            QCOMPARE(row.nearest.front(), (row.query + half) % (2 * half));
            QVERIFY(std::ranges::count(row.nearest, row.query) == 0);
            QCOMPARE(std::set(row.nearest.begin(), row.nearest.end()).size(), std::size_t{asked});
        }
        // What is asked beyond what there is.
        request.records = 3;
        records.resize(3 * (std::size_t{reference.spec.context} + 1));
        QVERIFY(write_file_atomically(file, model::stored_tokens(records, model::TokenWidth::bits16)).ok());
        const auto few = control::read_as<control::NearestReply>(answer(request).result).value();
        QVERIFY(few.rows.size() == 3 && few.rows.front().nearest.size() == 2);
    }

    void only_swav_compares_pictures() {
        QCOMPARE(make_model({}, {})->similarities_of({}).error().code, ErrorCode::invalid_argument);
    }

    void equal_pictures_collapse_and_it_is_noticed() {
        RecordedSwav recorded;
        std::fill(recorded.records.begin(), recorded.records.end(), Token{0});
        const auto found = recorded.network.evaluate(recorded.records, 0);
        QVERIFY(found.ok() && found->clusters);
        std::vector<float> chosen(found->clusters->chosen.begin(), found->clusters->chosen.end());
        QVERIFY(clusters_used(chosen, chosen.size()) < 1.001);
        QVERIFY(has_collapsed(found->loss_sum * recorded.reference.mean_scale(), 12));
    }

    void a_record_that_is_no_picture_is_refused() {
        RecordedSwav recorded;
        std::vector<float> gradient(recorded.parameters.size(), 0.0F);
        for (const std::size_t place : {std::size_t{5}, std::size_t{recorded.reference.spec.context}}) {
            recorded.records = recorded.reference.first_batch();
            recorded.records[place] = 256;
            QCOMPARE(recorded.gradient(gradient).error().code, ErrorCode::malformed);
            QCOMPARE(recorded.network.evaluate(recorded.records, 0).error().code, ErrorCode::malformed);
        }
        QCOMPARE(length(gradient), 1e-30);
        QCOMPARE(recorded.network.next_logits({}).error().code, ErrorCode::invalid_argument);
    }

    /// Autograd would sum a picture coder's gradients in 16 bits.
    void a_trainer_takes_products_in_16_bits_for_swav_and_not_for_a_picture_coder() {
        Layout layout;
        layout.matmul = Dtype::bf16;
        const run::Recipe recipe{.batch = recorded_batch};
        QVERIFY(Trainer::create({.model = recorded_model(), .recipe = recipe, .layout = layout, .threads = 1}).ok());
        const model::ModelSpec coder = model::model_preset("coder-small").value();
        QVERIFY(!Trainer::create({.model = coder, .recipe = recipe, .layout = layout, .threads = 1}).ok());
    }

    void a_batch_that_is_no_multiple_is_refused() {
        run::Recipe recipe;
        recipe.batch = recorded_batch + 1;
        const auto refused = Trainer::create({.model = recorded_model(), .recipe = recipe, .layout = {}, .threads = 1});
        QVERIFY(!refused.ok() && refused.error().code == ErrorCode::invalid_argument);
        QVERIFY(refused.error().message.find("3 pictures together") != std::string::npos);
        recipe.batch = 2 * recorded_batch;
        QVERIFY(Trainer::create({.model = recorded_model(), .recipe = recipe, .layout = {}, .threads = 1}).ok());
    }
};

QTEST_GUILESS_MAIN(SwavParityTest)
#include "test_swav_parity.moc"
