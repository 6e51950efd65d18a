// Attention in which a row sees all of the caption, and of the picture what its layer's pattern lets it see
// (model::Sight), in two ways that compute the same:
//
//   dense      one mask over all pairs of rows, through LibTorch's fused kernel, on any device
//   gathered   only the pairs that see each other, in groups; on a processor
//
//   rows that are asked:  caption | codes, in groups of a line or a column
//   keys, gathered:       caption | the group's own, or with Sight::near three lines
//
// Threads: any; tensors are their owner's. Owns: the masks. Private to this room.
#pragma once

#include <ATen/ATen.h>

#include <array>

#include "core/model/model_spec.h"

namespace potluck::training {

enum class SightKernel { dense, gathered };

class SightAttention {
public:
    SightAttention(const model::ModelSpec& spec, at::Device device, SightKernel kernel);

    /// Queries, keys and values of a record's first T rows, (3, B, H, T, D) in fp32 and contiguous, to (B, T, H D).
    [[nodiscard]] at::Tensor operator()(const at::Tensor& qkv_3BHTD, model::Sight sight) const;

private:
    model::ModelSpec m_spec;
    SightKernel m_kernel;
    std::array<at::Tensor, 3> m_masks;  // by model::Sight; dense (T, T), gathered (groups or 1, queries, keys)
};

}  // namespace potluck::training
