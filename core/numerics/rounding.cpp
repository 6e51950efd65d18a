#include "core/numerics/rounding.h"

#include <bit>

#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#endif

#if defined(__FAST_MATH__)
#error "core/numerics must not be compiled with -ffast-math: results would differ between computers."
#endif

namespace potluck::numerics {

namespace {

#if defined(__x86_64__) || defined(_M_X64)

// MXCSR (Intel SDM, volume 1, 10.2.3): all exceptions masked, round to nearest, neither FTZ (bit 15) nor DAZ (bit 6).
constexpr std::uint32_t exact_control = 0x1f80;
constexpr std::uint32_t rounding_bits = 0xe040;  // FTZ, rounding control, DAZ

std::uint64_t control() { return _mm_getcsr(); }
void set_control(std::uint64_t value) { _mm_setcsr(static_cast<std::uint32_t>(value)); }
std::uint64_t exact_from(std::uint64_t) { return exact_control; }
bool is_exact(std::uint64_t value) { return (value & rounding_bits) == 0; }

#elif defined(__aarch64__) && defined(__GNUC__)

// FPCR (Arm ARM, C5.2.8): FZ16 (19), rounding mode (22-23), FZ (24), and AH, FIZ (1, 0) of newer processors.
constexpr std::uint64_t rounding_bits = (1ULL << 24U) | (3ULL << 22U) | (1ULL << 19U) | 3ULL;

std::uint64_t control() {
    std::uint64_t value = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value) : : "memory");
    return value;
}
void set_control(std::uint64_t value) { __asm__ volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
std::uint64_t exact_from(std::uint64_t value) { return value & ~rounding_bits; }
bool is_exact(std::uint64_t value) { return (value & rounding_bits) == 0; }

#else
#error "core/numerics needs to know this processor's floating-point control register."
#endif

float opaque(std::uint32_t bits) {
    volatile std::uint32_t hidden = bits;  // keeps the compiler from computing the answer itself
    return std::bit_cast<float>(static_cast<std::uint32_t>(hidden));
}

}  // namespace

RoundingGuard::RoundingGuard() : m_before(control()) { set_control(exact_from(m_before)); }

RoundingGuard::~RoundingGuard() { set_control(m_before); }

bool rounding_is_exact() { return is_exact(control()); }

bool compiled_exactly() {
    const RoundingGuard guard;
    // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24 rounds to 1 + 2^-11; a fused operation would keep the 2^-24.
    const float a = opaque(0x3f800800);
    const float fused = a * a + opaque(0xbf801000);
    // 1e8 + 1 - 1e8 is 0 in this order and 1 in another.
    const float large = opaque(0x4cbebc20);
    const float reordered = (large + opaque(0x3f800000)) - large;
    // The smallest normal number halved is a denormal.
    const float denormal = opaque(0x00800000) * opaque(0x3f000000);
    // -0 + 0 is +0, which "x + 0 = x" gets wrong.
    const float zero = opaque(0x80000000) + opaque(0x00000000);
    return fused == 0.0F && reordered == 0.0F && std::bit_cast<std::uint32_t>(denormal) == 0x00400000 &&
           std::bit_cast<std::uint32_t>(zero) == 0;
}

}  // namespace potluck::numerics
