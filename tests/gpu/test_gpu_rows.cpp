// The passes over rows that the plug-in has for an NVIDIA GPU, beside LibTorch's in fp32 on the same GPU, in every type
// and in widths that are read four numbers at a time and one by one. Skipped where there is no GPU.
#include <QTest>

#include <cmath>
#include <utility>

// LibTorch's headers have functions of a name that Qt takes for a word of its own.
#pragma push_macro("slots")
#undef slots
#include <c10/core/InferenceMode.h>

#include "core/training/compute/cuda_rows.h"
#include "core/training/compute/devices.h"
#include "core/training/compute/products.h"
#pragma pop_macro("slots")

using namespace potluck;
using namespace potluck::training;
using at::Tensor;

namespace {

constexpr std::int64_t positions = 43, rows = 7 * positions;
const at::Device gpu(at::kCUDA, 0);

/// Numbers that a 16-bit type has, too, so that both sides read the same.
Tensor numbers(std::int64_t width, double seed, at::ScalarType as = at::kFloat) {
    const Tensor all = at::arange(rows * width, at::kDouble).add_(seed).mul_(12.9898).sin_().mul_(43.7585).sin_();
    return all.view({rows, width}).to(at::kFloat).to(gpu, at::kBFloat16).to(as);
}
Tensor line(std::int64_t width, double seed) { return numbers(width, seed)[0].clone(); }

double tolerance(at::ScalarType type) { return type == at::kFloat ? 2e-5 : type == at::kHalf ? 2e-3 : 1e-2; }

struct Both {
    at::ScalarType type;
    Operations own, library;
    explicit Both(at::ScalarType numbers)
        : type(numbers), own(numbers, gpu, Kernels::own), library(at::kFloat, gpu, Kernels::library) {}

    [[nodiscard]] bool agree(const Tensor& got, const Tensor& expected, const char* what) const {
        const Tensor wide = got.to(at::kDouble), wanted = expected.to(at::kDouble);
        const double error = ((wide - wanted).norm() / wanted.norm()).item<double>();
        if (error < tolerance(type)) return true;
        qWarning("%s: %g apart", what, error);
        return false;
    }
};

}  // namespace

class GpuRowsTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (open_backend().devices == 0) QSKIP("no GPU that LibTorch can use");
        QVERIFY2(CudaRows::open() != nullptr, "the plug-in is not beside the tests");
    }

    void types_and_widths() {
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("width");
        for (const auto& [name, type] :
             {std::pair{"fp32", at::kFloat}, std::pair{"bf16", at::kBFloat16}, std::pair{"fp16", at::kHalf}}) {
            for (const int width : {6, 34, 768, 1600})
                QTest::addRow("%s %d", name, width) << static_cast<int>(type) << width;
        }
    }

    void norms_are_librarys_data() { types_and_widths(); }
    void norms_are_librarys() {
        QFETCH(const int, type);
        QFETCH(const int, width);
        const c10::InferenceMode inference;
        const Both both(static_cast<at::ScalarType>(type));
        const Tensor x = numbers(width, 1).add_(0.5), gain = line(width, 2), bias = line(width, 3);
        const Tensor dy = numbers(width, 4);
        for (const bool rms : {false, true}) {
            const NormWeights w{gain, rms ? Tensor() : bias, 1e-5};
            NormCache own, library;
            QVERIFY(
                both.agree(both.own.norm(x, w, both.type, own), both.library.norm(x, w, at::kFloat, library), "norm"));
            QVERIFY(both.agree(own.rstd_N1, library.rstd_N1, "rstd"));
            const auto sums = [&] {
                return Operations::NormGradients{numbers(width, 5), line(width, 6), rms ? Tensor() : line(width, 7)};
            };
            const Operations::NormGradients got = sums(), expected = sums();
            both.own.norm_backward(dy.to(both.type), own, w, got);
            both.library.norm_backward(dy, library, w, expected);
            QVERIFY(both.agree(got.dx_NC, expected.dx_NC, "dx"));
            QVERIFY(both.agree(got.dgain_C, expected.dgain_C, "dgain"));
            QVERIFY(rms || both.agree(got.dbias_C, expected.dbias_C, "dbias"));
        }
    }

    void sums_of_columns_are_librarys_data() { types_and_widths(); }
    void sums_of_columns_are_librarys() {
        QFETCH(const int, type);
        QFETCH(const int, width);
        const c10::InferenceMode inference;
        const Both both(static_cast<at::ScalarType>(type));
        const Tensor x = numbers(width, 1).mul_(3), dy = numbers(width, 2);
        const Tensor got = line(width, 3), expected = line(width, 3);
        both.own.add_column_sums(dy.to(both.type), got);
        both.library.add_column_sums(dy, expected);
        QVERIFY(both.agree(got, expected, "sums"));
        QVERIFY(both.agree(both.own.narrow(dy, got, {}), both.library.narrow(dy, expected, {}), "narrow"));
        QVERIFY(both.agree(got, expected, "sums of what was narrowed"));
        for (const auto function : {model::Activation::gelu_tanh, model::Activation::relu}) {
            const Tensor dx =
                both.own.activation_backward(function, x.to(both.type), dy.to(both.type, false, true), got);
            QVERIFY(both.agree(dx, both.library.activation_backward(function, x, dy, expected), "activation"));
            QVERIFY(both.agree(got, expected, "sums behind an activation"));
        }
    }

    void gates_and_turns_are_librarys_data() { types_and_widths(); }
    void gates_and_turns_are_librarys() {
        QFETCH(const int, type);
        QFETCH(const int, width);
        const c10::InferenceMode inference;
        const Both both(static_cast<at::ScalarType>(type));
        const Tensor x = numbers(2 * width, 1).mul_(3), dy = numbers(width, 2);
        QVERIFY(both.agree(both.own.gated(x.to(both.type)), both.library.gated(x), "gated"));
        const Tensor dx = both.own.gated_backward(x.to(both.type, false, true), dy.to(both.type));
        QVERIFY(both.agree(dx, both.library.gated_backward(x.clone(), dy), "gradient of gated"));
        // Two heads of half the width turn, and as much behind them stays.
        const RotaryAngles angles = both.own.rotary_angles(positions, width, 1e4);
        for (const auto turn : {Operations::Turn::forward, Operations::Turn::back}) {
            const Tensor q = numbers(3 * width, 4), own = q.to(both.type, false, true), library = q.clone();
            both.own.rotate(own, angles, 2, positions, turn);
            both.library.rotate(library, angles, 2, positions, turn);
            QVERIFY(both.agree(own, library, "turned"));
        }
    }

    void losses_are_librarys_data() {
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("width");
        QTest::addColumn<int>("apart");
        for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
            for (const auto& [width, apart] : {std::pair{50'257, 50'304}, std::pair{1'001, 1'001}, std::pair{5, 64}})
                QTest::addRow("%s %d", c10::toString(type), width) << static_cast<int>(type) << width << apart;
        }
    }
    void losses_are_librarys() {
        QFETCH(const int, type);
        QFETCH(const int, width);
        QFETCH(const int, apart);
        const c10::InferenceMode inference;
        const Both both(static_cast<at::ScalarType>(type));
        Tensor logits = numbers(width, 1).mul_(8);
        const Tensor targets = at::arange(rows, at::kLong).mul_(7).remainder_(width).to(gpu);
        Tensor own = at::empty({rows, apart}, logits.options().dtype(both.type)).narrow(1, 0, width);
        own.copy_(logits);
        const double got = both.own.cross_entropy(own, targets, 0.5);
        const double expected = both.library.cross_entropy(logits, targets, 0.5);
        QVERIFY(std::abs(got - expected) < 1e-5 * expected);
        QVERIFY(both.agree(own, logits, "gradient"));
    }

    /// Its batch is dropped then.
    void a_logit_that_is_not_finite_makes_the_loss_so() {
        const c10::InferenceMode inference;
        const Both both(at::kBFloat16);
        const Tensor targets = at::zeros({rows}, at::TensorOptions(at::kLong).device(gpu));
        for (const double odd : {static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
            Tensor logits = numbers(1'000, 1, at::kBFloat16);
            logits[17].narrow(0, 900, 1).fill_(odd);
            QVERIFY(!std::isfinite(both.own.cross_entropy(logits, targets, 0)));
        }
    }

    void products_are_added_in_fp32() {
        if (!has_wide_sums()) QSKIP("this LibTorch adds no 16-bit products to fp32");
        const c10::InferenceMode inference;
        const Tensor x = numbers(48, 1), dy = numbers(136, 2);
        for (const auto type : {at::kBFloat16, at::kHalf}) {
            const Both both(type);
            // What 16 bits would lose: a sum of thousands, to which little is added.
            const Tensor got = at::full({48, 136}, 4096.0F, both.own.fp32()), expected = got.clone();
            both.own.add_product(got, x.to(type), dy.to(type));
            both.own.add_product(got.t(), dy.to(type), x.to(type));
            both.library.add_product(expected, x, dy);
            both.library.add_product(expected, x, dy);
            QVERIFY((got - expected).abs().max().item<double>() < 1e-2);
        }
    }
};

QTEST_GUILESS_MAIN(GpuRowsTest)
#include "test_gpu_rows.moc"
