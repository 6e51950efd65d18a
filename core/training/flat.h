// Operations on flat fp32 vectors: parameters, gradients and Adam's moments are one span each, so that a step of the
// optimizer, a clip, a snapshot and a rebase are one pass over memory. These are one computer's own arithmetic; the
// state that all share is computed in core/numerics.
// Threads: `threads` workers share long vectors; results do not depend on it but for `sum_of_squares`' last bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace potluck::training {

/// A run of parameters with or without weight decay.
struct DecaySegment {
    std::uint64_t begin = 0, end = 0;
    double weight_decay = 0;
};

struct AdamW {
    double learning_rate = 0;
    double beta1 = 0.9, beta2 = 0.95;
    double epsilon = 1e-8;
    std::uint64_t step = 1;       // 1 for the first step on fresh moments: bias correction
    double gradient_scale = 1;    // of the clip; multiplies every gradient first
};

/// The vectors of one optimizer, all of one length.
struct AdamVectors {
    std::span<float> parameters;
    std::span<const float> gradient;
    std::span<float> mean;
    std::span<float> variance;
};

/// One AdamW step in PyTorch's order (Loshchilov, Hutter 2019; torch.optim.AdamW): decay first, then moments, then
/// p -= lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps). `segments` cover the vectors without gaps.
void adamw_step(const AdamVectors& vectors, const std::vector<DecaySegment>& segments, const AdamW& settings,
                unsigned threads);

/// Sum of squares in double precision; not finite if an entry is not.
[[nodiscard]] double sum_of_squares(std::span<const float> values, unsigned threads);

/// local += next - mark; mark = next.
void rebase(std::span<float> local, std::span<float> mark, std::span<const float> next, unsigned threads);

}  // namespace potluck::training
