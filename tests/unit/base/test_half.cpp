// Numbers of 16 bits against their definitions, value by value, and the shared mixer against its published sequence.
#include <QtTest>

#include <cmath>
#include <limits>

#include "core/base/half.h"
#include "core/base/mix.h"

using namespace potluck;

namespace {

/// binary16 by its definition: sign, five bits of exponent, ten of fraction.
double defined_fp16(std::uint16_t bits) {
    const int exponent = (bits >> 10U) & 31;
    const int fraction = bits & 1023;
    const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
    if (exponent == 31) return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
    if (exponent == 0) return sign * std::ldexp(fraction, -24);
    return sign * std::ldexp(1024 + fraction, exponent - 25);
}

Bf16 bf16(unsigned bits) { return {static_cast<std::uint16_t>(bits)}; }

}  // namespace

class TestHalf : public QObject {
    Q_OBJECT
private slots:
    void every_binary16_is_its_fp32() {
        for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
            const auto half = static_cast<std::uint16_t>(bits);
            const double wanted = defined_fp16(half);
            const auto found = static_cast<double>(fp16_to_fp32(half));
            QCOMPARE(std::isnan(found), std::isnan(wanted));
            if (!std::isnan(wanted)) QVERIFY(found == wanted && std::signbit(found) == std::signbit(wanted));
        }
    }

    void every_bfloat16_survives_the_way_to_fp32_and_back() {
        for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
            const float wide = to_fp32(bf16(bits));
            QCOMPARE(std::bit_cast<std::uint32_t>(wide), bits << 16U);
            if (!std::isnan(wide)) QCOMPARE(std::uint32_t{to_bf16(wide).bits}, bits);
        }
    }

    void rounding_to_bfloat16_goes_to_the_nearest_and_ties_to_even() {
        for (std::uint32_t bits = 0; bits + 1 < 0x7f80U; ++bits) {  // from zero to the largest but one
            const std::uint32_t low = bits << 16U;
            const std::uint32_t even = bits + (bits & 1U);
            QCOMPARE(std::uint32_t{to_bf16(std::bit_cast<float>(low + 0x7fffU)).bits}, bits);
            QCOMPARE(std::uint32_t{to_bf16(std::bit_cast<float>(low + 0x8000U)).bits}, even);
            QCOMPARE(std::uint32_t{to_bf16(std::bit_cast<float>(low + 0x8001U)).bits}, bits + 1);
        }
    }

    void too_large_numbers_become_infinite_and_nan_stays_nan() {
        QCOMPARE(std::uint32_t{to_bf16(std::numeric_limits<float>::max()).bits}, 0x7f80U);
        QCOMPARE(std::uint32_t{to_bf16(-std::numeric_limits<float>::max()).bits}, 0xff80U);
        for (const std::uint32_t nan : {0x7f800001U, 0x7fffffffU, 0xffffffffU, 0x7fc00000U}) {
            QVERIFY(std::isnan(to_fp32(to_bf16(std::bit_cast<float>(nan)))));
        }
    }

    void the_mixer_is_splitmix64() {
        // The first outputs of the reference implementation from the seed 1234567.
        std::uint64_t state = 1'234'567;
        for (const std::uint64_t wanted : {6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL}) {
            QCOMPARE(mix64(state), wanted);
            QCOMPARE(mix64_finalise(state + splitmix_increment), wanted);
            state += splitmix_increment;
        }
    }
};

QTEST_APPLESS_MAIN(TestHalf)
#include "test_half.moc"
