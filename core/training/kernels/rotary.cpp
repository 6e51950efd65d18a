#include "core/training/kernels/rotary.h"

#include "core/base/check.h"
#include "core/training/kernels/per_isa.h"

namespace potluck::training {

namespace {

#define POTLUCK_KERNELS "core/training/kernels/rotary.inl"
#include "core/training/kernels/per_isa.inl"

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
    POTLUCK_DISPATCH(rotate_of, shape, rotary, x);
}

template void rotate_rows<float>(const RowShape&, const RotaryRows&, float*);
template void rotate_rows<Bf16>(const RowShape&, const RotaryRows&, Bf16*);

}  // namespace potluck::training
