// Operations on flat vectors in the computer's memory, one pass over it each: the norm of a gradient, the rebase of a
// local model. These are one computer's own arithmetic; the state that all share is computed in core/numerics.
// Threads: `threads` workers share long vectors; results do not depend on it but for `sum_of_squares`' last bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace potluck::training {

/// Sum of squares in double precision; not finite if an entry is not.
[[nodiscard]] double sum_of_squares(std::span<const float> values, unsigned threads);
/// The same of bf16 numbers, given as the upper halves of their fp32.
[[nodiscard]] double sum_of_squares(std::span<const std::uint16_t> bits, unsigned threads);

/// local += next - anchor; anchor = next.
void rebase(std::span<float> local, std::span<float> anchor, std::span<const float> next, unsigned threads);

/// Which random numbers a stochastic rounding draws: those of `seed`, from the number `first` of a vector on.
struct RoundingKey {
    std::uint64_t seed = 0, first = 0;
};
/// The same for a bf16 local model, rounded up or down with the probability of the distance to the other neighbour.
void rebase(std::span<std::uint16_t> local, std::span<float> anchor, std::span<const float> next,
            const RoundingKey& key);

}  // namespace potluck::training
