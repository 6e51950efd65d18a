#include "core/training/kernels/shifted_rows.h"

#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/training/kernels/per_isa.h"

namespace potluck::training {

namespace {

#define POTLUCK_KERNELS "core/training/kernels/shifted_rows.inl"
#include "core/training/kernels/per_isa.inl"

}  // namespace

void shifted_norm_rows(const RowShape& shape, const NormForward& in, const Shift& shift, float* y) {
    POTLUCK_CHECK(shape.width % shift_parts == 0);
    POTLUCK_DISPATCH(shifted_of, shape, in, shift, y);
}
void shifted_norm_rows_backward(const RowShape& shape, const NormBackward& in, const Shift& shift, const float* dy) {
    POTLUCK_CHECK(shape.width % shift_parts == 0);
    const std::vector<float> nothing(static_cast<std::size_t>(shape.width / shift_parts));
    POTLUCK_DISPATCH(shifted_backward_of, shape, in, shift, dy, nothing.data());
}
void gelu_gated_rows(const RowShape& shape, const float* x, float* y) { POTLUCK_DISPATCH(gate_of, shape, x, y); }
void gelu_gated_rows_backward(const RowShape& shape, float* x, const float* dy, float* sums) {
    POTLUCK_DISPATCH(gate_backward_of, shape, x, dy, sums);
}
void scaled_rows_backward(const RowShape& shape, const ScaledBackward& in) { POTLUCK_DISPATCH(scaled_of, shape, in); }
void turn_pairs(const RowShape& shape, const PairTurn& turn, float* x) {
    POTLUCK_CHECK(shape.width % turn.depth == 0);
    POTLUCK_DISPATCH(turned_of, shape, turn, x);
}

}  // namespace potluck::training
