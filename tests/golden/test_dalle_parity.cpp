// DALL-E beside PyTorch, as recorded by training/make_dalle_reference.py.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/rng.h"
#include "core/model/presets.h"
#include "core/training/compute/device.h"
#include "core/training/picture/dalle.h"
#include "core/training/trainer.h"
#include "tests/golden/training_reference.h"

using namespace potluck;
using namespace potluck::test;
using namespace potluck::training;
using potluck::model::Token;

namespace {

constexpr std::uint32_t text = 6, grid = 4;

model::ModelSpec recorded_model() {
    model::ModelSpec spec;
    spec.family = model::Family::dalle;
    spec.vocabulary = 31;
    spec.layers = 7;
    spec.heads = 2;
    spec.width = 32;
    spec.dalle = {.text = text, .text_vocabulary = 20, .grid = grid, .blocks = 2};
    spec.context = model::dalle_context(spec.dalle);
    return spec;
}

/// One layer of each pattern and two sets of weights.
model::ModelSpec other_model(std::uint32_t text_tokens, std::uint32_t side) {
    model::ModelSpec spec = recorded_model();
    spec.layers = 4;
    spec.dalle = {.text = text_tokens, .text_vocabulary = 20, .grid = side, .blocks = 2};
    spec.context = model::dalle_context(spec.dalle);
    return spec;
}

/// Of which every layer adds as much as it takes, and rows attend to few others.
std::vector<float> strong_parameters(const model::ModelSpec& spec) {
    std::vector<float> parameters(spec.parameters());
    model::fill_initial_state(spec, 3, parameters);
    for (const model::TensorSpec& tensor : model::tensors_of(spec)) {
        const float factor = tensor.role == model::Role::scale    ? 8.0F
                             : tensor.role == model::Role::matrix ? 2.0F
                                                                  : 1.0F;
        for (std::uint64_t i = 0; i < tensor.elements(); ++i) parameters[tensor.offset + i] *= factor;
    }
    return parameters;
}

std::vector<Token> other_records(const model::ModelSpec& spec, std::uint64_t count) {
    Rng rng(9);
    std::vector<Token> records;
    for (std::uint64_t i = 0; i < count * (spec.context + 1); ++i) {
        const std::uint64_t place = i % (spec.context + 1);
        const std::uint32_t of_text = spec.dalle.text_vocabulary;
        const std::uint64_t code = of_text + rng.below(spec.vocabulary - of_text);
        records.push_back(static_cast<Token>(place > spec.dalle.text ? code : place == 0 ? 0 : rng.below(of_text)));
    }
    return records;
}

std::vector<float> finite(std::vector<float> values) {
    std::erase(values, -std::numeric_limits<float>::infinity());
    return values;
}

struct RecordedDalle : Recorded<Dalle> {
    explicit RecordedDalle(const ModelOptions& options = {}) : Recorded("dalle", recorded_model(), options) {}
    /// Scores behind the first `count` tokens of the first record, of which `changed` is another of its kind.
    [[nodiscard]] std::vector<float> scores(std::size_t count, std::size_t changed) {
        std::vector<std::uint32_t> tokens(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(count));
        if (changed < count) tokens[changed] += tokens[changed] % 20 == 10 ? -1U : 1U;
        return network.next_logits(tokens).value();
    }
};

}  // namespace

class DalleParityTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { use_threads(1); }

    void losses_and_gradients_are_pytorchs_data() {
        QTest::addColumn<int>("checkpointing");
        QTest::addColumn<int>("attention");
        QTest::addColumn<int>("kernels");
        const auto row = [](const char* name, Checkpointing checkpointing, AttentionKernel attention,
                            Kernels kernels = Kernels::own) {
            QTest::newRow(name) << static_cast<int>(checkpointing) << static_cast<int>(attention)
                                << static_cast<int>(kernels);
        };
        row("kept", Checkpointing::none, AttentionKernel::blocked);
        row("computed again", Checkpointing::full, AttentionKernel::blocked);
        row("computed backwards", Checkpointing::reversed, AttentionKernel::blocked);
        row("dense", Checkpointing::none, AttentionKernel::fused);
        row("by LibTorch's operations", Checkpointing::none, AttentionKernel::fused, Kernels::library);
        row("by LibTorch's operations, backwards", Checkpointing::reversed, AttentionKernel::fused, Kernels::library);
    }
    void losses_and_gradients_are_pytorchs() {
        QFETCH(const int, checkpointing);
        QFETCH(const int, attention);
        QFETCH(const int, kernels);
        RecordedDalle recorded({.attention = static_cast<AttentionKernel>(attention),
                                .checkpointing = static_cast<Checkpointing>(checkpointing),
                                .kernels = static_cast<Kernels>(kernels)});
        const auto figures = recorded.reference.values<double>("figures");
        const auto found = recorded.network.evaluate(recorded.records, 0);
        QVERIFY(found.ok() && found->captions);
        const double scale = recorded.reference.mean_scale();
        QVERIFY(std::abs(found->loss_sum * scale - figures[0]) < 1e-6);
        QVERIFY(std::abs(found->captions->text / recorded_batch - figures[1]) < 1e-6);
        QVERIFY(std::abs(found->captions->codes / recorded_batch - figures[2]) < 1e-6);
        compare_first_gradient(recorded, figures[0]);
    }

    void scores_are_pytorchs_and_none_of_the_other_kind() {
        RecordedDalle recorded;
        const auto check = [&](std::size_t count, const char* name, std::size_t from) {
            const std::vector<float> scores = recorded.scores(count, count);
            const auto expected = recorded.reference.values<float>(name);
            const auto own = std::span(scores).subspan(from, expected.size());
            QVERIFY(distance(own, expected, length(expected)) < 1e-5);
            const auto none = std::ranges::count(scores, -std::numeric_limits<float>::infinity());
            QCOMPARE(static_cast<std::size_t>(none), scores.size() - expected.size());
        };
        check(text, "text_scores", 0);       // before the caption's last token
        check(text + 7, "code_scores", 20);  // behind the sixth code
        QCOMPARE(recorded.network.next_logits({}).error().code, ErrorCode::invalid_argument);
        const std::vector<std::uint32_t> more(recorded.reference.spec.context + 1, 0);
        QCOMPARE(recorded.network.next_logits(more).error().code, ErrorCode::invalid_argument);
    }

    void a_pattern_hides_what_it_must_data() {
        QTest::addColumn<int>("layer");
        QTest::addColumn<int>("attention");
        for (const auto& [way, kernel] :
             {std::pair("gathered", AttentionKernel::blocked), std::pair("dense", AttentionKernel::fused)}) {
            QTest::addRow("row, %s", way) << 0 << static_cast<int>(kernel);
            QTest::addRow("column, %s", way) << 1 << static_cast<int>(kernel);
            QTest::addRow("near, %s", way) << 2 << static_cast<int>(kernel);
        }
    }
    /// Only one of three layers' attention adds anything: what a code's scores depend on is what it sees, and what
    /// those it sees were shifted from.
    void a_pattern_hides_what_it_must() {
        QFETCH(const int, layer);
        QFETCH(const int, attention);
        model::ModelSpec spec = recorded_model();
        spec.layers = 3;
        spec.dalle = {.text = 3, .text_vocabulary = 20, .grid = 7, .blocks = 1};
        spec.context = model::dalle_context(spec.dalle);
        std::vector<float> parameters(spec.parameters());
        model::fill_initial_state(spec, 3, parameters);
        const std::string only = "layers." + std::to_string(layer) + ".attention.scale";
        for (const model::TensorSpec& tensor : model::tensors_of(spec))
            if (tensor.role == model::Role::scale)
                std::fill_n(parameters.begin() + static_cast<std::ptrdiff_t>(tensor.offset), tensor.elements(),
                            tensor.name == only ? 1.0F : 0.0F);
        Dalle dalle(spec, {.attention = static_cast<AttentionKernel>(attention)});
        QVERIFY(dalle.use_parameters(parameters).ok());

        constexpr int side = 7, own_y = 5, own_x = 4;
        const auto seen = [&](int y, int x) {
            if (y < 0 || x < 0 || x >= side || y * side + x > own_y * side + own_x) return false;
            if (layer == 0) return y == own_y;
            return layer == 1 ? x == own_x : own_y - y <= 2 && std::abs(own_x - x) <= 2;
        };
        std::vector<std::uint32_t> tokens = {0, 5, 6, 1};
        for (std::uint32_t place = 0; place <= own_y * side + own_x; ++place) tokens.push_back(20 + place % 11);
        const std::vector<float> before = dalle.next_logits(tokens).value();
        for (std::size_t changed = 1; changed + 1 < tokens.size(); ++changed) {
            std::vector<std::uint32_t> others = tokens;
            others[changed] = changed < 4 ? 17 : 20 + (tokens[changed] - 20 + 5) % 11;
            const bool moved = dalle.next_logits(others).value() != before;
            const int place = static_cast<int>(changed) - 4, y = place / side, x = place % side;
            const bool shifted = seen(y + 1, x) || (x + 1 < side && seen(y, x + 1));
            const bool expected = changed < 4 || seen(y, x) || shifted || place + side == own_y * side + own_x ||
                                  (place + 1 == own_y * side + own_x && x + 1 < side);
            QVERIFY2(moved == expected, qPrintable(QString("token %1 at %2, %3").arg(changed).arg(y).arg(x)));
        }
    }

    void gathered_attention_is_the_dense_one_data() {
        QTest::addColumn<int>("text");
        QTest::addColumn<int>("grid");
        QTest::newRow("as recorded") << 6 << 4;
        QTest::newRow("two tokens, four codes") << 1 << 2;  // a reach beyond the picture
        QTest::newRow("odd") << 5 << 7;
        QTest::newRow("more rows than the kernel takes at once") << 60 << 12;
    }
    /// Losses, the gradients of all tensors, and what is drawn next behind every prefix of a record.
    void gathered_attention_is_the_dense_one() {
        QFETCH(const int, text);
        QFETCH(const int, grid);
        const model::ModelSpec spec = other_model(static_cast<std::uint32_t>(text), static_cast<std::uint32_t>(grid));
        std::vector<float> parameters = strong_parameters(spec);
        Dalle dense(spec, {.attention = AttentionKernel::fused, .kernels = Kernels::library}), gathered(spec, {});
        QVERIFY(dense.use_parameters(parameters).ok() && gathered.use_parameters(parameters).ok());
        const std::vector<Token> records = other_records(spec, 3);
        std::vector<float> expected(parameters.size()), got(parameters.size());
        const double loss = dense.add_gradient({.records = records, .gradient = expected}).value();
        const double gathered_loss = gathered.add_gradient({.records = records, .gradient = got}).value();
        QVERIFY(std::abs(loss - gathered_loss) < 1e-6 * loss);
        compare_gradients(spec, got, expected, 1e-5);
        QVERIFY(std::abs(gathered.evaluate(records, 0)->loss_sum - loss) < 1e-6 * loss);
        for (std::size_t count = 1; count <= spec.context; count += spec.context > 60 ? 7 : 1) {
            const std::vector<std::uint32_t> tokens(records.begin(),
                                                    records.begin() + static_cast<std::ptrdiff_t>(count));
            const std::vector<float> a = finite(gathered.next_logits(tokens).value());
            const std::vector<float> b = finite(dense.next_logits(tokens).value());
            QVERIFY2(distance(a, b, length(b)) < 1e-5, qPrintable(QString::number(count)));
        }
    }

    void layers_that_are_undone_have_the_gradients_of_layers_that_are_kept_data() {
        QTest::addColumn<int>("layers");
        QTest::addColumn<float>("scale");
        QTest::addColumn<int>("steepness");
        QTest::newRow("few layers") << 8 << 0.1F << 10;
        QTest::newRow("as many as were first trained") << 64 << 0.1F << 10;
        QTest::newRow("layers that add as much as they take") << 64 << 1.0F << 100;
    }
    /// An input that is computed backwards is off by what the layers behind it rounded, at most half a unit in the last
    /// place in each addition and each subtraction: 2 layers 2^-24 of a stream's length. A gradient follows its inputs
    /// smoothly; ten times as much is allowed for how steeply, and a hundred times where layers add as much as they
    /// take: streams are longer behind them than before, and what was rounded there is more of the shorter ones.
    void layers_that_are_undone_have_the_gradients_of_layers_that_are_kept() {
        QFETCH(const int, layers);
        QFETCH(const float, scale);
        QFETCH(const int, steepness);
        model::ModelSpec spec = other_model(5, 4);
        spec.layers = static_cast<std::uint32_t>(layers);
        std::vector<float> parameters(spec.parameters());
        model::fill_initial_state(spec, 3, parameters);
        for (const model::TensorSpec& tensor : model::tensors_of(spec))
            if (tensor.role == model::Role::scale)
                std::fill_n(parameters.begin() + static_cast<std::ptrdiff_t>(tensor.offset), tensor.elements(), scale);
        const std::vector<Token> records = other_records(spec, 3);
        const auto gradient_with = [&](Checkpointing checkpointing) {
            Dalle dalle(spec, {.checkpointing = checkpointing});
            POTLUCK_CHECK(dalle.use_parameters(parameters).ok());
            std::vector<float> gradient(parameters.size());
            POTLUCK_CHECK(dalle.add_gradient({.records = records, .gradient = gradient}).ok());
            return gradient;
        };
        const std::vector<float> kept = gradient_with(Checkpointing::none);
        const std::vector<float> undone = gradient_with(Checkpointing::reversed);
        QVERIFY(kept != undone);
        compare_gradients(spec, undone, kept, steepness * 2 * layers * std::exp2(-24.0));
    }

    void a_loss_that_is_not_finite_leaves_the_gradient_alone() {
        for (const Checkpointing checkpointing : {Checkpointing::none, Checkpointing::full, Checkpointing::reversed}) {
            RecordedDalle recorded({.checkpointing = checkpointing});
            recorded.parameters[0] = std::numeric_limits<float>::quiet_NaN();
            QVERIFY(recorded.network.use_parameters(recorded.parameters).ok());
            std::vector<float> gradient(recorded.parameters.size(), 1.0F);
            const Result<double> loss =
                recorded.network.add_gradient({.records = recorded.records, .gradient = gradient});
            QVERIFY(loss.ok() && std::isnan(*loss));
            QVERIFY(gradient == std::vector<float>(gradient.size(), 1.0F));
        }
    }

    void no_other_models_layers_are_undone() {
        TrainerSetup setup;
        setup.model = model::model_preset("tiny").value();
        setup.layout.checkpointing = Checkpointing::reversed;
        const Result<Trainer> refused = Trainer::create(setup);
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, ErrorCode::invalid_argument);
        setup.model = recorded_model();
        QVERIFY(Trainer::create(setup).ok());
    }

    void no_row_sees_what_comes_after_it() {
        RecordedDalle recorded;
        const std::size_t size = recorded.reference.spec.context;
        // Scores behind a prefix cannot know what was cut off; those of the whole record must be the same.
        const auto figures = recorded.network.evaluate(std::span(recorded.records).first(size + 1), 0);
        double sum = 0;
        for (std::size_t row = 1; row <= size; ++row) {
            const std::vector<float> scores = recorded.scores(row, row);
            double all = 0;
            for (const float score : scores) all += std::exp(static_cast<double>(score));
            const double nats = std::log(all) - static_cast<double>(scores[recorded.records[row]]);
            sum += row <= text ? nats / text : 7 * nats / (grid * grid);
        }
        QVERIFY(std::abs(sum / 8 - figures->loss_sum / static_cast<double>(size)) < 1e-5);
    }

    void micro_batches_of_one_add_up_to_the_whole() {
        RecordedDalle recorded;
        compare_micro_batches(recorded.reference, recorded.network);
    }

    void a_record_that_is_no_captioned_picture_is_refused() {
        RecordedDalle recorded;
        for (const auto& [place, value] :
             std::vector<std::pair<std::size_t, Token>>{{0, 1}, {text, 20}, {text + 1, 19}, {text + grid * grid, 31}})
            compare_refusal(recorded.reference, recorded.network, place, value);
    }

    void ten_steps_end_where_pytorchs_end() { compare_ten_steps({"dalle", recorded_model()}, 1e-5, 1e-3); }

    void products_in_16_bits_are_refused() { compare_refusal_of_16_bits(recorded_model()); }
};

QTEST_GUILESS_MAIN(DalleParityTest)
#include "test_dalle_parity.moc"
