// Attention in which a row sees all of the caption up to itself, and of the picture what its layer's pattern lets it
// see (model::Sight), in two ways that compute the same:
//
//   dense      one mask over all pairs of rows, through LibTorch's kernels, on any device
//   gathered   only the pairs that see each other (attention_blocked.h), on a processor, for its sizes of heads
//
// Threads: one at a time; work is shared among LibTorch's threads. Owns: the masks. Private to this room.
#pragma once

#include <ATen/ATen.h>

#include <array>

#include "core/model/model_spec.h"

namespace potluck::training {

enum class SightKernel { dense, gathered };

/// What the backward pass needs again beside the projection.
struct SightCache {
    at::Tensor out_NA, logsumexp_BHT;  // gathered
    at::Tensor leaf_NQ, graph_NA;      // dense: autograd's own
};

class SightAttention {
public:
    /// The best way there is for the device and the model's heads, but for `dense`, which stays.
    SightAttention(const model::ModelSpec& spec, at::Device device, SightKernel wanted);

    /// Queries, keys and values of each record's first `time` rows, (B T, 3 H D) in fp32, to (B T, H D).
    [[nodiscard]] at::Tensor forward(const at::Tensor& qkv_NQ, std::int64_t time, model::Sight sight,
                                     SightCache& cache) const;
    /// Gradient of the projection, from that of `forward`'s result. Uses the cache up.
    [[nodiscard]] at::Tensor backward(const at::Tensor& dout_NA, const at::Tensor& qkv_NQ, std::int64_t time,
                                      model::Sight sight, SightCache& cache) const;

private:
    [[nodiscard]] at::Tensor dense(const at::Tensor& qkv_NQ, std::int64_t time, model::Sight sight) const;

    model::ModelSpec m_spec;
    SightKernel m_kernel;
    std::array<at::Tensor, 3> m_masks;  // dense: (T, T), by model::Sight
};

}  // namespace potluck::training
