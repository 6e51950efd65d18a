// The plain version of decoder.h: the same decoder in single operations, differentiated by autograd, in fp32 and
// without dropout. Slow and easy to believe; tests hold the fast one to it.
// Threads: one.
#pragma once

#include <span>

#include "core/base/result.h"
#include "core/model/model_spec.h"
#include "core/model/token.h"

namespace potluck::training {

/// Loss sum of whole records (B, T+1), in nats; its gradient is added to `gradient`, times `scale`.
[[nodiscard]] Result<double> plain_add_gradient(const model::ModelSpec& spec, std::span<float> parameters,
                                                std::span<const model::Token> records, std::span<float> gradient,
                                                double scale);

}  // namespace potluck::training
