// One block of an optimizer step, included by optimizer_step.cpp once per `Isa`, inside a namespace that has `Codes`,
// with POTLUCK_TARGET naming the instruction set. The loops are written so that the compiler turns them into vectors.

/// Moments of `block` as floats.
template <bool Coded>
POTLUCK_TARGET inline void load_moments(const Block& block, float* POTLUCK_RESTRICT mean,
                                        float* POTLUCK_RESTRICT variance) {
    if constexpr (Coded) {
        Codes::mean_values(block.mean_codes, *block.mean_scale, mean);
        Codes::variance_values(block.variance_codes, *block.variance_scale, variance);
    } else {
        std::memcpy(mean, block.mean, optimizer_block * sizeof(float));
        std::memcpy(variance, block.variance, optimizer_block * sizeof(float));
    }
}

template <bool Coded>
POTLUCK_TARGET inline void store_moments(const Block& block, const float* mean, const float* variance,
                                         std::uint32_t mean_max, std::uint32_t variance_max) {
    if constexpr (Coded) {
        const float mean_scale = arithmetic::scale_of(arithmetic::float_of(mean_max));
        const float variance_scale = arithmetic::scale_of(arithmetic::float_of(variance_max));
        *block.mean_scale = mean_scale;
        *block.variance_scale = variance_scale;
        Codes::mean_codes(mean, arithmetic::inverse_of(mean_scale), block.mean_codes);
        Codes::variance_codes(variance, arithmetic::inverse_of(variance_scale), block.variance_codes);
    } else {
        std::memcpy(block.mean, mean, optimizer_block * sizeof(float));
        std::memcpy(block.variance, variance, optimizer_block * sizeof(float));
    }
}

template <bool Coded, bool Lamb>
POTLUCK_TARGET void step_block(const Block& block, const StepConstants& constants, float factor, PendingBlock&) {
    alignas(64) float mean[optimizer_block];
    alignas(64) float variance[optimizer_block];
    load_moments<Coded>(block, mean, variance);
    const StepConstants c = constants;
    const float* POTLUCK_RESTRICT gradient = block.gradient;
    float* POTLUCK_RESTRICT parameters = block.parameters;
    std::uint32_t any = 0;
    std::int32_t mean_max = 0, variance_max = 0;
    for (std::size_t i = 0; i < optimizer_block; ++i) {
        const float p = parameters[i];
        const float g = gradient[i] * c.scale;
        const bool part = arithmetic::takes_part(g, p);
        const float m0 = mean[i], v0 = variance[i];
        const float m1 = arithmetic::next_mean(c, m0, g), v1 = arithmetic::next_variance(c, v0, g);
        const float m = part ? m1 : m0;
        const float v = part ? v1 : v0;
        const float after =
            Lamb ? p - factor * arithmetic::lamb_update(c, p, m, v) : arithmetic::adamw_stepped(c, p, m, v);
        parameters[i] = part ? after : p;
        mean[i] = m;
        variance[i] = v;
        any |= part ? 1U : 0U;
        const auto m_size = static_cast<std::int32_t>(arithmetic::magnitude_bits(m));
        const auto v_size = static_cast<std::int32_t>(arithmetic::bits_of(v));
        mean_max = mean_max > m_size ? mean_max : m_size;
        variance_max = variance_max > v_size ? variance_max : v_size;
    }
    if (any == 0) return;
    store_moments<Coded>(block, mean, variance, static_cast<std::uint32_t>(mean_max),
                         static_cast<std::uint32_t>(variance_max));
}

/// The sums of squares of LAMB's two norms over one block.
template <bool Coded>
POTLUCK_TARGET Squares block_squares(const Block& block, const StepConstants& constants) {
    alignas(64) float mean[optimizer_block];
    alignas(64) float variance[optimizer_block];
    alignas(64) float updates[optimizer_block];
    load_moments<Coded>(block, mean, variance);
    const StepConstants c = constants;
    for (std::size_t i = 0; i < optimizer_block; ++i) {
        const float p = block.parameters[i];
        const float g = block.gradient[i] * c.scale;
        const bool part = arithmetic::takes_part(g, p);
        const float m = arithmetic::next_mean(c, mean[i], g), v = arithmetic::next_variance(c, variance[i], g);
        const float update = arithmetic::lamb_update(c, p, m, v);
        updates[i] = part ? update : 0.0F;
        mean[i] = part ? p : 0.0F;
    }
    alignas(64) double p_lanes[arithmetic::lanes] = {};
    alignas(64) double u_lanes[arithmetic::lanes] = {};
    for (std::size_t row = 0; row < optimizer_block; row += arithmetic::lanes) {
        for (std::size_t lane = 0; lane < arithmetic::lanes; ++lane) {
            const double p = mean[row + lane], u = updates[row + lane];
            p_lanes[lane] += p * p;
            u_lanes[lane] += u * u;
        }
    }
    for (std::size_t half = arithmetic::lanes / 2; half > 0; half /= 2) {
        for (std::size_t lane = 0; lane < half; ++lane) {
            p_lanes[lane] += p_lanes[lane + half];
            u_lanes[lane] += u_lanes[lane + half];
        }
    }
    return {p_lanes[0], u_lanes[0]};
}

/// bf16 to fp32 and back; `count` is a whole block.
POTLUCK_TARGET void to_fp32_block(const Bf16* POTLUCK_RESTRICT from, float* POTLUCK_RESTRICT to) {
    for (std::size_t i = 0; i < optimizer_block; ++i) to[i] = to_fp32(from[i]);
}
POTLUCK_TARGET void to_bf16_block(const float* POTLUCK_RESTRICT from, Bf16* POTLUCK_RESTRICT to, std::uint32_t key) {
    for (std::uint32_t i = 0; i < optimizer_block; ++i) store(to[i], from[i], key, i);
}

POTLUCK_TARGET void both_codes(const float* values, float inverse, std::uint8_t* mean_codes,
                               std::uint8_t* variance_codes) {
    Codes::mean_codes(values, inverse, mean_codes);
    alignas(64) float sizes[optimizer_block];
    for (std::size_t i = 0; i < optimizer_block; ++i) sizes[i] = arithmetic::magnitude(values[i]);
    Codes::variance_codes(sizes, inverse, variance_codes);
}

constexpr Kernels kernels = {
    {{step_block<false, false>, step_block<false, true>}, {step_block<true, false>, step_block<true, true>}},
    [](PendingBlock&) {},
    {block_squares<false>, block_squares<true>},
    to_fp32_block,
    to_bf16_block,
    both_codes};
