// Muon: the orthogonalisation beside plain loops, the two halves of a matrix's step beside their formulas, whole steps
// beside AdamW where they are AdamW's, and training in every layout that the plan allows.
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "core/base/rng.h"
#include "core/model/initial_state.h"
#include "core/numerics/optimizer/dynamic_map.h"
#include "core/numerics/optimizer/momentum.h"
#include "core/training/compute/device.h"
#include "core/training/memory/plan.h"
#include "core/training/muon.h"
#include "core/training/trainer.h"

using namespace potluck;
using namespace potluck::training;
using numerics::OptimizerKind;
using numerics::OptimizerState;
using numerics::ParameterSlice;
using numerics::SliceRule;
using numerics::StateBits;
using numerics::StepHyperparams;

namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix product(const Matrix& a, const Matrix& b) {
    Matrix c(a.size(), std::vector<double>(b[0].size()));
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t k = 0; k < b.size(); ++k) {
            for (std::size_t j = 0; j < b[0].size(); ++j) c[i][j] += a[i][k] * b[k][j];
        }
    }
    return c;
}

Matrix transposed(const Matrix& a) {
    Matrix b(a[0].size(), std::vector<double>(a.size()));
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < a[0].size(); ++j) b[j][i] = a[i][j];
    }
    return b;
}

/// As the Muon of modded-nanogpt, in plain loops of doubles.
Matrix plain_orthogonal(Matrix x) {
    double squares = 0;
    for (const auto& row : x) {
        for (const double value : row) squares += value * value;
    }
    for (auto& row : x) {
        for (double& value : row) value /= std::sqrt(squares);
    }
    const bool tall = x.size() > x[0].size();
    if (tall) x = transposed(x);
    for (int step = 0; step < 5; ++step) {
        const Matrix a = product(x, transposed(x)), aa = product(a, a);
        Matrix b = a;
        for (std::size_t i = 0; i < a.size(); ++i) {
            for (std::size_t j = 0; j < a.size(); ++j) b[i][j] = -4.7750 * a[i][j] + 2.0315 * aa[i][j];
        }
        const Matrix bx = product(b, x);
        for (std::size_t i = 0; i < x.size(); ++i) {
            for (std::size_t j = 0; j < x[0].size(); ++j) x[i][j] = 3.4445 * x[i][j] + bx[i][j];
        }
    }
    return tall ? transposed(x) : x;
}

/// Part `part` of a flat matrix.
Matrix part_of(std::span<const float> flat, const MatrixShape& shape, std::size_t part) {
    const std::size_t columns = shape.columns / shape.parts;
    Matrix out(shape.rows, std::vector<double>(columns));
    for (std::size_t i = 0; i < shape.rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
            out[i][j] = static_cast<double>(flat[i * shape.columns + part * columns + j]);
        }
    }
    return out;
}

std::vector<float> random_numbers(std::size_t size, std::uint64_t seed, double scale) {
    Rng rng(seed);
    std::vector<float> out(size);
    for (float& value : out) value = static_cast<float>(scale * (2 * rng.unit() - 1));
    return out;
}

/// The largest difference, over the largest value expected.
double distance(const Matrix& got, const Matrix& expected, double scale) {
    double difference = 0, largest = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        for (std::size_t j = 0; j < got[0].size(); ++j) {
            difference = std::max(difference, std::fabs(got[i][j] - scale * expected[i][j]));
            largest = std::max(largest, std::fabs(scale * expected[i][j]));
        }
    }
    return difference / largest;
}

model::ModelSpec small_model(model::Family family = model::Family::gpt2) {
    model::ModelSpec spec;
    spec.family = family;
    spec.vocabulary = 64;
    spec.context = 16;
    spec.layers = 2;
    spec.heads = 2;
    spec.width = 80;  // its matrices are long enough for 8-bit moments
    return spec;
}

run::Recipe muon_recipe() {
    run::Recipe recipe;
    recipe.optimizer = run::Optimizer::muon;
    recipe.batch = 4;
    return recipe;
}

struct Vectors {
    FlatVector parameters, gradient;
    Vectors(std::span<const float> values, std::span<const float> slope, Dtype parameter_dtype, Dtype gradient_dtype)
        : parameters(FlatVector::zeros(values.size(), parameter_dtype, {}).value()),
          gradient(FlatVector::zeros(slope.size(), gradient_dtype, {}).value()) {
        if (!parameters.write(0, values).ok() || !gradient.write(0, slope).ok()) qFatal("not written");
    }
    [[nodiscard]] std::vector<float> now() const {
        std::vector<float> out(parameters.size());
        if (!parameters.read(0, out).ok()) qFatal("not read");
        return out;
    }
};

constexpr std::uint64_t records = 60;

struct Training {
    QTemporaryDir folder;
    model::ModelSpec model = small_model();
    run::Recipe recipe = muon_recipe();
    Layout layout;

    [[nodiscard]] std::string shard() const { return folder.filePath("shard").toStdString(); }
    Training() {
        std::ofstream file(shard(), std::ios::binary);
        Rng rng(2);
        std::uint64_t token = 0;
        for (std::uint64_t i = 0; i < records * (model.context + 1); ++i) {
            token = rng.below(8) == 0 ? rng.below(64) : (token * 5 + 3) % 64;
            const auto wide = static_cast<std::uint16_t>(token);
            file.write(reinterpret_cast<const char*>(&wide), 2);
        }
    }
    /// The mean loss of the last ten of `steps` steps.
    [[nodiscard]] double loss_after(std::uint64_t steps) const {
        Trainer trainer = Trainer::create({.model = model, .recipe = recipe, .layout = layout}).value();
        std::vector<float> initial(model.parameters());
        model::fill_initial_state(model, 1, initial);
        if (!trainer.start_from(initial).ok()) qFatal("no start");
        TrainingPlace place;
        place.key = {9, {0}, PeerId{}};
        place.shard_path = shard();
        place.records = records;
        place.learning_rate = 1e-3;
        if (!trainer.train_in(place).ok()) qFatal("no place");
        WindowTotals before;
        while (trainer.totals().steps < steps) {
            if (trainer.totals().steps + 10 == steps && before.steps == 0) before = trainer.totals();
            if (!trainer.micro_step().ok()) qFatal("no step");
        }
        const WindowTotals& after = trainer.totals();
        return (after.loss_sum - before.loss_sum) / static_cast<double>(after.tokens - before.tokens);
    }
};

}  // namespace

class MuonTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { use_threads(1); }

    void an_orthogonalised_matrix_is_that_of_plain_loops() {
        for (const MatrixShape& shape :
             {MatrixShape{24, 40, 1}, MatrixShape{40, 24, 1}, MatrixShape{32, 32, 1}, MatrixShape{20, 60, 3}}) {
            const std::vector<float> momentum = random_numbers(shape.rows * shape.columns, shape.rows, 1e-3);
            for (const Dtype products : {Dtype::fp32, Dtype::bf16}) {
                std::vector<float> made = momentum;
                QVERIFY(orthogonalise(made, shape, 1.5, {{}, products}).ok());
                for (std::size_t part = 0; part < shape.parts; ++part) {
                    const Matrix expected = plain_orthogonal(part_of(momentum, shape, part));
                    const double off = distance(part_of(made, shape, part), expected, 1.5);
                    QVERIFY2(off < (products == Dtype::fp32 ? 1e-4 : 0.1), qPrintable(QString::number(off)));
                }
            }
        }
    }

    void rows_become_nearly_orthonormal() {
        const MatrixShape shape{16, 64, 1};
        std::vector<float> made = random_numbers(16 * 64, 5, 1.0);
        QVERIFY(orthogonalise(made, shape, 1, {}).ok());
        const Matrix x = part_of(made, shape, 0), gram = product(x, transposed(x));
        for (std::size_t i = 0; i < 16; ++i) {
            for (std::size_t j = 0; j < 16; ++j) {
                QVERIFY(i == j ? gram[i][i] > 0.4 && gram[i][i] < 1.6 : std::fabs(gram[i][j]) < 0.3);
            }
        }
    }

    /// Of three parts one is zero and one is not finite: neither moves, and neither disturbs the third.
    void parts_that_cannot_be_orthogonalised_become_zero() {
        const MatrixShape shape{8, 24, 3};
        std::vector<float> made = random_numbers(8 * 24, 6, 1.0);
        for (std::size_t row = 0; row < 8; ++row) std::fill_n(&made[row * 24], 8, 0.0F);
        made[3 * 24 + 9] = std::numeric_limits<float>::quiet_NaN();
        const Matrix expected = plain_orthogonal(part_of(made, shape, 2));
        QVERIFY(orthogonalise(made, shape, 1, {}).ok());
        for (std::size_t part = 0; part < 2; ++part) {
            for (const auto& row : part_of(made, shape, part)) {
                for (const double value : row) QCOMPARE(value, 0.0);
            }
        }
        QVERIFY(distance(part_of(made, shape, 2), expected, 1) < 1e-4);
    }

    void matrices_between_layers_are_muons_and_nothing_else() {
        const model::ModelSpec gpt2 = small_model(), opt = small_model(model::Family::opt);
        const std::vector<HiddenMatrix> ours = hidden_matrices(gpt2), theirs = hidden_matrices(opt);
        QCOMPARE(ours.size(), std::size_t{2 * 4});
        QCOMPARE(theirs.size(), std::size_t{2 * 6});  // q, k and v are tensors of their own
        QCOMPARE(ours[0].parts, 3U);                  // c_attn
        QCOMPARE(ours[0].scale, 1.0);
        QCOMPARE(ours[2].scale, 2.0);    // c_fc, [in, out]: four outputs to an input
        QCOMPARE(ours[3].scale, 1.0);    // c_proj
        QCOMPARE(theirs[4].scale, 2.0);  // fc1, [out, in]
        QCOMPARE(theirs[5].scale, 1.0);
        for (const model::ModelSpec& model : {gpt2, opt}) {
            const auto slices = optimizer_slices(model, muon_recipe());
            std::uint64_t in_matrices = 0;
            for (const ParameterSlice& slice : slices) {
                if (slice.rule == SliceRule::matrix) in_matrices += slice.end - slice.begin;
            }
            QCOMPARE(in_matrices, 2ULL * 12 * 80 * 80);
            QVERIFY(slices.front().rule == SliceRule::elementwise);  // embedding and head
            for (const ParameterSlice& slice : optimizer_slices(model, {})) {
                QVERIFY(slice.rule == SliceRule::elementwise);
            }
        }
    }

    void the_momentum_is_a_mean_of_gradients_with_either_number_of_bits() {
        constexpr std::size_t begin = 1'000, size = 70'000;  // more than one piece, and a last block that is short
        const ParameterSlice slice{begin, begin + size, 0.1F, SliceRule::matrix};
        std::vector<float> gradient = random_numbers(begin + size + 10, 8, 1e-2);
        gradient[begin + 77] = std::numeric_limits<float>::infinity();
        const StepHyperparams settings{.kind = OptimizerKind::muon, .beta1 = 0.9, .gradient_scale = 0.5};
        for (const StateBits bits : {StateBits::bits32, StateBits::bits8}) {
            OptimizerState one({slice}, bits), two({slice}, bits);
            QCOMPARE(one.bytes(), bits == StateBits::bits32 ? 4 * size : size + 4 * ((size + 255) / 256));
            std::vector<float> momentum(size), other(size);
            for (int step = 0; step < 2; ++step) {
                numerics::momentum_step<float>(one, 0, gradient, settings, momentum, 1);
                numerics::momentum_step<float>(two, 0, gradient, settings, other, 3);
            }
            QVERIFY(momentum == other);
            QCOMPARE(momentum[77], 0.0F);
            for (std::size_t i = 0; i < size; ++i) {
                if (i == 77) continue;
                const double expected = 0.19 * 0.5 * static_cast<double>(gradient[begin + i]);
                const double bound = bits == StateBits::bits32 ? 1e-9 : 2e-5;
                QVERIFY(std::fabs(static_cast<double>(momentum[i]) - expected) < bound);
            }
            if (bits == StateBits::bits32) continue;
            const OptimizerState::Moments kept = one.moments(0);
            QVERIFY(kept.variance_codes.empty() && kept.variance_scales.empty() && kept.variance.empty());
            const float inverse = 1.0F / kept.mean_scales[2];
            for (std::size_t i = 512; i < 768; ++i) {
                QCOMPARE(kept.mean_codes[i], numerics::plain_mean_code(momentum[i] * inverse));
            }
        }
    }

    void a_step_moves_matrices_by_their_formula_and_the_rest_as_adamw_does() {
        const model::ModelSpec model = small_model();
        run::Recipe recipe = muon_recipe();
        const std::vector<float> start = random_numbers(model.parameters(), 1, 0.1);
        const std::vector<float> slope = random_numbers(model.parameters(), 2, 1e-2);
        Vectors ours(start, slope, Dtype::fp32, Dtype::fp32), theirs(start, slope, Dtype::fp32, Dtype::fp32);
        OptimizerState moments(optimizer_slices(model, recipe), StateBits::bits32);
        recipe.optimizer = run::Optimizer::adamw;
        OptimizerState adamw(optimizer_slices(model, recipe), StateBits::bits32);
        Muon muon = Muon::create(model, {}).value();
        StepHyperparams settings{.kind = OptimizerKind::muon, .learning_rate = 2e-3, .rounding_seed = 3};
        QVERIFY(muon.step(moments, ours.parameters, ours.gradient, settings, 1).ok());
        settings.kind = OptimizerKind::adamw;
        step_numbers(adamw, 0, adamw.slices().size(), theirs.parameters, theirs.gradient, settings, 1);

        const std::vector<float> after = ours.now(), by_adamw = theirs.now();
        const std::vector<HiddenMatrix> matrices = hidden_matrices(model);
        std::size_t stepped = 0;
        for (std::size_t i = 0; i < moments.slices().size(); ++i) {
            const ParameterSlice& slice = moments.slices()[i];
            const auto begin = static_cast<std::size_t>(slice.begin),
                       size = static_cast<std::size_t>(slice.end) - begin;
            if (slice.rule == SliceRule::elementwise) {
                QVERIFY(std::equal(&after[begin], &after[begin] + size, &by_adamw[begin]));
                continue;
            }
            const HiddenMatrix& matrix = matrices[stepped++];
            QCOMPARE(matrix.slice, i);
            const MatrixShape shape{matrix.rows, matrix.columns, matrix.parts};
            for (std::size_t part = 0; part < shape.parts; ++part) {
                const Matrix before = part_of(std::span(start).subspan(begin, size), shape, part);
                const Matrix moved = part_of(std::span(after).subspan(begin, size), shape, part);
                const Matrix way = plain_orthogonal(part_of(std::span(slope).subspan(begin, size), shape, part));
                for (std::size_t r = 0; r < way.size(); ++r) {
                    for (std::size_t c = 0; c < way[0].size(); ++c) {
                        const double rate = 7 * 2e-3;
                        const double expected = before[r][c] * (1 - rate * 0.1) - rate * matrix.scale * way[r][c];
                        QVERIFY(std::fabs(moved[r][c] - expected) < 1e-6);
                    }
                }
            }
        }
        QCOMPARE(stepped, matrices.size());
    }

    /// Two neighbours of bf16 are 2^-8 apart; what is smaller is rounded up or down, and right on average.
    void bf16_parameters_move_by_less_than_a_step_on_average() {
        constexpr std::size_t size = 65'536;
        const ParameterSlice slice{0, size, 0, SliceRule::matrix};
        std::vector<Bf16> parameters(size, Bf16{0x3f80});  // 1
        const std::vector<float> update(size, -0x1p-10F);
        numerics::update_step<Bf16>(slice, parameters, update, {.learning_rate = 1, .rounding_seed = 4}, 1);
        double sum = 0;
        for (const Bf16 value : parameters) sum += static_cast<double>(to_fp32(value)) - 1;
        QVERIFY(std::fabs(sum / size / 0x1p-10 - 1) < 0.05);
        std::vector<Bf16> again(size, Bf16{0x3f80});
        numerics::update_step<Bf16>(slice, again, update, {.learning_rate = 1, .rounding_seed = 4}, 3);
        QVERIFY(std::memcmp(again.data(), parameters.data(), size * sizeof(Bf16)) == 0);
    }

    void it_learns_in_every_layout_that_the_plan_allows() {
        const double untrained = std::log(64.0);
        for (const std::uint32_t bits : {8U, 32U}) {
            for (const Dtype numbers : {Dtype::fp32, Dtype::bf16}) {
                Training training;
                training.layout.state_bits = bits;
                training.layout.weights = training.layout.gradient = training.layout.matmul = numbers;
                training.layout.micro_batch = 3;
                const double loss = training.loss_after(80);
                QVERIFY2(loss < 0.5 * untrained, qPrintable(QString::number(loss)));
            }
        }
    }

    void a_layout_with_its_state_on_the_gpu_is_refused_and_never_planned() {
        Training training;
        training.layout.state = Residency::device;
        const auto refused =
            Trainer::create({.model = training.model, .recipe = training.recipe, .layout = training.layout});
        QVERIFY(!refused.ok());
        QVERIFY(refused.error().message.find("Muon") != std::string::npos);
        PlanFacts facts;
        facts.device = {DeviceKind::cuda, 0};
        facts.gpu_can_step = true;
        facts.ram_budget = facts.gpu_budget = 1ULL << 40U;
        for (const MemoryPlan& plan : all_plans(training.model, training.recipe, facts)) {
            QVERIFY(plan.layout.state == Residency::host);
        }
        const auto adamw = all_plans(training.model, {}, facts);
        QVERIFY(std::ranges::any_of(adamw, [](const auto& plan) { return plan.layout.state == Residency::device; }));
    }

    void the_plan_prices_one_momentum_for_matrices_and_their_work() {
        model::ModelSpec gpt2;
        gpt2.vocabulary = 50'257, gpt2.context = 1024, gpt2.layers = gpt2.heads = 12, gpt2.width = 768;
        const auto bytes = [&](const run::Recipe& recipe, const char* part) {
            std::uint64_t sum = 0;
            for (const control::PlanPart& row : price_of(gpt2, recipe, {}, {}).parts) {
                if (row.what == part) sum += row.ram;
            }
            return sum;
        };
        constexpr std::uint64_t hidden = 12ULL * 12 * 768 * 768, largest = 4ULL * 768 * 768;
        const std::uint64_t saved = bytes({}, "optimizer state") - bytes(muon_recipe(), "optimizer state");
        QCOMPARE(saved, hidden + hidden / 256 * 4);
        QCOMPARE(bytes(muon_recipe(), "momentum at work"), largest * 4);
        QCOMPARE(bytes({}, "momentum at work"), 0ULL);
    }
};

QTEST_APPLESS_MAIN(MuonTest)
#include "test_muon.moc"
