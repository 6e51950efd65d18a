// theta[0]: GPT-2's initialisation (Radford et al. 2019; nanoGPT's constants) from a seed, the same on every computer.
#pragma once

#include <cstdint>
#include <span>

#include "core/run/model_spec.h"

namespace potluck::run {

/// Fills `out` (spec.parameters() floats): weights N(0, 0.02), residual projections N(0, 0.02 / sqrt(2 layers)),
/// biases zero, layer-norm gains one. The normal is a sum of twelve uniforms (Irwin-Hall), which needs additions only.
void fill_initial_state(const ModelSpec& spec, std::uint64_t seed, std::span<float> out);

}  // namespace potluck::run
