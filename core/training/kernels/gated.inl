// The passes of gated.h for one instruction set (per_isa.inl).

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

template <class Dtype>
POTLUCK_TARGET void gated_of(const RowShape& shape, const Dtype* x, Dtype* y) {
    forward(shape, x, y);
}
template <class Dtype>
POTLUCK_TARGET void gated_backward_of(const RowShape& shape, Dtype* x, const Dtype* dy) {
    backward(shape, x, dy);
}
