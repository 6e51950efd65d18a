// Products of fp32 matrices, by either library.
#include <QTest>

// LibTorch's headers have functions of a name that Qt takes for a word of its own.
#pragma push_macro("slots")
#undef slots
#include "core/base/processor/isa.h"
#include "core/training/compute/device.h"
#include "core/training/compute/products.h"
#pragma pop_macro("slots")

using namespace potluck::training;

namespace {

at::Tensor numbers(std::int64_t rows, std::int64_t columns) {
    return at::arange(rows * columns, at::kFloat).mul_(0.7).sin_().view({rows, columns});
}

/// Largest distance of a product of fp32 from the one in double precision.
double error_of(const at::Tensor& got, const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias) {
    at::Tensor expected = at::mm(a.to(at::kDouble), b.to(at::kDouble));
    if (bias.defined()) expected = expected + bias;
    return (got.to(at::kDouble) - expected).abs().max().item<double>();
}

}  // namespace

class ProductsTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { limit_libraries(); }

    void either_library_multiplies_data() {
        QTest::addColumn<int>("rows");
        QTest::addColumn<int>("inner");
        QTest::addColumn<int>("columns");
        QTest::newRow("one number") << 1 << 1 << 1;
        QTest::newRow("one row") << 1 << 40 << 7;
        QTest::newRow("odd sizes") << 33 << 17 << 5;
        QTest::newRow("a layer's") << 112 << 256 << 768;
    }
    void either_library_multiplies() {
        QFETCH(const int, rows);
        QFETCH(const int, inner);
        QFETCH(const int, columns);
        const at::Tensor a = numbers(rows, inner), b = numbers(inner, columns);
        const at::Tensor bias = at::arange(columns, at::kFloat);
        const double bound = 1e-6 * inner + 1e-6 * columns;
        for (const ProductLibrary library : {ProductLibrary::torch, ProductLibrary::onednn}) {
            if (library == ProductLibrary::onednn && !has_onednn()) continue;
            QVERIFY(error_of(product_by(library, a, b), a, b, {}) < bound);
            QVERIFY(error_of(product_by(library, a, b, bias), a, b, bias) < bound);
            // What a backward pass multiplies: views of transposed matrices.
            const at::Tensor a_columns = a.t().contiguous(), b_columns = b.t().contiguous();
            QVERIFY(error_of(product_by(library, a_columns.t(), b), a, b, {}) < bound);
            QVERIFY(error_of(product_by(library, a, b_columns.t()), a, b, {}) < bound);
            QVERIFY(error_of(product_by(library, a_columns.t(), b_columns.t(), bias), a, b, bias) < bound);
            // And rows of larger ones.
            const at::Tensor larger = at::cat({a, a}, 0);
            QVERIFY(error_of(product_by(library, larger.narrow(0, rows, rows), b), a, b, {}) < bound);
        }
    }

    void no_rows_and_other_numbers_are_multiplied_too() {
        QCOMPARE(product(at::empty({0, 4}), at::ones({4, 3})).size(0), 0);
        QCOMPARE(product(at::ones({2, 0}), at::ones({0, 3})).abs().max().item<float>(), 0.0F);
        const at::Tensor a = numbers(9, 8).to(at::kBFloat16), b = numbers(8, 5).to(at::kBFloat16);
        QCOMPARE(product(a, b).scalar_type(), at::kBFloat16);
        QVERIFY(error_of(product(a, b), a, b, {}) < 0.05);
    }

    void onednn_multiplies_where_mkl_uses_half_a_register() {
        using potluck::device::SimdFacts;
        const SimdFacts wide{.avx2 = true, .avx512 = true}, narrow{.avx2 = true};
        const SimdFacts intel{.avx2 = true, .avx512 = true, .intel = true};
        QVERIFY(product_library_for(wide, true) == ProductLibrary::onednn);
        QVERIFY(product_library_for(wide, false) == ProductLibrary::torch);
        QVERIFY(product_library_for(narrow, true) == ProductLibrary::torch);
        QVERIFY(product_library_for(intel, true) == ProductLibrary::torch);
        const at::Tensor a = numbers(112, 256), b = numbers(256, 768);
        QVERIFY(at::equal(product(a, b), product_by(product_library(), a, b)));
    }

    void libtorch_computes_with_no_more_than_the_instruction_set_in_use() {
#if POTLUCK_X86_ISAS
        const char* const names[] = {"DEFAULT", "AVX2", "AVX512"};
        QVERIFY2(torch_capability() == names[static_cast<int>(potluck::isa_in_use())], torch_capability().c_str());
#endif
    }

    void libtorch_for_linux_on_such_processors_has_onednn() {
#if defined(__x86_64__) && defined(__linux__)
        QVERIFY(has_onednn());
#else
        QSKIP("LibTorch for other systems may lack it.");
#endif
    }
};

QTEST_GUILESS_MAIN(ProductsTest)
#include "test_products.moc"
