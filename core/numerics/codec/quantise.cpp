#include "core/numerics/codec/quantise.h"

#include <bit>

#include "core/numerics/codec/payload_layout.h"

namespace potluck::numerics {

namespace {

using Lanes = std::array<double, sum_lanes>;

POTLUCK_INLINE double total(const Lanes& lane) {
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

POTLUCK_INLINE float mean_of(double sum, std::size_t count) {
    if (count == 0) return 0.0F;
    const double mean = sum / static_cast<double>(count);
    return mean > static_cast<double>(layout::mean_max) ? layout::mean_max : static_cast<float>(mean);
}

POTLUCK_INLINE double magnitude(std::uint32_t pattern) {
    return static_cast<double>(std::bit_cast<float>(pattern & 0x7fffffffU));
}

/// Mean magnitudes of the entries without and with a sign bit; an absent sign has zero.
struct SignMeans {
    double positive = 0;
    double negative = 0;
};

POTLUCK_INLINE SignMeans sign_means(const float* POTLUCK_RESTRICT values, std::size_t count) {
    Lanes all{};
    Lanes negative{};
    std::size_t negatives = 0;
    for (std::size_t i = 0; i < count; i += sum_lanes) {
        std::uint32_t here = 0;
        for (std::size_t l = 0; l < sum_lanes; ++l) {
            const auto pattern = std::bit_cast<std::uint32_t>(values[i + l]);
            const double m = magnitude(pattern);
            const bool is_negative = pattern >> 31U != 0;
            all[l] += is_negative ? 0.0 : m;
            negative[l] += is_negative ? m : 0.0;
            here += pattern >> 31U;
        }
        negatives += here;
    }
    const std::size_t positives = count - negatives;
    return {.positive = positives > 0 ? total(all) / static_cast<double>(positives) : 0.0,
            .negative = negatives > 0 ? total(negative) / static_cast<double>(negatives) : 0.0};
}

POTLUCK_INLINE std::array<float, 4> quantise_body(const float* POTLUCK_RESTRICT values, std::size_t count,
                                                  std::uint8_t* POTLUCK_RESTRICT codes) {
    const SignMeans means = sign_means(values, count);
    Lanes sums[4] = {};
    std::size_t highs = 0;
    std::size_t negatives = 0;
    std::size_t negative_highs = 0;
    for (std::size_t i = 0; i < count; i += sum_lanes) {
        std::uint32_t counted = 0;  // eights of: high, negative, both, a byte each
        for (std::size_t l = 0; l < sum_lanes; ++l) {
            const auto pattern = std::bit_cast<std::uint32_t>(values[i + l]);
            const double m = magnitude(pattern);
            const std::uint32_t sign = pattern >> 31U;
            const std::uint32_t high = m > (sign != 0 ? means.negative : means.positive) ? 1U : 0U;
            const std::uint32_t code = 2 * sign + high;
            for (std::uint32_t c = 0; c < 4; ++c) sums[c][l] += code == c ? m : 0.0;
            codes[i + l] = static_cast<std::uint8_t>(code);
            counted += high + (sign << 8U) + ((sign & high) << 16U);
        }
        highs += counted & 0xffU;
        negatives += (counted >> 8U) & 0xffU;
        negative_highs += counted >> 16U;
    }
    // Padding counts as neither high nor negative, so it is absent from all but the last difference.
    const std::size_t counts[4] = {count - negatives - (highs - negative_highs), highs - negative_highs,
                                   negatives - negative_highs, negative_highs};
    std::array<float, 4> out{};
    for (std::size_t c = 0; c < 4; ++c) {
        const float mean = mean_of(total(sums[c]), counts[c]);
        out[c] = c < 2 || counts[c] == 0 ? mean : -mean;
    }
    return out;
}

std::array<float, 4> quantise_baseline(const float* values, std::size_t count, std::uint8_t* codes) {
    return quantise_body(values, count, codes);
}

#if POTLUCK_X86_ISAS
POTLUCK_AVX2 std::array<float, 4> quantise_avx2(const float* values, std::size_t count, std::uint8_t* codes) {
    return quantise_body(values, count, codes);
}
POTLUCK_AVX512 std::array<float, 4> quantise_avx512(const float* values, std::size_t count, std::uint8_t* codes) {
    return quantise_body(values, count, codes);
}
#endif

}  // namespace

Quantise quantise_for(Isa isa) {
#if POTLUCK_X86_ISAS
    if (isa == Isa::avx512) return quantise_avx512;
    if (isa == Isa::avx2) return quantise_avx2;
#endif
    static_cast<void>(isa);
    return quantise_baseline;
}

}  // namespace potluck::numerics
