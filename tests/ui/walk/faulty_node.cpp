// potluck-node on a computer that calculates wrongly: the whole program as it is, except that the linker puts this
// between it and F (--wrap), which gets one bit of every state wrong, another one each time. So memory errs.
#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/numerics/outer/step_code.h"

namespace potluck::numerics {

// The name of F as compilers on Linux make it of its signature; linking fails if it changes.
#define POTLUCK_F                                                                  \
    "_ZN7potluck8numerics16apply_coded_stepESt4spanIKfLm18446744073709551615EES1_" \
    "IfLm18446744073709551615EES1_IKNS0_15WeightedPayloadELm18446744073709551615EENS0_9OuterStepEj"

std::vector<std::byte> sound_step(std::span<const float> theta, std::span<float> next,
                                  std::span<const WeightedPayload> list, OuterStep step,
                                  unsigned threads) asm("__real_" POTLUCK_F);
std::vector<std::byte> faulty_step(std::span<const float> theta, std::span<float> next,
                                   std::span<const WeightedPayload> list, OuterStep step,
                                   unsigned threads) asm("__wrap_" POTLUCK_F);

std::vector<std::byte> faulty_step(std::span<const float> theta, std::span<float> next,
                                   std::span<const WeightedPayload> list, OuterStep step, unsigned threads) {
    static std::atomic<std::size_t> times = 0;
    std::vector<std::byte> code = sound_step(theta, next, list, step, threads);
    if (next.empty()) return code;
    float& value = next[times++ % next.size()];
    value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ 1U);
    return code;
}

}  // namespace potluck::numerics
