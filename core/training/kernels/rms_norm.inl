// The passes of rms_norm.h for one instruction set (per_isa.inl).

/// Entries beyond the end of a row load as zeros, so that their squares add nothing.
template <class Dtype>
POTLUCK_INLINE void forward(const RowShape& shape, const RmsForward& in, Dtype* y) {
    const float share = 1.0F / static_cast<float>(shape.width);
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        const float* x = in.x + row * shape.width;
        Dtype* out = y + row * shape.width;
        Lanes squares = {};
        for_each_lane_block(shape.width, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
            Lanes value;
            load(value, x + i, part);
            squares += value * value;
        });
        const float rstd = 1.0F / std::sqrt(sum_of(squares) * share + in.epsilon);
        in.rstd[row] = rstd;
        for_each_lane_block(shape.width, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
            Lanes value, gain;
            load(value, x + i, part);
            load(gain, in.gain + i, part);
            value = value * rstd * gain;
            store(value, out + i, part);
        });
    }
}

/// With h = x rstd and g = dy gain:  dx = rstd (g - h mean(g h)).
template <class Dtype>
POTLUCK_INLINE void backward(const RowShape& shape, const RmsBackward& in, const Dtype* dy) {
    const float share = 1.0F / static_cast<float>(shape.width);
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        const float* x = in.x + row * shape.width;
        const Dtype* d = dy + row * shape.width;
        float* dx = in.dx + row * shape.width;
        const float rstd = in.rstd[row];
        Lanes sum_gh = {};
        for_each_lane_block(shape.width, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
            Lanes value, gradient, gain, dgain;
            load(value, x + i, part);
            load(gradient, d + i, part);
            load(gain, in.gain + i, part);
            load(dgain, in.dgain + i, part);
            const Lanes dy_h = gradient * (value * rstd);
            dgain += dy_h;
            store(dgain, in.dgain + i, part);
            sum_gh += dy_h * gain;
        });
        const float mean_gh = sum_of(sum_gh) * share;
        for_each_lane_block(shape.width, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
            Lanes value, gradient, gain, sum;
            load(value, x + i, part);
            load(gradient, d + i, part);
            load(gain, in.gain + i, part);
            load(sum, dx + i, part);
            sum += rstd * (gradient * gain - value * rstd * mean_gh);
            store(sum, dx + i, part);
        });
    }
}

template <class Dtype>
POTLUCK_TARGET void rms_of(const RowShape& shape, const RmsForward& in, Dtype* y) {
    forward(shape, in, y);
}
template <class Dtype>
POTLUCK_TARGET void rms_backward_of(const RowShape& shape, const RmsBackward& in, const Dtype* dy) {
    backward(shape, in, dy);
}
