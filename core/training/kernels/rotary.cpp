#include "core/training/kernels/rotary.h"

#include <cmath>

#include "core/base/check.h"
#include "core/training/kernels/target_clones.h"

namespace potluck::training {

namespace {

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

POTLUCK_VECTOR_CLONES void rotate_of(const RowShape& s, const RotaryRows& rotary, float* x) { rotate(s, rotary, x); }
POTLUCK_VECTOR_CLONES void rotate_of(const RowShape& s, const RotaryRows& rotary, Bf16* x) { rotate(s, rotary, x); }

}  // namespace

RotaryTable rotary_table(std::int64_t time, std::int64_t depth, double theta) {
    const std::int64_t half = depth / 2;
    RotaryTable table;
    for (std::int64_t t = 0; t < time; ++t) {
        for (std::int64_t k = 0; k < half; ++k) {
            const double turns = std::pow(theta, -2.0 * static_cast<double>(k) / static_cast<double>(depth));
            // As transformers has it: frequency and angle are fp32.
            const float angle = static_cast<float>(t) * static_cast<float>(turns);
            table.cosines.push_back(std::cos(angle));
            table.sines.push_back(std::sin(angle));
        }
    }
    return table;
}

template <class Dtype>
void rotate_rows(const RowShape& shape, const RotaryRows& rotary, Dtype* x) {
    POTLUCK_CHECK(rotary.depth % 2 == 0 && rotary.heads * rotary.depth <= shape.width);
    rotate_of(shape, rotary, x);
}

template void rotate_rows<float>(const RowShape&, const RotaryRows&, float*);
template void rotate_rows<Bf16>(const RowShape&, const RotaryRows&, Bf16*);

}  // namespace potluck::training
