// The passes of shifted_rows.h for one instruction set (per_isa.inl).
//
// A norm whose rows shift is computed where a row is read and written where it goes: statistics of a row are needed
// once, and no row is written that another pass moves. Backwards a row reads its gradient from the rows that took its
// quarters:
//
//   h = (x - mean) rstd,  g = dy gain of what was taken:   dx += rstd (g - mean(g) - h mean(g h))
//
// Sums over rows are added to as rows are passed; threads have sums of their own.

#include "core/training/kernels/norm_row.inl"

constexpr float root_half = 0.70710678118654752F;     // sqrt(1/2)
constexpr float density_peak = 0.39894228040143268F;  // 1 / sqrt(2 pi)

/// Phi(x) and e^(-x^2/2).
POTLUCK_INLINE void normal(Lanes& phi, Lanes& bell, const Lanes& x) {
    const Lanes z = (x < 0.0F ? -x : x) * root_half;
    const Lanes t = 1.0F / (1.0F + 0.3275911F * z);
    bell = -z * z;
    exp_approx<Lanes, LaneBits>(bell);
    const Lanes series =
        ((((1.061405429F * t - 1.453152027F) * t + 1.421413741F) * t - 0.284496736F) * t + 0.254829592F) * t;
    const Lanes tail = 0.5F * series * bell;
    phi = x < 0.0F ? tail : 1.0F - tail;
}

/// out[i] = value[i ^ 1].
POTLUCK_INLINE void swap_neighbours(Lanes& out, const Lanes& value) {
    [&]<int... i>(std::integer_sequence<int, i...>) POTLUCK_INLINE_LAMBDA {
        out = __builtin_shufflevector(value, value, (i ^ 1)...);
    }
    (std::make_integer_sequence<int, lanes>());
}

POTLUCK_INLINE void add_to(const Lanes& value, float* sums, auto part) {
    Lanes sum;
    load(sum, sums, part);
    sum += value;
    store(sum, sums, part);
}

POTLUCK_INLINE bool is_row(std::int32_t row, std::int64_t time) { return row >= 0 && row < time; }

POTLUCK_INLINE void shifted_forward(const RowShape& shape, const NormForward& in, const Shift& shift, float* y) {
    const std::int64_t quarter = shape.width / shift_parts;
    for (std::int64_t row = shape.first; row < shape.first + shape.rows; ++row) {
        const float* x = in.x + row * shape.width;
        RowStatistics found;
        row_statistics(found, x, shape.width, in.epsilon);
        in.mean[row] = found.mean;
        in.rstd[row] = found.rstd;
        const std::int64_t time = row % shift.time, record = row - time;
        for (std::int64_t q = 0; q < shift_parts; ++q) {
            const std::int64_t from = q * quarter;
            const std::int32_t target = shift.target[time * shift_parts + q];
            if (shift.source[time * shift_parts + q] < 0) std::fill_n(y + row * shape.width + from, quarter, 0.0F);
            if (!is_row(target, shift.time)) continue;
            norm_part(quarter, found, x + from, in.gain + from, in.bias + from,
                      y + (record + target) * shape.width + from);
        }
    }
}

/// `nothing`: a quarter of zeros, the gradient of what no row took.
POTLUCK_INLINE void shifted_backward(const RowShape& shape, const NormBackward& in, const Shift& shift, const float* dy,
                                     const float* nothing) {
    const std::int64_t quarter = shape.width / shift_parts;
    const float share = 1.0F / static_cast<float>(shape.width);
    for (std::int64_t row = shape.first; row < shape.first + shape.rows; ++row) {
        const float* x = in.x + row * shape.width;
        float* dx = in.dx + row * shape.width;
        const RowStatistics known{in.mean[row], in.rstd[row]};
        const std::int64_t time = row % shift.time, record = row - time;
        const float* taken[shift_parts];
        NormSums sums;
        for (std::int64_t q = 0; q < shift_parts; ++q) {
            const std::int64_t from = q * quarter;
            const std::int32_t target = shift.target[time * shift_parts + q];
            taken[q] = is_row(target, shift.time) ? dy + (record + target) * shape.width + from : nothing;
            norm_part_sums(quarter, known, x + from, in.gain + from, taken[q], in.dgain + from, in.dbias + from, sums);
        }
        const float mean_g = sum_of(sums.g) * share, mean_gh = sum_of(sums.gh) * share;
        for (std::int64_t q = 0; q < shift_parts; ++q) {
            const std::int64_t from = q * quarter;
            norm_part_backward(quarter, known, mean_g, mean_gh, x + from, in.gain + from, taken[q], dx + from);
        }
    }
}

POTLUCK_INLINE void gate_forward(const RowShape& shape, const float* x, float* y) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        const float *values = x + 2 * row * shape.width, *gates = values + shape.width;
        float* out = y + row * shape.width;
        for_each_lane_block(shape.width, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
            Lanes value, gate, phi, bell;
            load(value, values + i, part);
            load(gate, gates + i, part);
            normal(phi, bell, gate);
            value *= gate * phi;
            store(value, out + i, part);
        });
    }
}

/// gelu'(g) = Phi(g) + g Phi'(g).
POTLUCK_INLINE void gate_backward(const RowShape& shape, float* x, const float* dy, float* sums) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        float *values = x + 2 * row * shape.width, *gates = values + shape.width;
        const float* d = dy + row * shape.width;
        for_each_lane_block(shape.width, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
            Lanes value, gate, gradient, phi, bell;
            load(value, values + i, part);
            load(gate, gates + i, part);
            load(gradient, d + i, part);
            normal(phi, bell, gate);
            const Lanes dvalue = gradient * gate * phi;
            const Lanes dgate = gradient * value * (phi + gate * density_peak * bell);
            store(dvalue, values + i, part);
            store(dgate, gates + i, part);
            add_to(dvalue, sums + i, part);
            add_to(dgate, sums + shape.width + i, part);
        });
    }
}

POTLUCK_INLINE void scaled_backward(const RowShape& shape, const ScaledBackward& in) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        const std::int64_t base = row * shape.width;
        for_each_lane_block(shape.width, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
            Lanes d, y, scale;
            load(d, in.d + base + i, part);
            load(y, in.y + base + i, part);
            load(scale, in.scale + i, part);
            add_to(d * y, in.dscale + i, part);
            const Lanes dy = d * scale;
            store(dy, in.dy + base + i, part);
            add_to(dy, in.dbias + i, part);
        });
    }
}

POTLUCK_INLINE void turned(const RowShape& shape, const PairTurn& turn, float* x) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        const std::int64_t angles = (shape.first + row) % turn.time * turn.depth;
        for (std::int64_t head = 0; head < shape.width; head += turn.depth) {
            float* entries = x + row * shape.width + head;
            for_each_lane_block(turn.depth, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
                Lanes own, cosine, sine;
                load(own, entries + i, part);
                load(cosine, turn.cosines + angles + i, part);
                load(sine, turn.sines + angles + i, part);
                Lanes other;
                swap_neighbours(other, own);
                own = own * cosine + other * (sine * turn.sign);
                store(own, entries + i, part);
            });
        }
    }
}

POTLUCK_TARGET void shifted_of(const RowShape& shape, const NormForward& in, const Shift& shift, float* y) {
    shifted_forward(shape, in, shift, y);
}
POTLUCK_TARGET void shifted_backward_of(const RowShape& shape, const NormBackward& in, const Shift& shift,
                                        const float* dy, const float* nothing) {
    shifted_backward(shape, in, shift, dy, nothing);
}
POTLUCK_TARGET void gate_of(const RowShape& shape, const float* x, float* y) { gate_forward(shape, x, y); }
POTLUCK_TARGET void gate_backward_of(const RowShape& shape, float* x, const float* dy, float* sums) {
    gate_backward(shape, x, dy, sums);
}
POTLUCK_TARGET void scaled_of(const RowShape& shape, const ScaledBackward& in) { scaled_backward(shape, in); }
POTLUCK_TARGET void turned_of(const RowShape& shape, const PairTurn& turn, float* x) { turned(shape, turn, x); }
