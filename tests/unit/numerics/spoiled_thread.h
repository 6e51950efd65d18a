// The floating-point control register of a thread as another library may leave it.
// Threads: changes only the one that makes it.
#pragma once

#include <cstdint>

#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#endif

namespace potluck::test {

#if defined(__x86_64__) || defined(_M_X64)
inline constexpr std::uint64_t flushing = 0x8040, towards_zero = 0x6000;  // MXCSR: FTZ and DAZ; rounding control
inline std::uint64_t thread_control() { return _mm_getcsr(); }
inline void set_thread_control(std::uint64_t value) { _mm_setcsr(static_cast<std::uint32_t>(value)); }
#else
inline constexpr std::uint64_t flushing = 1ULL << 24U, towards_zero = 3ULL << 22U;  // FPCR: FZ; RMode
inline std::uint64_t thread_control() {
    std::uint64_t value = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value) : : "memory");
    return value;
}
inline void set_thread_control(std::uint64_t value) { __asm__ volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
#endif

/// As an inference library leaves a thread: denormals flushed, rounding towards zero. Restores it at its end.
class SpoiledThread {
public:
    explicit SpoiledThread(std::uint64_t bits = flushing | towards_zero) { set_thread_control(m_before | bits); }
    ~SpoiledThread() { set_thread_control(m_before); }
    SpoiledThread(const SpoiledThread&) = delete;
    SpoiledThread& operator=(const SpoiledThread&) = delete;

private:
    std::uint64_t m_before = thread_control();
};

}  // namespace potluck::test
