// F, the agreed step: theta[r+1] = F(theta[r], L[r]).
//
//   1. clip     each payload's norm to the lower median of the norms that count: those of contributors who are no
//               newcomers, one of each, payloads of nothing but zeros left out; of the newcomers' norms if there are
//               no others, and then at most to newcomers_norm
//   2. sum      weight * value per coordinate in int64 fixed point, with one power-of-two scale for the whole list
//   3. divide   once, by max(weight of the coordinate's senders, total weight / A)      (amplification cap A)
//   4. subtract alpha * mean in fp32; in a coded step, alpha * C(mean)
//
// A recipe may choose CenteredClip (centered_clip.h), which between 1 and 2 cuts each payload's weight by how far it
// lies from the middle of the others.
//
// The result is a pure function of theta and the set of (payload, weight): list order, thread count and processor do
// not matter. Bounds: at most 4,096 contributions, total weight below 2^32 after common scaling down (see source).
// Does not: know who sent what. No dependencies.
#pragma once

#include <cstdint>
#include <span>

#include "core/numerics/codec/sparse_codec.h"

namespace potluck::numerics {

inline constexpr std::size_t contributions_max = 4096;

struct WeightedPayload {
    const PayloadView* payload = nullptr;
    std::uint64_t weight = 0;  // tokens, at least 1
    bool newcomer = false;     // its norm does not say what others' may be
    bool repeated = false;     // nor does this one's: another entry is of the same contributor
};

/// How the payloads of a list become one movement: their mean, each norm clipped, or CenteredClip in a list in which
/// enough payloads have a say (centered_clip.h), and else the mean.
enum class RobustRule { mean, centered_clip };

/// Whether the mean moves the state as it is, or C of it (step_code.h).
enum class StepForm { exact, coded };

struct OuterStep {
    float alpha = 1.0F;               // outer learning rate
    std::uint32_t amplification = 4;  // A >= 1
    StepForm form = StepForm::exact;
    RobustRule robust = RobustRule::mean;
    double newcomers_norm = 0;  // the most that newcomers' norms are clipped to where no other counts; 0: no limit
    bool operator==(const OuterStep&) const = default;
};

/// The lower median of the norms that count, of those who are no newcomers; 0 if there is none above zero.
[[nodiscard]] double median_norm(std::span<const WeightedPayload> list);
/// What F clips the norms of a list to; 0 if there is nothing but zeros, or nothing.
[[nodiscard]] double norm_max(std::span<const WeightedPayload> list, const OuterStep& step);
/// The norm of a vector of `size` values with this root mean square: rms * sqrt(size).
[[nodiscard]] double norm_of(double rms, std::size_t size);

/// Writes theta[r+1] to `next`. `theta`, `next` and every payload have the same length; `next` may be `theta`.
/// An empty list copies. Works on memory-mapped spans larger than RAM, group by group.
void apply_outer_step(std::span<const float> theta, std::span<float> next, std::span<const WeightedPayload> list,
                      OuterStep step, unsigned threads);

/// The plain version: one coordinate after the other, no vectors, no threads. Kept to test the fast one against.
void apply_outer_step_plain(std::span<const float> theta, std::span<float> next, std::span<const WeightedPayload> list,
                            OuterStep step);

}  // namespace potluck::numerics
