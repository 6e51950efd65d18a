#include <algorithm>

#include "core/numerics/optimizer/dynamic_map.h"
#include "core/numerics/optimizer/optimizer.h"
#include "core/numerics/require.h"

namespace potluck::numerics {

namespace {

struct Needs {
    std::uint64_t codes = 0, scales = 0, floats = 0;
};

Needs needs_of(const ParameterSlice& slice, StateBits bits) {
    const std::uint64_t length = slice.end - slice.begin;
    if (bits == StateBits::bits32 || length < small_slice) return {.floats = length};
    return {.codes = length, .scales = (length + optimizer_block - 1) / optimizer_block};
}

template <class T>
std::span<T> part(std::vector<T>& of, std::uint64_t begin, std::uint64_t count) {
    return std::span<T>(of).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
}

}  // namespace

OptimizerState::OptimizerState(std::vector<ParameterSlice> slices, StateBits bits)
    : m_slices(std::move(slices)), m_bits(bits) {
    Needs sum;
    std::uint64_t end = 0;
    for (const ParameterSlice& slice : m_slices) {
        require(slice.begin >= end && slice.end >= slice.begin);
        end = slice.end;
        m_code_begin.push_back(sum.codes);
        m_scale_begin.push_back(sum.scales);
        m_float_begin.push_back(sum.floats);
        const Needs needs = needs_of(slice, bits);
        sum.codes += needs.codes;
        sum.scales += needs.scales;
        sum.floats += needs.floats;
    }
    m_mean_codes.assign(static_cast<std::size_t>(sum.codes), mean_zero_code);
    m_variance_codes.assign(static_cast<std::size_t>(sum.codes), 0);
    m_mean_scales.assign(static_cast<std::size_t>(sum.scales), 0.0F);
    m_variance_scales.assign(static_cast<std::size_t>(sum.scales), 0.0F);
    m_mean.assign(static_cast<std::size_t>(sum.floats), 0.0F);
    m_variance.assign(static_cast<std::size_t>(sum.floats), 0.0F);
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
        const Needs needs = needs_of(slice, bits);
        sum += 2 * (needs.codes + sizeof(float) * (needs.scales + needs.floats));
    }
    return sum;
}

OptimizerState::Moments OptimizerState::moments(std::size_t slice) {
    require(slice < m_slices.size());
    const Needs needs = needs_of(m_slices[slice], m_bits);
    return {.mean_codes = part(m_mean_codes, m_code_begin[slice], needs.codes),
            .variance_codes = part(m_variance_codes, m_code_begin[slice], needs.codes),
            .mean_scales = part(m_mean_scales, m_scale_begin[slice], needs.scales),
            .variance_scales = part(m_variance_scales, m_scale_begin[slice], needs.scales),
            .mean = part(m_mean, m_float_begin[slice], needs.floats),
            .variance = part(m_variance, m_float_begin[slice], needs.floats)};
}

}  // namespace potluck::numerics
