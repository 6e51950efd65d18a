// Choosing the next token from the model's scores.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/rng.h"

namespace potluck::training {

struct SampleRule {
    double temperature = 0.8;  // 0 takes the likeliest token
    std::uint32_t top_k = 40;  // only the best k are drawn from; 0: all
};

/// Index of the token chosen among `logits` (at least one). Ties go to the lower index.
[[nodiscard]] std::uint32_t choose_token(std::span<const float> logits, const SampleRule& rule, Rng& rng);

}  // namespace potluck::training
