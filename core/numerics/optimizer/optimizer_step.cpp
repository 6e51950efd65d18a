// The vectorised optimizer step. Blocks of 256 numbers are widened to floats if they are not, decoded, stepped and
// coded again while they are in the nearest cache; a slice's last block is padded in staging buffers. Pieces of 256
// blocks are what threads share. LAMB reads everything twice: the update is computed once for its norm and once again
// to be applied, which moves fewer bytes than keeping it.
//
// The bytes are those of plain_optimizer_step() for every instruction set and number of threads: pieces are cut by the
// slice and never by the threads, LAMB's sums are kept per piece and added in their order, and stochastic rounding is
// keyed by the place in the flat vector.
#include <algorithm>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/numerics/optimizer/dynamic_map.h"
#include "core/numerics/optimizer/optimizer_block_avx2.h"
#include "core/numerics/optimizer/optimizer_block_avx512.h"
#include "core/numerics/optimizer/optimizer_codes.h"
#include "core/numerics/optimizer/optimizer_parts.h"
#include "core/numerics/parallel.h"
#include "core/numerics/require.h"

namespace potluck::numerics {

namespace {

using arithmetic::StepConstants;

template <class T>
constexpr bool is_float = std::is_same_v<std::remove_const_t<T>, float>;
template <class T>
concept Float = is_float<T>;

/// A whole block as floats in place or in StagingBuffers; codes and scales where they lie.
struct Block {
    float* parameters;
    const float* gradient;
    std::uint8_t* mean_codes;
    std::uint8_t* variance_codes;
    float* mean_scale;
    float* variance_scale;
    float* mean;
    float* variance;
};

struct Squares {
    double parameters = 0, updates = 0;
};

struct Kernels {
    void (*step[2][2])(const Block&, const StepConstants&, float factor, PendingBlock&);  // [coded][lamb]
    void (*flush)(PendingBlock&);
    Squares (*squares[2])(const Block&, const StepConstants&);
    void (*to_fp32)(const Bf16*, float*);
    void (*to_bf16)(const float*, Bf16*, std::uint32_t key);
    void (*codes)(const float*, float, std::uint8_t*, std::uint8_t*);
};

namespace baseline {
using Codes = LineCodes;
#define POTLUCK_TARGET
#include "core/numerics/optimizer/optimizer_block.inl"
#undef POTLUCK_TARGET
}  // namespace baseline

#if POTLUCK_X86_ISAS
namespace avx2 {
using Codes = Avx2Blocks;
#define POTLUCK_TARGET POTLUCK_AVX2
#include "core/numerics/optimizer/optimizer_block.inl"
#undef POTLUCK_TARGET
}  // namespace avx2

constexpr Kernels avx2_kernels = [] {
    Kernels kernels = avx2::kernels;
    kernels.step[0][0] = step_block_avx2<false, false, Block, PendingBlock>;
    kernels.step[0][1] = step_block_avx2<false, true, Block, PendingBlock>;
    kernels.step[1][0] = step_block_avx2<true, false, Block, PendingBlock>;
    kernels.step[1][1] = step_block_avx2<true, true, Block, PendingBlock>;
    return kernels;
}();

namespace avx512 {
using Codes = Avx512Blocks;
#define POTLUCK_TARGET POTLUCK_AVX512_BYTES
#include "core/numerics/optimizer/optimizer_block.inl"
#undef POTLUCK_TARGET
}  // namespace avx512

constexpr Kernels avx512_kernels = [] {
    Kernels kernels = avx512::kernels;
    kernels.step[1][0] = step_block_avx512<false, Block>;
    kernels.step[1][1] = step_block_avx512<true, Block>;
    kernels.flush = flush_avx512;
    return kernels;
}();
#endif

const Kernels& kernels_for(Isa isa) {
#if POTLUCK_X86_ISAS
    // Without lookups of bytes, AVX2 is the faster one of the two.
    if (isa == Isa::avx512 && __builtin_cpu_supports("avx512vbmi")) return avx512_kernels;
    if (isa != Isa::baseline) return avx2_kernels;
#endif
    static_cast<void>(isa);
    return baseline::kernels;
}

/// Room of one thread for what is not a whole block of floats where it lies.
struct StagingBuffers {
    alignas(64) float parameters[optimizer_block];
    alignas(64) float gradient[optimizer_block];
    alignas(64) float mean[optimizer_block];
    alignas(64) float variance[optimizer_block];
    alignas(64) std::uint8_t mean_codes[optimizer_block];
    alignas(64) std::uint8_t variance_codes[optimizer_block];
    alignas(64) Bf16 bf16[optimizer_block];
};

struct Piece {
    std::size_t slice;         // counted from the first one stepped
    std::uint64_t begin, end;  // within the slice
};

struct SliceStep {
    OptimizerState::Moments moments;
    std::uint64_t flat_begin;
    StepConstants constants;
    float factor = 0;
};

/// One thread's share of a step.
template <class Parameter, class Gradient>
class BlockStepper {
public:
    BlockStepper(const Kernels& kernels, const StepHyperparams& settings, std::span<Parameter> parameters,
                 std::span<const Gradient> gradient)
        : m_kernels(kernels),
          m_lamb(settings.kind == OptimizerKind::lamb),
          m_seed(settings.rounding_seed),
          m_parameters(parameters.data()),
          m_gradient(gradient.data()) {}

    void step(const SliceStep& slice, const Piece& piece) {
        const bool coded = slice.moments.mean.empty();
        const auto kernel = m_kernels.step[coded ? 1 : 0][m_lamb ? 1 : 0];
        for (std::uint64_t at = piece.begin; at < piece.end; at += optimizer_block) {
            const std::size_t count = count_of(at, piece);
            const Block block = opened(slice, at, count);
            kernel(block, slice.constants, slice.factor, m_pending);
            if (count < optimizer_block) m_kernels.flush(m_pending);  // before its codes are copied out
            close(slice, block, at, count);
        }
        m_kernels.flush(m_pending);
    }

    [[nodiscard]] Squares squares(const SliceStep& slice, const Piece& piece) {
        const auto kernel = m_kernels.squares[slice.moments.mean.empty() ? 1 : 0];
        Squares sum;
        for (std::uint64_t at = piece.begin; at < piece.end; at += optimizer_block) {
            const Squares here = kernel(opened(slice, at, count_of(at, piece)), slice.constants);
            sum.parameters += here.parameters;
            sum.updates += here.updates;
        }
        return sum;
    }

private:
    static std::size_t count_of(std::uint64_t at, const Piece& piece) {
        return static_cast<std::size_t>(std::min<std::uint64_t>(optimizer_block, piece.end - at));
    }

    /// Where the numbers of a block lie as floats: in place, or copied to `staging` with `pad` behind them.
    template <Float Scalar>
    [[nodiscard]] Scalar* floats(Scalar* from, std::size_t count, float* staging, float pad) {
        if (count == optimizer_block) return from;
        std::copy_n(from, count, staging);
        std::fill(staging + count, staging + optimizer_block, pad);
        return staging;
    }
    [[nodiscard]] float* floats(const Bf16* from, std::size_t count, float* staging, float pad) {
        if (count == optimizer_block) {
            m_kernels.to_fp32(from, staging);
            return staging;
        }
        std::transform(from, from + count, staging, [](Bf16 x) { return to_fp32(x); });
        std::fill(staging + count, staging + optimizer_block, pad);
        return staging;
    }
    [[nodiscard]] std::uint8_t* codes(std::uint8_t* from, std::size_t count, std::uint8_t* staging) {
        if (count == optimizer_block) return from;
        std::fill(std::copy_n(from, count, staging), staging + optimizer_block, std::uint8_t{0});
        return staging;
    }

    /// The gradient of padding is NaN, so that it takes no part.
    [[nodiscard]] Block opened(const SliceStep& slice, std::uint64_t begin, std::size_t count) {
        const auto at = static_cast<std::size_t>(begin);
        const auto flat = static_cast<std::size_t>(slice.flat_begin + begin);
        const OptimizerState::Moments& moments = slice.moments;
        Block block{};
        block.parameters = floats(m_parameters + flat, count, m_staging.parameters, 0.0F);
        block.gradient = floats(m_gradient + flat, count, m_staging.gradient, std::numeric_limits<float>::quiet_NaN());
        if (moments.mean.empty()) {
            block.mean_codes = codes(moments.mean_codes.data() + at, count, m_staging.mean_codes);
            block.variance_codes = codes(moments.variance_codes.data() + at, count, m_staging.variance_codes);
            block.mean_scale = moments.mean_scales.data() + at / optimizer_block;
            block.variance_scale = moments.variance_scales.data() + at / optimizer_block;
            if (count < optimizer_block) {
                std::fill(m_staging.mean_codes + count, m_staging.mean_codes + optimizer_block, mean_zero_code);
            }
        } else {
            block.mean = floats(moments.mean.data() + at, count, m_staging.mean, 0.0F);
            block.variance = floats(moments.variance.data() + at, count, m_staging.variance, 0.0F);
        }
        return block;
    }

    /// Copies a padded block's results from the staging buffers back.
    void close(const SliceStep& slice, const Block& block, std::uint64_t begin, std::size_t count) {
        const auto at = static_cast<std::size_t>(begin);
        put(m_parameters + static_cast<std::size_t>(slice.flat_begin + begin), block.parameters, count,
            slice.flat_begin + begin);
        if (count == optimizer_block) return;
        if (slice.moments.mean.empty()) {
            std::copy_n(block.mean_codes, count, slice.moments.mean_codes.data() + at);
            std::copy_n(block.variance_codes, count, slice.moments.variance_codes.data() + at);
        } else {
            std::copy_n(block.mean, count, slice.moments.mean.data() + at);
            std::copy_n(block.variance, count, slice.moments.variance.data() + at);
        }
    }
    void put(float* to, const float* from, std::size_t count, std::uint64_t) {
        if (to != from) std::copy_n(from, count, to);
    }
    void put(Bf16* to, const float* from, std::size_t count, std::uint64_t flat) {
        const std::uint32_t key = arithmetic::block_key(m_seed, flat);
        Bf16* const out = count == optimizer_block ? to : m_staging.bf16;
        m_kernels.to_bf16(from, out, key);
        if (out != to) std::copy_n(out, count, to);
    }

    const Kernels& m_kernels;
    bool m_lamb;
    std::uint64_t m_seed;
    Parameter* m_parameters;
    const Gradient* m_gradient;
    StagingBuffers m_staging;
    PendingBlock m_pending;
};

std::vector<Piece> pieces_of(std::span<const ParameterSlice> slices) {
    constexpr std::uint64_t piece = arithmetic::piece_blocks * optimizer_block;
    std::vector<Piece> all;
    for (std::size_t i = 0; i < slices.size(); ++i) {
        const std::uint64_t length = slices[i].end - slices[i].begin;
        for (std::uint64_t at = 0; at < length; at += piece) all.push_back({i, at, std::min(at + piece, length)});
    }
    return all;
}

}  // namespace

template <class Parameter, class Gradient>
void optimizer_step_with(Isa isa, OptimizerState& state, std::size_t first, std::size_t count,
                         std::span<Parameter> parameters, std::span<const Gradient> gradient,
                         const StepHyperparams& settings, unsigned threads) {
    require_step(state, first, count, parameters.size(), gradient.size(), settings);
    require(available(isa));
    const RoundingGuard guard;
    std::vector<SliceStep> steps;
    for (std::size_t i = first; i < first + count; ++i) {
        const ParameterSlice& slice = state.slices()[i];
        steps.push_back({state.moments(i), slice.begin, step_constants(settings, slice)});
    }
    const std::vector<Piece> pieces = pieces_of(state.slices().subspan(first, count));
    const auto make = [&] {
        return BlockStepper<Parameter, Gradient>(kernels_for(isa), settings, parameters, gradient);
    };
    if (settings.kind == OptimizerKind::lamb) {
        std::vector<Squares> squares(pieces.size());
        exact_parallel_for(pieces.size(), threads, [&] {
            return [&, stepper = make()](std::size_t i) mutable {
                squares[i] = stepper.squares(steps[pieces[i].slice], pieces[i]);
            };
        });
        std::vector<Squares> sums(count);
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            sums[pieces[i].slice].parameters += squares[i].parameters;
            sums[pieces[i].slice].updates += squares[i].updates;
        }
        for (std::size_t i = 0; i < count; ++i) {
            steps[i].factor =
                arithmetic::lamb_factor(lamb_rate(settings), settings.trust_max, sums[i].parameters, sums[i].updates);
        }
    }
    exact_parallel_for(pieces.size(), threads, [&] {
        return [&, stepper = make()](std::size_t i) mutable { stepper.step(steps[pieces[i].slice], pieces[i]); };
    });
}

template <class Parameter, class Gradient>
void optimizer_step(OptimizerState& state, std::size_t first, std::size_t count, std::span<Parameter> parameters,
                    std::span<const Gradient> gradient, const StepHyperparams& settings, unsigned threads) {
    optimizer_step_with(isa_in_use(), state, first, count, parameters, gradient, settings, threads);
}

void codes_with(Isa isa, const float* values, float inverse, std::uint8_t* mean_codes, std::uint8_t* variance_codes) {
    require(reinterpret_cast<std::uintptr_t>(values) % 64 == 0);
    kernels_for(isa).codes(values, inverse, mean_codes, variance_codes);
}

#define POTLUCK_STEP(Parameter, Gradient)                                                                              \
    template void optimizer_step_with<Parameter, Gradient>(Isa, OptimizerState&, std::size_t, std::size_t,             \
                                                           std::span<Parameter>, std::span<const Gradient>,            \
                                                           const StepHyperparams&, unsigned);                          \
    template void optimizer_step<Parameter, Gradient>(OptimizerState&, std::size_t, std::size_t, std::span<Parameter>, \
                                                      std::span<const Gradient>, const StepHyperparams&, unsigned);
POTLUCK_STEP(float, float)
POTLUCK_STEP(float, Bf16)
POTLUCK_STEP(Bf16, float)
POTLUCK_STEP(Bf16, Bf16)
#undef POTLUCK_STEP

}  // namespace potluck::numerics
