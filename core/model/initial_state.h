// theta[0] from a seed, the same on every computer: GPT-2's initialisation (Radford et al. 2019; nanoGPT's constants),
// which Llama-shaped models begin with as well, or OPT's (Zhang et al. 2022, section 2.2).
#pragma once

#include <cstdint>
#include <span>

#include "core/model/model_spec.h"

namespace potluck::model {

/// Fills `out` (spec.parameters() floats): weights N(0, s), those that write to the residual stream
/// N(0, s / sqrt(2 layers)), s = 0.02 for gpt2 and llama and 0.006 for opt; biases zero, gains of norms one. The normal
/// is a sum of twelve uniforms (Irwin-Hall), which needs additions only.
void fill_initial_state(const ModelSpec& spec, std::uint64_t seed, std::span<float> out);

}  // namespace potluck::model
