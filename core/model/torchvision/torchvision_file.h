// The residual network of a model that embeds pictures as torchvision stores one: a safetensors file with its tensors,
// without the head that only training needs, and with what its norms remember. `load_state_dict` of a network without
// `fc` takes it strictly (pytorch/vision, resnet.py); it adds how many batches norms have seen by itself.
#pragma once

#include <span>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/model/model_spec.h"

namespace potluck::model {

/// How many numbers the norms of the residual network remember: a mean and a variance of each channel.
[[nodiscard]] std::uint64_t norm_values(const ModelSpec& spec);

/// `parameters` is the flat vector, `norms` what each norm remembers in the order of the passes, first all of its
/// means. `malformed` if they are not as many as the model has.
[[nodiscard]] Result<Bytes> torchvision_file(const ModelSpec& spec, std::span<const float> parameters,
                                             std::span<const float> norms);

}  // namespace potluck::model
