// The floating-point environment that bit-exactness stands on: round to nearest, denormals kept. Libraries that train
// networks switch a thread to flushing denormals, and forget to switch back; every entry point of this folder and each
// of its threads therefore works inside a RoundingGuard.
#pragma once

#include <cstdint>

namespace potluck::numerics {

/// Sets the exact environment for this thread, and puts back what was there when it ends.
class RoundingGuard {
public:
    RoundingGuard();
    ~RoundingGuard();
    RoundingGuard(const RoundingGuard&) = delete;
    RoundingGuard& operator=(const RoundingGuard&) = delete;

private:
    std::uint64_t m_before = 0;
};

/// True if this thread rounds to nearest and keeps denormals, asked of the processor's control register.
[[nodiscard]] bool rounding_is_exact();

/// True if this library was compiled so that a * b + c rounds twice, x - x + x keeps its zeros and denormals stay:
/// evaluates expressions whose contracted, reassociated or flushed results differ.
[[nodiscard]] bool compiled_exactly();

}  // namespace potluck::numerics
