// F with a chosen set of instructions; `apply_outer_step` of outer_step.h uses the best one. For tests and benchmarks.
#pragma once

#include "core/numerics/cpu_dispatch.h"
#include "core/numerics/outer/outer_step.h"

namespace potluck::numerics {

void apply_outer_step_with(Isa isa, std::span<const float> theta, std::span<float> next,
                           std::span<const WeightedPayload> list, OuterStep step, unsigned threads);

}  // namespace potluck::numerics
