// The turn of rotary.h for one instruction set (per_isa.inl).

template <class Dtype>
POTLUCK_INLINE void rotate(const RowShape& shape, const RotaryRows& rotary, Dtype* x) {
    const std::int64_t half = rotary.depth / 2;
    const float sign = rotary.turn == Turn::forward ? 1.0F : -1.0F;
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        const std::int64_t angles = (shape.first + row) % rotary.time * half;
        for (std::int64_t head = 0; head < rotary.heads; ++head) {
            Dtype* first = x + row * shape.width + head * rotary.depth;
            Dtype* second = first + half;
            for_each_lane_block(half, [&](std::int64_t i, auto part) POTLUCK_INLINE_LAMBDA {
                Lanes x1, x2, cosine, sine;
                load(x1, first + i, part);
                load(x2, second + i, part);
                load(cosine, rotary.cosines + angles + i, part);
                load(sine, rotary.sines + angles + i, part);
                sine *= sign;
                const Lanes y1 = x1 * cosine - x2 * sine;
                const Lanes y2 = x2 * cosine + x1 * sine;
                store(y1, first + i, part);
                store(y2, second + i, part);
            });
        }
    }
}

template <class Dtype>
POTLUCK_TARGET void rotate_of(const RowShape& shape, const RotaryRows& rotary, Dtype* x) {
    rotate(shape, rotary, x);
}
