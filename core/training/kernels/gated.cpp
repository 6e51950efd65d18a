#include "core/training/kernels/gated.h"

#include "core/training/kernels/per_isa.h"

namespace potluck::training {

namespace {

#define POTLUCK_KERNELS "core/training/kernels/gated.inl"
#include "core/training/kernels/per_isa.inl"

}  // namespace

template <class Dtype>
void gated_rows(const RowShape& shape, const Dtype* x, Dtype* y) {
    POTLUCK_DISPATCH(gated_of, shape, x, y);
}
template <class Dtype>
void gated_rows_backward(const RowShape& shape, Dtype* x, const Dtype* dy) {
    POTLUCK_DISPATCH(gated_backward_of, shape, x, dy);
}

template void gated_rows<float>(const RowShape&, const float*, float*);
template void gated_rows<Bf16>(const RowShape&, const Bf16*, Bf16*);
template void gated_rows_backward<float>(const RowShape&, float*, const float*);
template void gated_rows_backward<Bf16>(const RowShape&, Bf16*, const Bf16*);

}  // namespace potluck::training
