#include "core/numerics/optimizer/momentum.h"

#include <algorithm>
#include <cmath>

#include "core/numerics/optimizer/dynamic_map.h"
#include "core/numerics/optimizer/optimizer_parts.h"
#include "core/numerics/parallel.h"
#include "core/numerics/require.h"

namespace potluck::numerics {

namespace {

/// Calls `each` with begin and end of every block of a slice of `length` numbers; pieces of blocks are what threads
/// share.
template <class Each>
void for_each_block(std::size_t length, unsigned threads, const Each& each) {
    constexpr std::size_t piece = arithmetic::piece_blocks * optimizer_block;
    exact_parallel_for((length + piece - 1) / piece, threads, [&] {
        return [&](std::size_t index) {
            const std::size_t end = std::min(length, (index + 1) * piece);
            for (std::size_t at = index * piece; at < end; at += optimizer_block) {
                each(at, std::min(end, at + optimizer_block));
            }
        };
    });
}

}  // namespace

template <class Gradient>
void momentum_step(OptimizerState& state, std::size_t slice, std::span<const Gradient> gradient,
                   const StepHyperparams& settings, std::span<float> momentum, unsigned threads) {
    const ParameterSlice& place = state.slices()[slice];
    const auto length = static_cast<std::size_t>(place.end - place.begin);
    require(place.rule == SliceRule::matrix && place.end <= gradient.size() && momentum.size() == length);
    const OptimizerState::Moments moments = state.moments(slice);
    const arithmetic::StepConstants constants = step_constants(settings, place);
    const Gradient* const from = gradient.data() + place.begin;
    const Isa isa = isa_in_use();
    for_each_block(length, threads, [&](std::size_t begin, std::size_t end) {
        const bool coded = moments.mean.empty();
        const float scale_before = coded ? moments.mean_scales[begin / optimizer_block] : 0;
        alignas(64) float block[optimizer_block] = {};
        float largest = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const float before = coded ? mean_map[moments.mean_codes[i]] * scale_before : moments.mean[i];
            const float g = to_fp32(from[i]) * constants.scale;
            const float after = arithmetic::takes_part(g, 0.0F) ? arithmetic::next_mean(constants, before, g) : before;
            block[i - begin] = after;
            largest = std::max(largest, arithmetic::magnitude(after));
        }
        std::copy_n(block, end - begin, momentum.data() + begin);
        if (!coded) {
            std::copy_n(block, end - begin, moments.mean.data() + begin);
            return;
        }
        alignas(64) std::uint8_t codes[optimizer_block];
        alignas(64) std::uint8_t unused[optimizer_block];
        const float scale = arithmetic::scale_of(largest);
        moments.mean_scales[begin / optimizer_block] = scale;
        codes_with(isa, block, arithmetic::inverse_of(scale), codes, unused);
        std::copy_n(codes, end - begin, moments.mean_codes.data() + begin);
    });
}

template <class Parameter>
void update_step(const ParameterSlice& slice, std::span<Parameter> parameters, std::span<const float> update,
                 const StepHyperparams& settings, unsigned threads) {
    const auto length = static_cast<std::size_t>(slice.end - slice.begin);
    require(slice.end <= parameters.size() && update.size() == length);
    const auto rate = static_cast<float>(settings.learning_rate);
    const auto decay_factor = static_cast<float>(1 - settings.learning_rate * double{slice.weight_decay});
    Parameter* const to = parameters.data() + slice.begin;
    for_each_block(length, threads, [&](std::size_t begin, std::size_t end) {
        const std::uint32_t key = arithmetic::block_key(settings.rounding_seed, slice.begin + begin);
        for (std::size_t i = begin; i < end; ++i) {
            const float after = to_fp32(to[i]) * decay_factor - rate * update[i];
            store(to[i], after, key, static_cast<std::uint32_t>(i - begin));
        }
    });
}

template void momentum_step<float>(OptimizerState&, std::size_t, std::span<const float>, const StepHyperparams&,
                                   std::span<float>, unsigned);
template void momentum_step<Bf16>(OptimizerState&, std::size_t, std::span<const Bf16>, const StepHyperparams&,
                                  std::span<float>, unsigned);
template void update_step<float>(const ParameterSlice&, std::span<float>, std::span<const float>,
                                 const StepHyperparams&, unsigned);
template void update_step<Bf16>(const ParameterSlice&, std::span<Bf16>, std::span<const float>, const StepHyperparams&,
                                unsigned);

}  // namespace potluck::numerics
