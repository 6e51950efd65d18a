// e^x over a float or a vector of floats, without a branch and without a call, so that loops with it vectorise.
#pragma once

#include <cstdint>
#include <cstring>

namespace potluck::training {

/// x := e^x for |x| <= 87, clamped beyond: 2^n by the exponent's bits, the rest by a polynomial; error about 1e-7.
/// `Floats` is float or a vector of it, `Bits` the unsigned integer of the same shape.
template <class Floats, class Bits>
__attribute__((always_inline)) inline void exp_approx(Floats& x) {
    constexpr float round_magic = 12582912.0F;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
    const Floats limit = Floats{} + 87.0F;
    x = x < -limit ? -limit : x;
    x = x > limit ? limit : x;
    const Floats shifted = x * 1.44269504088896341F + round_magic;
    const Floats whole = shifted - round_magic;
    const Floats rest = (x - whole * 0.693359375F) + whole * 2.12194440e-4F;  // ln 2 in two parts (Cody, Waite)
    Floats series = rest * 1.9875691500e-4F + 1.3981999507e-3F;
    series = series * rest + 8.3334519073e-3F;
    series = series * rest + 4.1665795894e-2F;
    series = series * rest + 1.6666665459e-1F;
    series = series * rest + 5.0000001201e-1F;
    series = series * rest * rest + rest + 1.0F;
    Bits power;
    std::memcpy(&power, &shifted, sizeof power);
    power = (power + 127U) << 23U;
    Floats scale;
    std::memcpy(&scale, &power, sizeof scale);
    x = series * scale;
}

}  // namespace potluck::training
