// The safeguard of bit-exactness: fails if multiplication and addition are fused, sums are reordered, or denormals are
// flushed, whether by a compiler option or by another library's setting of the thread.
#include <QtTest>

#include <cmath>

#include "core/numerics/outer/outer_step.h"
#include "core/numerics/rounding.h"
#include "tests/golden/numerics_inputs.h"
#include "tests/unit/numerics/spoiled_thread.h"

using namespace potluck;
using namespace potluck::numerics;
using test::SpoiledThread;

namespace {

struct Outcome {
    std::vector<std::byte> payload;
    std::vector<float> rest;
    std::vector<float> next;
    std::vector<float> next_plain;
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
    std::vector<float> other = inputs::make(inputs::Kind::clustered, theta.size(), 38);
    for (float& x : other) x *= 0x1p-110F;
    [[maybe_unused]] const Environment environment;
    accumulate_error(out.rest, theta, zero, 0.01F, threads);
    out.payload = encode(out.rest, 64, threads);
    PayloadView view;
    if (PayloadView::parse(out.payload, theta.size(), 64, view) != PayloadFault::none) qFatal("does not parse");
    out.norm = view.norm();
    out.next = theta;
    add_decoded(out.next, view, 0.001F, threads);
    const std::vector<std::byte> other_payload = encode(other, 64, threads);
    PayloadView other_view;
    if (PayloadView::parse(other_payload, theta.size(), 64, other_view) != PayloadFault::none) qFatal("does not parse");
    // Where two senders meet, a sum of weights that is no power of two divides.
    const WeightedPayload list[] = {{.payload = &view, .weight = 3}, {.payload = &other_view, .weight = 4}};
    const OuterStep step{.alpha = 0.7F, .amplification = 3};
    out.next_plain.resize(theta.size());
    apply_outer_step_plain(out.next, out.next_plain, list, step);
    apply_outer_step(out.next, out.next, list, step, threads);
    return out;
}

/// Four senders of equal norm and weight 5, each alone at its coordinate: each moves it by value * 5 / (20 / 3), which
/// for this value lies exactly between two floats. With 20 / 3 rounded to nearest the even one of them is the result;
/// with 20 / 3 cut, which is smaller by an ulp, the other.
template <class Environment>
float halfway_step(unsigned threads) {
    std::vector<std::vector<std::byte>> payloads;
    std::vector<PayloadView> views(4);
    std::vector<WeightedPayload> list;
    for (std::size_t i = 0; i < views.size(); ++i) {
        std::vector<float> error(chunk_size);
        error[1000 + i] = 11'184'807.0F;  // the zeros that are sent lie before
        payloads.push_back(encode(error, 64, 1));
        if (PayloadView::parse(payloads[i], chunk_size, 64, views[i]) != PayloadFault::none) qFatal("does not parse");
        list.push_back({.payload = &views[i], .weight = 5});
    }
    std::vector<float> theta(chunk_size);
    [[maybe_unused]] const Environment environment;
    apply_outer_step(theta, theta, list, {.alpha = 1, .amplification = 3}, threads);
    return theta[1000];
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
    void a_spoiled_thread_plans_a_step_as_any_other();
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
#else
static float multiply_add(float a, float b, float c) { return a * b + c; }
#endif

void TestRounding::this_program_rounds_twice() {
    // The instruction sets of the fast paths have fused operations: the compiler must not use them by itself.
    const volatile float hidden = 1.0F + 0x1p-12F;  // or the compiler computes the answers itself
    const float a = hidden;
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) {
        QVERIFY(multiply_add(a, a, -(1.0F + 0x1p-11F)) == 0.0F);
    }
    if (__builtin_cpu_supports("avx512f")) QVERIFY(multiply_add_wide(a, a, -(1.0F + 0x1p-11F)) == 0.0F);
#else
    QVERIFY(multiply_add(a, a, -(1.0F + 0x1p-11F)) == 0.0F);
#endif
}

void TestRounding::a_guard_clears_and_restores() {
    QVERIFY(rounding_is_exact());
    const SpoiledThread spoiled;
    const std::uint64_t set = test::thread_control();
    QVERIFY(!rounding_is_exact());
    {
        const RoundingGuard guard;
        QVERIFY(rounding_is_exact());
        QVERIFY((test::thread_control() & test::flushing) == 0);
    }
    QCOMPARE(test::thread_control(), set);
}

void TestRounding::a_spoiled_thread_does_not_change_a_bit() {
    const Outcome clean = run<CleanThread>(1);
    QVERIFY(clean.norm > 0);
    bool has_denormal = false;
    for (const float x : clean.rest) has_denormal = has_denormal || (x != 0 && std::abs(x) < 0x1p-126F);
    QVERIFY(has_denormal);
    for (const unsigned threads : {1U, 3U}) QVERIFY(run<SpoiledThread>(threads) == clean);
}

void TestRounding::a_spoiled_thread_plans_a_step_as_any_other() {
    QCOMPARE(halfway_step<CleanThread>(1), -8'388'605.0F);
    for (const unsigned threads : {1U, 3U}) QCOMPARE(halfway_step<SpoiledThread>(threads), -8'388'605.0F);
}

QTEST_APPLESS_MAIN(TestRounding)
#include "test_rounding.moc"
