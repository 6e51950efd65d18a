// The optimizer step, one number after another: the reference that the vectorised step and the CUDA kernels must equal
// bit for bit. It shares optimizer_arithmetic.h with them, which fixes how one number is computed; what is repeated
// here is the order of everything else.
//
//   AdamW  one sweep: decode moments, step, round the parameter, code the moments by block
//   LAMB   a sweep for the norms of parameters and updates, then the same sweep with the trust ratio
//
// LAMB's norms are sums in double of 16 lanes per block, lanes as a tree, blocks within a piece, pieces within a slice.
// A number that takes no part (its gradient or itself is not finite) keeps its value and its moments; if a block has no
// other numbers, even its scales and codes stay as they are.
#include <algorithm>
#include <array>

#include "core/numerics/optimizer/dynamic_map.h"
#include "core/numerics/optimizer/optimizer_parts.h"
#include "core/numerics/require.h"
#include "core/numerics/rounding.h"

namespace potluck::numerics {

using arithmetic::StepConstants;

StepConstants step_constants(const StepHyperparams& settings, const ParameterSlice& slice) {
    const bool lamb = settings.kind == OptimizerKind::lamb;
    return arithmetic::constants_of({.lamb = lamb,
                                     .debiased_moments = !lamb || settings.lamb_debias == LambDebias::moments,
                                     .learning_rate = settings.learning_rate,
                                     .beta1 = settings.beta1,
                                     .beta2 = settings.beta2,
                                     .epsilon = settings.epsilon,
                                     .gradient_scale = settings.gradient_scale,
                                     .step = settings.step,
                                     .weight_decay = slice.weight_decay});
}

double lamb_rate(const StepHyperparams& settings) {
    if (settings.lamb_debias != LambDebias::rate) return settings.learning_rate;
    return settings.learning_rate * arithmetic::rate_correction(settings.beta1, settings.beta2, settings.step);
}

void require_step(const OptimizerState& state, std::size_t first, std::size_t count, std::size_t parameters,
                  std::size_t gradient, const StepHyperparams& settings) {
    const auto fraction = [](double beta) { return beta >= 0 && beta < 1; };
    require(fraction(settings.beta1) && fraction(settings.beta2) && settings.step > 0);
    require(static_cast<float>(settings.epsilon) > 0);
    require(first <= state.slices().size() && count <= state.slices().size() - first && parameters == gradient);
    for (const ParameterSlice& slice : state.slices().subspan(first, count)) {
        require(slice.end <= parameters && slice.rule == SliceRule::elementwise);
    }
}

namespace {

/// One slice, read and written number by number.
template <class Parameter, class Gradient>
class PlainSlice {
public:
    PlainSlice(OptimizerState& state, std::size_t slice, std::span<Parameter> parameters,
               std::span<const Gradient> gradient, const StepHyperparams& settings)
        : m_moments(state.moments(slice)),
          m_slice(state.slices()[slice]),
          m_parameters(parameters),
          m_gradient(gradient),
          m_settings(settings),
          m_constants(step_constants(settings, m_slice)) {}

    void step() {
        const std::uint64_t length = m_slice.end - m_slice.begin;
        if (m_settings.kind == OptimizerKind::lamb) m_factor = factor(length);
        for (std::uint64_t at = 0; at < length; at += optimizer_block) {
            step_block(at, std::min<std::uint64_t>(optimizer_block, length - at));
        }
    }

private:
    struct Number {
        bool takes_part;
        float parameter, mean, variance;  // moments after the step
    };

    [[nodiscard]] Number number(std::uint64_t at) const {
        const auto i = static_cast<std::size_t>(at);
        const bool coded = m_moments.mean.empty();
        const std::size_t block = i / optimizer_block;
        const float mean = coded ? mean_map[m_moments.mean_codes[i]] * m_moments.mean_scales[block] : m_moments.mean[i];
        const float variance = coded ? variance_map[m_moments.variance_codes[i]] * m_moments.variance_scales[block]
                                     : m_moments.variance[i];
        const auto flat = static_cast<std::size_t>(m_slice.begin + at);
        const float parameter = to_fp32(m_parameters[flat]);
        const float gradient = to_fp32(m_gradient[flat]) * m_constants.scale;
        if (!arithmetic::takes_part(gradient, parameter)) return {false, parameter, mean, variance};
        return {true, parameter, arithmetic::next_mean(m_constants, mean, gradient),
                arithmetic::next_variance(m_constants, variance, gradient)};
    }

    /// LAMB's ratio times the learning rate, with the sums in the order that arithmetic::lanes tells.
    [[nodiscard]] float factor(std::uint64_t length) const {
        double parameter_sum = 0, update_sum = 0, parameter_piece = 0, update_piece = 0;
        for (std::uint64_t at = 0; at < length; at += optimizer_block) {
            std::array<double, arithmetic::lanes> p{}, u{};
            for (std::uint64_t i = at; i < std::min(at + optimizer_block, length); ++i) {
                const Number n = number(i);
                if (!n.takes_part) continue;
                const double update = arithmetic::lamb_update(m_constants, n.parameter, n.mean, n.variance);
                p[i % arithmetic::lanes] += double{n.parameter} * double{n.parameter};
                u[i % arithmetic::lanes] += update * update;
            }
            for (std::size_t half = arithmetic::lanes / 2; half > 0; half /= 2) {
                for (std::size_t lane = 0; lane < half; ++lane) {
                    p[lane] += p[lane + half];
                    u[lane] += u[lane + half];
                }
            }
            parameter_piece += p[0];
            update_piece += u[0];
            const std::uint64_t next = at / optimizer_block + 1;
            if (next % arithmetic::piece_blocks != 0 && at + optimizer_block < length) continue;
            parameter_sum += parameter_piece;
            update_sum += update_piece;
            parameter_piece = update_piece = 0;
        }
        return arithmetic::lamb_factor(lamb_rate(m_settings), m_settings.trust_max, parameter_sum, update_sum);
    }

    void step_block(std::uint64_t begin, std::uint64_t count) {
        std::array<Number, optimizer_block> numbers;
        bool any = false;
        for (std::uint64_t i = 0; i < count; ++i) {
            numbers[i] = number(begin + i);
            any = any || numbers[i].takes_part;
        }
        if (!any) return;
        const std::uint32_t key = arithmetic::block_key(m_settings.rounding_seed, m_slice.begin + begin);
        for (std::uint64_t i = 0; i < count; ++i) {
            const Number& n = numbers[i];
            if (!n.takes_part) continue;
            const float after =
                m_settings.kind == OptimizerKind::lamb
                    ? n.parameter - m_factor * arithmetic::lamb_update(m_constants, n.parameter, n.mean, n.variance)
                    : arithmetic::adamw_stepped(m_constants, n.parameter, n.mean, n.variance);
            store(m_parameters[static_cast<std::size_t>(m_slice.begin + begin + i)], after, key,
                  static_cast<std::uint32_t>(i));
        }
        keep_moments(numbers, begin, count);
    }

    void keep_moments(const std::array<Number, optimizer_block>& numbers, std::uint64_t begin, std::uint64_t count) {
        const auto at = static_cast<std::size_t>(begin);
        if (!m_moments.mean.empty()) {
            for (std::size_t i = 0; i < count; ++i) {
                m_moments.mean[at + i] = numbers[i].mean;
                m_moments.variance[at + i] = numbers[i].variance;
            }
            return;
        }
        float mean_max = 0, variance_max = 0;
        for (std::size_t i = 0; i < count; ++i) {
            mean_max = std::max(mean_max, arithmetic::magnitude(numbers[i].mean));
            variance_max = std::max(variance_max, numbers[i].variance);
        }
        const float mean_scale = arithmetic::scale_of(mean_max), variance_scale = arithmetic::scale_of(variance_max);
        m_moments.mean_scales[at / optimizer_block] = mean_scale;
        m_moments.variance_scales[at / optimizer_block] = variance_scale;
        const float mean_inverse = arithmetic::inverse_of(mean_scale);
        const float variance_inverse = arithmetic::inverse_of(variance_scale);
        for (std::size_t i = 0; i < count; ++i) {
            m_moments.mean_codes[at + i] = plain_mean_code(numbers[i].mean * mean_inverse);
            m_moments.variance_codes[at + i] = plain_variance_code(numbers[i].variance * variance_inverse);
        }
    }

    OptimizerState::Moments m_moments;
    ParameterSlice m_slice;
    std::span<Parameter> m_parameters;
    std::span<const Gradient> m_gradient;
    const StepHyperparams& m_settings;
    StepConstants m_constants;
    float m_factor = 0;
};

}  // namespace

template <class Parameter, class Gradient>
void plain_optimizer_step(OptimizerState& state, std::size_t first, std::size_t count, std::span<Parameter> parameters,
                          std::span<const Gradient> gradient, const StepHyperparams& settings) {
    require_step(state, first, count, parameters.size(), gradient.size(), settings);
    const RoundingGuard guard;
    for (std::size_t slice = first; slice < first + count; ++slice) {
        if (state.slices()[slice].begin == state.slices()[slice].end) continue;
        PlainSlice<Parameter, Gradient>(state, slice, parameters, gradient, settings).step();
    }
}

#define POTLUCK_PLAIN(Parameter, Gradient)                                                                   \
    template void plain_optimizer_step<Parameter, Gradient>(OptimizerState&, std::size_t, std::size_t,       \
                                                            std::span<Parameter>, std::span<const Gradient>, \
                                                            const StepHyperparams&);
POTLUCK_PLAIN(float, float)
POTLUCK_PLAIN(float, Bf16)
POTLUCK_PLAIN(Bf16, float)
POTLUCK_PLAIN(Bf16, Bf16)
#undef POTLUCK_PLAIN

}  // namespace potluck::numerics
