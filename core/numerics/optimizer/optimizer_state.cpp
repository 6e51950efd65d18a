#include <algorithm>

#include "core/numerics/optimizer/dynamic_map.h"
#include "core/numerics/optimizer/optimizer.h"
#include "core/numerics/require.h"

namespace potluck::numerics {

namespace {

struct Needs {
    std::uint64_t codes = 0, scales = 0, floats = 0;
};

/// What one moment of a slice takes.
Needs needs_of(const ParameterSlice& slice, StateBits bits) {
    const std::uint64_t length = slice.end - slice.begin;
    if (bits == StateBits::bits32 || length < small_slice) return {.floats = length};
    return {.codes = length, .scales = (length + optimizer_block - 1) / optimizer_block};
}

Needs variance_needs(const ParameterSlice& slice, StateBits bits) {
    return slice.rule == SliceRule::matrix ? Needs{} : needs_of(slice, bits);
}

template <class T>
std::span<T> part(std::vector<T>& of, std::uint64_t begin, std::uint64_t count) {
    return std::span<T>(of).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
}

}  // namespace

OptimizerState::OptimizerState(std::vector<ParameterSlice> slices, StateBits bits)
    : m_slices(std::move(slices)), m_bits(bits) {
    Places means, variances;
    std::uint64_t end = 0;
    const auto take = [](Places& sum, const Needs& needs) {
        const Places begin = sum;
        sum = {sum.codes + needs.codes, sum.scales + needs.scales, sum.floats + needs.floats};
        return begin;
    };
    for (const ParameterSlice& slice : m_slices) {
        require(slice.begin >= end && slice.end >= slice.begin);
        end = slice.end;
        m_mean_begin.push_back(take(means, needs_of(slice, bits)));
        m_variance_begin.push_back(take(variances, variance_needs(slice, bits)));
    }
    m_mean_codes.assign(static_cast<std::size_t>(means.codes), mean_zero_code);
    m_variance_codes.assign(static_cast<std::size_t>(variances.codes), 0);
    m_mean_scales.assign(static_cast<std::size_t>(means.scales), 0.0F);
    m_variance_scales.assign(static_cast<std::size_t>(variances.scales), 0.0F);
    m_mean.assign(static_cast<std::size_t>(means.floats), 0.0F);
    m_variance.assign(static_cast<std::size_t>(variances.floats), 0.0F);
}

void OptimizerState::reset() {
    std::ranges::fill(m_mean_codes, mean_zero_code);
    std::ranges::fill(m_variance_codes, std::uint8_t{0});
    std::ranges::fill(m_mean_scales, 0.0F);
    std::ranges::fill(m_variance_scales, 0.0F);
    std::ranges::fill(m_mean, 0.0F);
    std::ranges::fill(m_variance, 0.0F);
}

std::uint64_t OptimizerState::bytes() const { return bytes_for(m_slices, m_bits); }

std::uint64_t OptimizerState::bytes_for(std::span<const ParameterSlice> slices, StateBits bits) {
    std::uint64_t sum = 0;
    for (const ParameterSlice& slice : slices) {
        for (const Needs& needs : {needs_of(slice, bits), variance_needs(slice, bits)}) {
            sum += needs.codes + sizeof(float) * (needs.scales + needs.floats);
        }
    }
    return sum;
}

OptimizerState::Moments OptimizerState::moments(std::size_t slice) {
    require(slice < m_slices.size());
    const Needs mean = needs_of(m_slices[slice], m_bits), variance = variance_needs(m_slices[slice], m_bits);
    const Places &mean_at = m_mean_begin[slice], &variance_at = m_variance_begin[slice];
    return {.mean_codes = part(m_mean_codes, mean_at.codes, mean.codes),
            .variance_codes = part(m_variance_codes, variance_at.codes, variance.codes),
            .mean_scales = part(m_mean_scales, mean_at.scales, mean.scales),
            .variance_scales = part(m_variance_scales, variance_at.scales, variance.scales),
            .mean = part(m_mean, mean_at.floats, mean.floats),
            .variance = part(m_variance, variance_at.floats, variance.floats)};
}

}  // namespace potluck::numerics
