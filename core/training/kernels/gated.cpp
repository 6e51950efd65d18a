#include "core/training/kernels/gated.h"

#include "core/training/kernels/exp.h"
#include "core/training/kernels/target_clones.h"

namespace potluck::training {

namespace {

POTLUCK_INLINE void sigmoid(Lanes& s, const Lanes& x) {
    Lanes power = -x;
    exp_approx<Lanes, LaneBits>(power);
    s = 1.0F / (1.0F + power);
}

template <class Dtype>
POTLUCK_INLINE void forward(const RowShape& shape, const Dtype* x, Dtype* y) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        const Dtype* gate_row = x + 2 * row * shape.width;
        const Dtype* up_row = gate_row + shape.width;
        Dtype* out = y + row * shape.width;
        for_each_lane_block(shape.width, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
            Lanes gate, up, s;
            load(gate, gate_row + i, part);
            load(up, up_row + i, part);
            sigmoid(s, gate);
            up *= gate * s;
            store(up, out + i, part);
        });
    }
}

/// silu'(g) = s (1 + g (1 - s)), where s is the logistic function of g.
template <class Dtype>
POTLUCK_INLINE void backward(const RowShape& shape, Dtype* x, const Dtype* dy) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        Dtype* gate_row = x + 2 * row * shape.width;
        Dtype* up_row = gate_row + shape.width;
        const Dtype* d = dy + row * shape.width;
        for_each_lane_block(shape.width, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
            Lanes gate, up, gradient, s;
            load(gate, gate_row + i, part);
            load(up, up_row + i, part);
            load(gradient, d + i, part);
            sigmoid(s, gate);
            const Lanes dgate = gradient * up * s * (1.0F + gate * (1.0F - s));
            const Lanes dup = gradient * gate * s;
            store(dgate, gate_row + i, part);
            store(dup, up_row + i, part);
        });
    }
}

#define POTLUCK_GATED_OF(Dtype)                                                                            \
    POTLUCK_VECTOR_CLONES void gated_of(const RowShape& s, const Dtype* x, Dtype* y) { forward(s, x, y); } \
    POTLUCK_VECTOR_CLONES void gated_backward_of(const RowShape& s, Dtype* x, const Dtype* dy) { backward(s, x, dy); }
POTLUCK_GATED_OF(float)
POTLUCK_GATED_OF(Bf16)

}  // namespace

template <class Dtype>
void gated_rows(const RowShape& shape, const Dtype* x, Dtype* y) {
    gated_of(shape, x, y);
}
template <class Dtype>
void gated_rows_backward(const RowShape& shape, Dtype* x, const Dtype* dy) {
    gated_backward_of(shape, x, dy);
}

template void gated_rows<float>(const RowShape&, const float*, float*);
template void gated_rows<Bf16>(const RowShape&, const Bf16*, Bf16*);
template void gated_rows_backward<float>(const RowShape&, float*, const float*);
template void gated_rows_backward<Bf16>(const RowShape&, Bf16*, const Bf16*);

}  // namespace potluck::training
