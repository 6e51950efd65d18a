// Numbers of 16 bits and their fp32: bfloat16, the upper half of an fp32, and IEEE 754 binary16. Every value of either
// is an fp32 exactly; the way back rounds to nearest even and keeps NaN a NaN. The vector kernels
// (core/training/kernels, core/numerics/optimizer) do the same sixteen at a time, and tests hold them to this. Standard
// library only. Threads: any.
#pragma once

#include <bit>
#include <cstdint>

namespace potluck {

/// bfloat16 as it lies in memory.
struct Bf16 {
    std::uint16_t bits = 0;
};
static_assert(sizeof(Bf16) == 2);

[[nodiscard]] inline float to_fp32(Bf16 value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16U); }
[[nodiscard]] inline float to_fp32(float value) { return value; }

[[nodiscard]] inline Bf16 to_bf16(float value) {
    constexpr std::uint32_t quiet_nan = 0x7fc00000U;
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = value == value ? bits + 0x7fffU + ((bits >> 16U) & 1U) : quiet_nan;
    return {static_cast<std::uint16_t>(rounded >> 16U)};
}

/// binary16 to fp32.
[[nodiscard]] inline float fp16_to_fp32(std::uint16_t half) {
    const std::uint32_t sign = (half & 0x8000U) << 16U;
    const std::uint32_t exponent = (half >> 10U) & 31U;
    const std::uint32_t fraction = half & 1023U;
    if (exponent == 0) {  // zero and subnormal numbers: a whole multiple of 2^-24
        const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
    }
    const std::uint32_t wide_exponent = exponent == 31 ? 255 : exponent + 112;
    return std::bit_cast<float>(sign | wide_exponent << 23U | fraction << 13U);
}

}  // namespace potluck
