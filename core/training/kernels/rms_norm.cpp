#include "core/training/kernels/rms_norm.h"

#include "core/training/kernels/per_isa.h"

namespace potluck::training {

namespace {

#define POTLUCK_KERNELS "core/training/kernels/rms_norm.inl"
#include "core/training/kernels/per_isa.inl"

}  // namespace

template <class Dtype>
void rms_rows(const RowShape& shape, const RmsForward& in, Dtype* y) {
    POTLUCK_DISPATCH(rms_of, shape, in, y);
}
template <class Dtype>
void rms_rows_backward(const RowShape& shape, const RmsBackward& in, const Dtype* dy) {
    POTLUCK_DISPATCH(rms_backward_of, shape, in, dy);
}

template void rms_rows<float>(const RowShape&, const RmsForward&, float*);
template void rms_rows<Bf16>(const RowShape&, const RmsForward&, Bf16*);
template void rms_rows_backward<float>(const RowShape&, const RmsBackward&, const float*);
template void rms_rows_backward<Bf16>(const RowShape&, const RmsBackward&, const Bf16*);

}  // namespace potluck::training
