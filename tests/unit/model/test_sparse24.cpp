#include <QTest>

#include <array>
#include <cmath>
#include <vector>

#include "core/base/rng.h"
#include "core/model/sparse_model.h"
#include "core/numerics/sparse24.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using numerics::InputsAlong;
using numerics::prune_2_of_4;

namespace {

using Values = std::vector<float>;

std::vector<float> random_values(std::size_t count) {
    Rng rng(7);
    Values values(count);
    for (float& value : values) value = static_cast<float>(rng.unit() - 0.5);
    return values;
}

}  // namespace

class Sparse24Test : public QObject {
    Q_OBJECT
private slots:
    void the_two_largest_of_four_columns_stay() {
        Values weights = {1,  -2, 3, -4, 0.5F, 0.1F, -0.2F, 0.4F,  //
                          -9, 8,  7, 6,  0,    0,    5,     0};
        QCOMPARE(prune_2_of_4(weights, {2, 8}, InputsAlong::columns), std::uint64_t{9});
        const Values expected = {0,  0, 3, -4, 0.5F, 0, 0, 0.4F,  //
                                 -9, 8, 0, 0,  0,    0, 5, 0};
        QVERIFY(weights == expected);
    }

    void the_two_largest_of_four_rows_stay() {
        Values weights = {1,  10,  //
                          -2, 9,   //
                          3,  8,   //
                          -4, 7,   //
                          5,  -1,  // a group of two at the end stays whole
                          6,  -2};
        QCOMPARE(prune_2_of_4(weights, {6, 2}, InputsAlong::rows), std::uint64_t{4});
        const Values expected = {0, 10, 0, 9, 3, 0, -4, 0, 5, -1, 6, -2};
        QVERIFY(weights == expected);
    }

    void of_equal_sums_the_first_pattern_stays() {
        const std::array<std::pair<Values, Values>, 4> cases{{{{1, 1, 1, 1}, {1, 1, 0, 0}},
                                                              {{1, 2, 1, 1}, {1, 2, 0, 0}},
                                                              {{1, 1, 1, 2}, {1, 0, 0, 2}},
                                                              {{0, 1, 1, 1}, {0, 1, 1, 0}}}};
        for (auto [weights, expected] : cases) {
            prune_2_of_4(weights, {1, 4}, InputsAlong::columns);
            QVERIFY(weights == expected);
        }
    }

    void a_last_group_of_three_keeps_two() {
        Values weights = {1, 2, 3, 4, -3, 1, 2};
        QCOMPARE(prune_2_of_4(weights, {1, 7}, InputsAlong::columns), std::uint64_t{3});
        QVERIFY(weights == Values({0, 0, 3, 4, -3, 0, 2}));
    }

    void rows_and_columns_are_one_rule_seen_from_two_sides() {
        constexpr std::size_t out = 12, in = 20;
        Values weights = random_values(out * in), turned(out * in);
        for (std::size_t o = 0; o < out; ++o) {
            for (std::size_t i = 0; i < in; ++i) turned[i * out + o] = weights[o * in + i];
        }
        QCOMPARE(prune_2_of_4(weights, {out, in}, InputsAlong::columns), std::uint64_t{out * in / 2});
        QCOMPARE(prune_2_of_4(turned, {in, out}, InputsAlong::rows), std::uint64_t{out * in / 2});
        for (std::size_t o = 0; o < out; ++o) {
            for (std::size_t i = 0; i < in; ++i) QCOMPARE(turned[i * out + o], weights[o * in + i]);
        }
        const Values once = weights;
        prune_2_of_4(weights, {out, in}, InputsAlong::columns);
        QVERIFY(weights == once);
    }

    void a_model_is_pruned_along_its_inputs_and_only_within_layers() {
        model::ModelSpec gpt2 = run::samples::model();
        model::ModelSpec opt = gpt2;
        opt.family = model::Family::opt;
        opt.embedding = 4;
        for (const model::ModelSpec& model : {gpt2, opt}) {
            const Values before = random_values(model.parameters());
            Values after = before;
            const model::PrunedModel pruned = model::prune_2_of_4(model, after);
            QCOMPARE(pruned.weights, std::uint64_t{12 * 8 * 8});
            QCOMPARE(pruned.zeros, pruned.weights / 2);
            for (const model::TensorSpec& tensor : model::tensors_of(model)) {
                const bool dense = tensor.shape.size() == 1 || tensor.name.find("embed") != std::string::npos ||
                                   tensor.name.find("project_") != std::string::npos || tensor.name.starts_with("w");
                const auto value = [&](std::size_t row, std::size_t column) {
                    return after[tensor.offset + row * tensor.shape.back() + column];
                };
                for (std::uint64_t i = 0; i < tensor.elements() && dense; ++i) {
                    QCOMPARE(after[tensor.offset + i], before[tensor.offset + i]);
                }
                if (dense) continue;
                // The first group of the first output: along rows for [in, out], along columns for [out, in].
                int zeros = 0;
                for (std::size_t i = 0; i < 4; ++i) {
                    zeros += (model.family == model::Family::gpt2 ? value(i, 0) : value(0, i)) == 0.0F ? 1 : 0;
                }
                QCOMPARE(zeros, 2);
            }
        }
    }
};

QTEST_APPLESS_MAIN(Sparse24Test)
#include "test_sparse24.moc"
