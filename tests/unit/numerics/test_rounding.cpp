// The safeguard of bit-exactness: fails if multiplication and addition are fused, sums are reordered, or denormals are
// flushed, whether by a compiler option or by another library's setting of the thread.
#include <QtTest>

#include <cmath>

#include "core/numerics/outer/outer_step.h"
#include "core/numerics/rounding.h"
#include "tests/golden/numerics_inputs.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using namespace potluck;
using namespace potluck::numerics;

namespace {

#if defined(__x86_64__)
constexpr unsigned flushing = 0x8040;  // FTZ and DAZ
/// A thread as an inference library leaves it: denormals flushed, rounding towards zero.
struct SpoiledThread {
    unsigned before = _mm_getcsr();
    SpoiledThread() { _mm_setcsr(before | flushing | 0x6000U); }
    ~SpoiledThread() { _mm_setcsr(before); }
};
#endif

struct Outcome {
    std::vector<std::byte> payload;
    std::vector<float> rest;
    std::vector<float> next;
    double norm = 0;
    bool operator==(const Outcome&) const = default;
};

/// Encodes numbers near the denormals, adds and steps with them. `Environment` lives while the library works.
template <class Environment>
Outcome run(unsigned threads) {
    Outcome out;
    out.rest = inputs::make(inputs::Kind::bell, group_size + 100, 37);
    for (float& x : out.rest) x *= 0x1p-118F;
    const std::vector<float> theta = out.rest;
    const std::vector<float> zero(theta.size());
    [[maybe_unused]] const Environment environment;
    accumulate_error(out.rest, theta, zero, 0.01F, threads);
    out.payload = encode(out.rest, 64, threads);
    PayloadView view;
    if (PayloadView::parse(out.payload, theta.size(), 64, view) != PayloadFault::none) qFatal("does not parse");
    out.norm = view.norm();
    out.next = theta;
    add_decoded(out.next, view, 0.001F, threads);
    const WeightedPayload list[] = {{.payload = &view, .weight = 3}};
    apply_outer_step(out.next, out.next, list, {.alpha = 0.7F, .amplification = 4}, threads);
    return out;
}

/// As the test finds it.
struct CleanThread {};

}  // namespace

class TestRounding : public QObject {
    Q_OBJECT
private slots:
    void no_fast_math_here();
    void the_library_rounds_twice();
    void this_program_rounds_twice();
    void a_guard_clears_and_restores();
    void a_spoiled_thread_does_not_change_a_bit();
};

void TestRounding::no_fast_math_here() {
#if defined(__FAST_MATH__)
    QFAIL("compiled with -ffast-math");
#endif
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
    QFAIL("compiled with -ffinite-math-only");
#endif
#if defined(__FLT_EVAL_METHOD__)
    QCOMPARE(__FLT_EVAL_METHOD__, 0);
#endif
}

void TestRounding::the_library_rounds_twice() { QVERIFY(compiled_exactly()); }

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("fma,avx2"), noinline)) static float multiply_add(float a, float b, float c) { return a * b + c; }
__attribute__((target("avx512f"), noinline)) static float multiply_add_wide(float a, float b, float c) {
    return a * b + c;
}
#endif

void TestRounding::this_program_rounds_twice() {
#if defined(__x86_64__) && defined(__GNUC__)
    // The instruction sets of the fast paths have fused operations: the compiler must not use them by itself.
    const volatile float hidden = 1.0F + 0x1p-12F;  // or the compiler computes the answers itself
    const float a = hidden;
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) {
        QVERIFY(multiply_add(a, a, -(1.0F + 0x1p-11F)) == 0.0F);
    }
    if (__builtin_cpu_supports("avx512f")) QVERIFY(multiply_add_wide(a, a, -(1.0F + 0x1p-11F)) == 0.0F);
#else
    QSKIP("covered by the library's own check on this processor");
#endif
}

void TestRounding::a_guard_clears_and_restores() {
    QVERIFY(rounding_is_exact());
#if defined(__x86_64__)
    const SpoiledThread spoiled;
    const unsigned set = _mm_getcsr();
    QVERIFY(!rounding_is_exact());
    {
        const RoundingGuard guard;
        QVERIFY(rounding_is_exact());
        QVERIFY((_mm_getcsr() & flushing) == 0);
    }
    QCOMPARE(_mm_getcsr(), set);
#endif
}

void TestRounding::a_spoiled_thread_does_not_change_a_bit() {
#if defined(__x86_64__)
    const Outcome clean = run<CleanThread>(1);
    QVERIFY(clean.norm > 0);
    bool has_denormal = false;
    for (const float x : clean.rest) has_denormal = has_denormal || (x != 0 && std::abs(x) < 0x1p-126F);
    QVERIFY(has_denormal);
    for (const unsigned threads : {1U, 3U}) QVERIFY(run<SpoiledThread>(threads) == clean);
#else
    QSKIP("needs the x86 control register");
#endif
}

QTEST_APPLESS_MAIN(TestRounding)
#include "test_rounding.moc"
