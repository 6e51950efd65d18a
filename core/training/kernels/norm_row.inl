// The parts of a layer norm over one row, which elementwise.h's norm takes whole and shifted_rows.h's a quarter at a
// time, for one instruction set (per_isa.inl).

struct RowStatistics {
    float mean, rstd;
};

POTLUCK_INLINE void row_statistics(RowStatistics& out, const float* x, std::int64_t width, float epsilon) {
    const float share = 1.0F / static_cast<float>(width);
    Lanes sums = {};
    for_each_lane_block(width, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
        Lanes value;
        load(value, x + i, part);
        sums += value;
    });
    const float mean = sum_of(sums) * share;
    Lanes squares = {};
    for_each_lane_block(width, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
        Lanes value;
        load(value, x + i, part);
        const Lanes centred = value - mean;
        if constexpr (std::is_same_v<decltype(part), All>) {
            squares += centred * centred;
        } else {
            for (int lane = 0; lane < part.count; ++lane) squares[lane] += centred[lane] * centred[lane];
        }
    });
    out = {mean, 1.0F / std::sqrt(sum_of(squares) * share + epsilon)};
}

/// y = (x - mean) rstd gain + bias, for `count` entries.
template <class Dtype>
POTLUCK_INLINE void norm_part(std::int64_t count, const RowStatistics& row, const float* x, const float* gain_of,
                              const float* bias_of, Dtype* y) {
    for_each_lane_block(count, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
        Lanes value, gain, bias;
        load(value, x + i, part);
        load(gain, gain_of + i, part);
        load(bias, bias_of + i, part);
        value = (value - row.mean) * row.rstd * gain + bias;
        store(value, y + i, part);
    });
}

/// Sums over a row of g and g h, where h = (x - mean) rstd and g = dy gain.
struct NormSums {
    Lanes g = {}, gh = {};
};

/// `count` entries of a row: adds to its sums, and to the gradients of gain and bias.
template <class Dtype>
POTLUCK_INLINE void norm_part_sums(std::int64_t count, const RowStatistics& row, const float* x, const float* gain_of,
                                   const Dtype* dy, float* dgain_of, float* dbias_of, NormSums& sums) {
    for_each_lane_block(count, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
        Lanes value, gradient, gain, dgain, dbias;
        load(value, x + i, part);
        load(gradient, dy + i, part);
        load(gain, gain_of + i, part);
        load(dgain, dgain_of + i, part);
        load(dbias, dbias_of + i, part);
        const Lanes h = (value - row.mean) * row.rstd;
        dgain += gradient * h;
        dbias += gradient;
        store(dgain, dgain_of + i, part);
        store(dbias, dbias_of + i, part);
        const Lanes g = gradient * gain;
        sums.g += g;
        sums.gh += g * h;
    });
}

/// dx += rstd (g - mean(g) - h mean(g h)), for `count` entries.
template <class Dtype>
POTLUCK_INLINE void norm_part_backward(std::int64_t count, const RowStatistics& row, float mean_g, float mean_gh,
                                       const float* x, const float* gain_of, const Dtype* dy, float* dx) {
    for_each_lane_block(count, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
        Lanes value, gradient, gain, sum;
        load(value, x + i, part);
        load(gradient, dy + i, part);
        load(gain, gain_of + i, part);
        load(sum, dx + i, part);
        const Lanes h = (value - row.mean) * row.rstd;
        sum += row.rstd * (gradient * gain - mean_g - h * mean_gh);
        store(sum, dx + i, part);
    });
}
