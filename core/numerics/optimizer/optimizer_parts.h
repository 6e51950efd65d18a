// What the plain and the vectorised optimizer steps share besides the arithmetic: the numbers of a slice, and the ways
// to take one by force.
// Threads: any.
#pragma once

#include "core/numerics/cpu_dispatch.h"
#include "core/numerics/optimizer/optimizer.h"
#include "core/numerics/optimizer/optimizer_arithmetic.h"

namespace potluck::numerics {

[[nodiscard]] arithmetic::StepConstants step_constants(const StepHyperparams& settings, const ParameterSlice& slice);

/// Aborts on settings that no step can have: epsilon zero in fp32, betas outside [0, 1), step 0, slices or vectors
/// that do not fit.
void require_step(const OptimizerState& state, std::size_t first, std::size_t count, std::size_t parameters,
                  std::size_t gradient, const StepHyperparams& settings);

/// `optimizer_step` by the instructions of `isa`, which must be available.
template <class Parameter, class Gradient>
void optimizer_step_with(Isa isa, OptimizerState& state, std::size_t first, std::size_t count,
                         std::span<Parameter> parameters, std::span<const Gradient> gradient,
                         const StepHyperparams& settings, unsigned threads);

/// The codes of 256 magnitudes, aligned to 64 bytes, by the instructions of `isa`: what the tests compare with the
/// search.
void codes_with(Isa isa, const float* values, float inverse, std::uint8_t* mean_codes, std::uint8_t* variance_codes);

POTLUCK_INLINE void store(float& to, float value, std::uint32_t, std::uint32_t) { to = value; }
POTLUCK_INLINE void store(Bf16& to, float value, std::uint32_t key, std::uint32_t place) {
    to.bits = static_cast<std::uint16_t>(arithmetic::upper_half(value, arithmetic::noise(key, place)));
}

}  // namespace potluck::numerics
