// Optimizer steps beside recorded ones: PyTorch's AdamW and a LAMB in double precision within rounding, and digests of
// parameters and state that stay what they are.
#include <QtTest>

#include <bit>
#include <cmath>

#include "core/base/sha256.h"
#include "core/numerics/optimizer/optimizer_parts.h"
#include "tests/golden/numerics_inputs.h"

using namespace potluck;
using namespace potluck::numerics;
using inputs::Kind;

namespace {

QList<QByteArray> lines_of(const char* file) {
    QFile source(QStringLiteral(POTLUCK_SOURCE_DIR "/tests/golden/numerics/") + file);
    if (!source.open(QIODevice::ReadOnly)) qFatal("cannot open %s", file);
    QList<QByteArray> lines;
    for (const QByteArray& line : source.readAll().split('\n')) {
        if (!line.isEmpty() && !line.startsWith('#')) lines.append(line);
    }
    return lines;
}

void add_rows(const char* file) {
    QTest::addColumn<QByteArray>("line");
    for (const QByteArray& line : lines_of(file)) QTest::newRow(line.left(20).constData()) << line;
}

/// The fractions of make_optimizer.py.
float fraction(std::size_t i, std::size_t salt) {
    return static_cast<float>((static_cast<double>((i * 7919 + salt * 104729) % 2001) - 1000) / 1000);
}

StepHyperparams settings_named(const QByteArray& name) {
    if (name == "adamw") return {.kind = OptimizerKind::adamw};
    if (name == "lamb") return {.kind = OptimizerKind::lamb};
    if (name == "lamb-rate") return {.kind = OptimizerKind::lamb, .lamb_debias = LambDebias::rate};
    if (name == "lamb-none") return {.kind = OptimizerKind::lamb, .lamb_debias = LambDebias::none};
    qFatal("unknown optimizer %s", name.constData());
}

template <class Dtype>
std::vector<Dtype> vector_of(const std::vector<float>& values) {
    if constexpr (std::is_same_v<Dtype, float>) {
        return values;
    } else {
        std::vector<Dtype> out;
        for (const float x : values)
            out.push_back({static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16U)});
        return out;
    }
}

/// SHA-256 of the parameters and of all moments after five steps on seeded inputs.
template <class Parameter, class Gradient>
std::string digest(Isa path, StepHyperparams settings, StateBits bits, unsigned threads) {
    constexpr std::size_t size = 80'000;
    OptimizerState state({{0, 3'000, 0.0F}, {3'000, 75'001, 0.1F}, {75'001, size, 0.1F}}, bits);
    std::vector<Parameter> parameters = vector_of<Parameter>(inputs::make(Kind::bell, size, 1));
    for (std::uint64_t step = 1; step <= 5; ++step) {
        const std::vector<Gradient> gradient = vector_of<Gradient>(inputs::make(Kind::clustered, size, 10 + step));
        settings.learning_rate = 1e-3;
        settings.step = settings.rounding_seed = step;
        optimizer_step_with<Parameter, Gradient>(path, state, 0, 3, parameters, gradient, settings, threads);
    }
    Sha256 hash;
    hash.update(std::as_bytes(std::span(parameters)));
    for (std::size_t i = 0; i < 3; ++i) {
        const OptimizerState::Moments moments = state.moments(i);
        hash.update(std::as_bytes(moments.mean_codes));
        hash.update(std::as_bytes(moments.variance_codes));
        hash.update(std::as_bytes(moments.mean_scales));
        hash.update(std::as_bytes(moments.variance_scales));
        hash.update(std::as_bytes(moments.mean));
        hash.update(std::as_bytes(moments.variance));
    }
    return hash.finish().hex();
}

}  // namespace

class TestOptimizerGolden : public QObject {
    Q_OBJECT
private slots:
    void ten_steps_equal_the_reference_data() { add_rows("optimizer_reference.txt"); }
    void ten_steps_equal_the_reference();
    void states_have_their_digests_data() { add_rows("optimizer_digests.txt"); }
    void states_have_their_digests();
};

void TestOptimizerGolden::ten_steps_equal_the_reference() {
    QFETCH(QByteArray, line);
    const QList<QByteArray> field = line.simplified().split(' ');
    const std::size_t size = static_cast<std::size_t>(field.size()) - 1;
    QCOMPARE(size, std::size_t{60});
    std::vector<float> parameters(size), gradient(size);
    for (std::size_t i = 0; i < size; ++i) parameters[i] = fraction(i, 99);
    OptimizerState state({{0, size, 0.1F}}, StateBits::bits32);
    const float scales[] = {1e-4F, 1e-3F, 1e-2F, 1e-1F, 1.0F};
    StepHyperparams settings = settings_named(field[0]);
    settings.learning_rate = 0.02;
    for (std::uint64_t step = 1; step <= 10; ++step) {
        for (std::size_t i = 0; i < size; ++i) gradient[i] = fraction(i, step) * scales[i % 5];
        settings.step = step;
        optimizer_step<float, float>(state, 0, 1, parameters, gradient, settings, 1);
    }
    for (std::size_t i = 0; i < size; ++i) {
        const double expected = field[static_cast<qsizetype>(i) + 1].toDouble();
        const double off = std::fabs(static_cast<double>(parameters[i]) - expected);
        QVERIFY2(off < 1e-6, qPrintable(QString("%1: %2").arg(i).arg(off)));
    }
}

void TestOptimizerGolden::states_have_their_digests() {
    // optimizer, bits of the moments, "bf16" or "fp32" for parameters and gradient, digest
    QFETCH(QByteArray, line);
    const QList<QByteArray> field = line.simplified().split(' ');
    QCOMPARE(field.size(), 5);
    const StepHyperparams kind = settings_named(field[0]);
    const StateBits bits = field[1] == "8" ? StateBits::bits8 : StateBits::bits32;
    const bool half_parameters = field[2] == "bf16", half_gradient = field[3] == "bf16";
    for (const Isa path : {Isa::baseline, Isa::avx2, Isa::avx512}) {
        if (!available(path)) continue;
        std::string found;
        if (!half_parameters && !half_gradient) found = digest<float, float>(path, kind, bits, 2);
        if (!half_parameters && half_gradient) found = digest<float, Bf16>(path, kind, bits, 2);
        if (half_parameters && !half_gradient) found = digest<Bf16, float>(path, kind, bits, 2);
        if (half_parameters && half_gradient) found = digest<Bf16, Bf16>(path, kind, bits, 2);
        QCOMPARE(QByteArray::fromStdString(found), field[4]);
    }
}

QTEST_APPLESS_MAIN(TestOptimizerGolden)
#include "test_optimizer_golden.moc"
