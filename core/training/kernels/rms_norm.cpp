#include "core/training/kernels/rms_norm.h"

#include <cmath>

#include "core/training/kernels/target_clones.h"

namespace potluck::training {

namespace {

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

#define POTLUCK_RMS_OF(Dtype)                                                                                   \
    POTLUCK_VECTOR_CLONES void rms_of(const RowShape& s, const RmsForward& in, Dtype* y) { forward(s, in, y); } \
    POTLUCK_VECTOR_CLONES void rms_backward_of(const RowShape& s, const RmsBackward& in, const Dtype* dy) {     \
        backward(s, in, dy);                                                                                    \
    }
POTLUCK_RMS_OF(float)
POTLUCK_RMS_OF(Bf16)

}  // namespace

template <class Dtype>
void rms_rows(const RowShape& shape, const RmsForward& in, Dtype* y) {
    rms_of(shape, in, y);
}
template <class Dtype>
void rms_rows_backward(const RowShape& shape, const RmsBackward& in, const Dtype* dy) {
    rms_backward_of(shape, in, dy);
}

template void rms_rows<float>(const RowShape&, const RmsForward&, float*);
template void rms_rows<Bf16>(const RowShape&, const RmsForward&, Bf16*);
template void rms_rows_backward<float>(const RowShape&, const RmsBackward&, const float*);
template void rms_rows_backward<Bf16>(const RowShape&, const RmsBackward&, const Bf16*);

}  // namespace potluck::training
