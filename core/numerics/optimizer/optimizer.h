// Optimizer steps on flat vectors with 8-bit or 32-bit moments: AdamW in PyTorch's order (Loshchilov, Hutter 2019) and
// LAMB with its trust ratio (You et al. 2020, algorithm 2). Every operation is one that IEEE 754 rounds in one way, in
// a fixed order, so equal inputs give equal bytes for any number of threads, on any processor, and on a GPU through
// cuda/ (which compiles the same arithmetic).
//
// 8-bit moments are block-wise dynamic-tree codes (Dettmers et al. 2022; dynamic_map.h): blocks of 256 numbers of one
// slice, a code each and one fp32 scale (the block's largest magnitude): 2.03 bytes per parameter for both moments.
// Slices shorter than `small_slice` keep fp32 moments.
//
// AdamW, per number, t = step:     p -= lr wd p;  m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g g
//                                  p -= lr / (1-b1^t) * m / (sqrt(v) / sqrt(1-b2^t) + eps)
// LAMB, per slice:                 u = mhat / (sqrt(vhat) + eps) + wd p;  p -= lr * min(|p|, trust_max) / |u| * u
//                                  (the ratio is 1 where a norm is 0)
// where LambDebias says otherwise: u = m / (sqrt(v) + eps) + wd p, and lr is multiplied by sqrt(1-b2^t) / (1-b1^t) or
// by nothing.
// with g = gradient * gradient_scale. A number whose gradient is not finite (or so large, above 10^18, that its moments
// could overflow) stays as it is, with its moments; so does one that is not finite itself. LAMB's norms pass over both.
// With 8-bit moments the step uses the new moments before they are rounded to codes.
//
// Does not: know models, tensors' names, schedules or clipping.
// Threads: one caller at a time per state; a step shares its blocks among `threads` workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/half.h"

namespace potluck::numerics {

inline constexpr std::size_t optimizer_block = 256;
inline constexpr std::uint64_t small_slice = 4096;

/// Who steps a tensor: this file number by number, or the owner of the matrix as a whole, with the momentum that
/// momentum.h keeps (Muon). The latter has no second moment.
enum class SliceRule { elementwise, matrix };

/// One tensor of the flat vector: where blocks begin and what LAMB takes its norms over.
struct ParameterSlice {
    std::uint64_t begin = 0, end = 0;
    float weight_decay = 0;
    SliceRule rule = SliceRule::elementwise;
};

/// `muon` is AdamW for slices that are stepped number by number.
enum class OptimizerKind { adamw, lamb, muon };
enum class StateBits : std::uint32_t { bits8 = 8, bits32 = 32 };

/// What of LAMB makes up for moments that begin at zero: the moments themselves, as in the paper; the learning rate,
/// outside the ratio, as in torch_optimizer 0.3, with which DeDLOC and sahajBERT were trained; or nothing.
enum class LambDebias { moments, rate, none };

struct StepHyperparams {
    OptimizerKind kind = OptimizerKind::adamw;
    LambDebias lamb_debias = LambDebias::moments;
    double learning_rate = 0;
    double beta1 = 0.9, beta2 = 0.95;
    double epsilon = 1e-8;
    double trust_max = 10'000;        // LAMB only: cap on the norm of the parameters
    std::uint64_t step = 1;           // t: 1 for the first step on fresh moments
    double gradient_scale = 1;        // of clip and loss scale; multiplies every gradient first
    std::uint64_t rounding_seed = 0;  // of the stochastic rounding of bf16 parameters
};

/// What a LAMB step multiplies its ratio by.
[[nodiscard]] double lamb_rate(const StepHyperparams& settings);

/// The moments of all slices of one flat vector.
class OptimizerState {
public:
    /// All moments zero. `slices` are in order and do not overlap.
    OptimizerState(std::vector<ParameterSlice> slices, StateBits bits);

    [[nodiscard]] std::span<const ParameterSlice> slices() const { return m_slices; }
    [[nodiscard]] StateBits bits() const { return m_bits; }
    /// Memory held, in bytes.
    [[nodiscard]] std::uint64_t bytes() const;
    /// What a state of these slices would hold.
    [[nodiscard]] static std::uint64_t bytes_for(std::span<const ParameterSlice> slices, StateBits bits);
    void reset();

    /// One slice's moments; empty spans where the other kind is used, and for the variance of matrices. For the step,
    /// tests and the CUDA plug-in.
    struct Moments {
        std::span<std::uint8_t> mean_codes, variance_codes;
        std::span<float> mean_scales, variance_scales;  // one per block
        std::span<float> mean, variance;                // fp32 moments
    };
    [[nodiscard]] Moments moments(std::size_t slice);

private:
    std::vector<ParameterSlice> m_slices;
    StateBits m_bits;
    /// Where a slice's numbers begin within the vectors below.
    struct Places {
        std::uint64_t codes = 0, scales = 0, floats = 0;
    };
    std::vector<Places> m_mean_begin, m_variance_begin;  // per slice
    std::vector<std::uint8_t> m_mean_codes, m_variance_codes;
    std::vector<float> m_mean_scales, m_variance_scales, m_mean, m_variance;
};

/// Steps `count` slices from `first` on, none of which is stepped as a matrix. `parameters` and `gradient` are the
/// whole flat vectors. bf16 parameters are read exactly and written with stochastic rounding: up with the probability
/// of the distance to the lower neighbour, from a hash of (rounding_seed, index), so the bytes do not depend on threads
/// either.
template <class Parameter, class Gradient>  // float or Bf16 each
void optimizer_step(OptimizerState& state, std::size_t first, std::size_t count, std::span<Parameter> parameters,
                    std::span<const Gradient> gradient, const StepHyperparams& settings, unsigned threads);

/// The same in the plainest form, one number after another: what the fast one is tested against, bit for bit.
template <class Parameter, class Gradient>
void plain_optimizer_step(OptimizerState& state, std::size_t first, std::size_t count, std::span<Parameter> parameters,
                          std::span<const Gradient> gradient, const StepHyperparams& settings);

}  // namespace potluck::numerics
