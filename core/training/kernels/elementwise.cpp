#include "core/training/kernels/elementwise.h"

#include "core/base/check.h"
#include "core/training/kernels/per_isa.h"

namespace potluck::training {

namespace {

#define POTLUCK_KERNELS "core/training/kernels/elementwise.inl"
#include "core/training/kernels/per_isa.inl"

std::int64_t signed_size(std::size_t size) { return static_cast<std::int64_t>(size); }

}  // namespace

template <class Dtype>
void gelu_tanh(std::span<const Dtype> x, std::span<Dtype> y) {
    POTLUCK_CHECK(x.size() == y.size());
    POTLUCK_DISPATCH(gelu_of, signed_size(x.size()), x.data(), y.data());
}
template <class Dtype>
void relu(std::span<const Dtype> x, std::span<Dtype> y) {
    POTLUCK_CHECK(x.size() == y.size());
    POTLUCK_DISPATCH(relu_of, signed_size(x.size()), x.data(), y.data());
}
template <class Dtype>
void gelu_tanh_backward(const RowShape& shape, const Dtype* x, Dtype* dy, float* sums) {
    POTLUCK_DISPATCH(gelu_backward_of, shape, x, dy, sums);
}
template <class Dtype>
void relu_backward(const RowShape& shape, const Dtype* x, Dtype* dy, float* sums) {
    POTLUCK_DISPATCH(relu_backward_of, shape, x, dy, sums);
}
template <class Dtype>
void norm_rows(const RowShape& shape, const NormForward& in, Dtype* y) {
    POTLUCK_DISPATCH(norm_of, shape, in, y);
}
template <class Dtype>
void norm_rows_backward(const RowShape& shape, const NormBackward& in, const Dtype* dy) {
    POTLUCK_DISPATCH(norm_backward_of, shape, in, dy);
}
template <class Dtype>
void add_rows(const RowShape& shape, const float* x, const Dtype* y, float* out, const Dropout& dropout) {
    POTLUCK_DISPATCH(add_of, shape, x, y, out, dropout);
}
template <class Dtype>
void narrow_rows(const RowShape& shape, const float* d, Dtype* dy, float* sums, const Dropout& dropout) {
    POTLUCK_DISPATCH(narrow_of, shape, d, dy, sums, dropout);
}
template <class Dtype>
void add_column_sums(const RowShape& shape, const Dtype* x, float* sums) {
    POTLUCK_DISPATCH(columns_of, shape, x, sums);
}
template <class Sum, class Dtype>
void accumulate(std::span<Sum> sum, std::span<const Dtype> x) {
    POTLUCK_CHECK(sum.size() == x.size());
    POTLUCK_DISPATCH(accumulate_of, signed_size(x.size()), sum.data(), x.data());
}
template <class Dtype>
double cross_entropy_rows(const RowShape& shape, Dtype* logits, const std::int64_t* targets, float scale,
                          std::span<float> scratch) {
    POTLUCK_CHECK(signed_size(scratch.size()) >= shape.width);
    return POTLUCK_DISPATCH(loss_of, shape, logits, targets, scale, scratch.data());
}

#define POTLUCK_INSTANTIATE(Dtype)                                                                      \
    template void gelu_tanh<Dtype>(std::span<const Dtype>, std::span<Dtype>);                           \
    template void relu<Dtype>(std::span<const Dtype>, std::span<Dtype>);                                \
    template void gelu_tanh_backward<Dtype>(const RowShape&, const Dtype*, Dtype*, float*);             \
    template void relu_backward<Dtype>(const RowShape&, const Dtype*, Dtype*, float*);                  \
    template void norm_rows<Dtype>(const RowShape&, const NormForward&, Dtype*);                        \
    template void norm_rows_backward<Dtype>(const RowShape&, const NormBackward&, const Dtype*);        \
    template void add_rows<Dtype>(const RowShape&, const float*, const Dtype*, float*, const Dropout&); \
    template void narrow_rows<Dtype>(const RowShape&, const float*, Dtype*, float*, const Dropout&);    \
    template void add_column_sums<Dtype>(const RowShape&, const Dtype*, float*);                        \
    template void accumulate<float, Dtype>(std::span<float>, std::span<const Dtype>);                   \
    template void accumulate<Bf16, Dtype>(std::span<Bf16>, std::span<const Dtype>);                     \
    template double cross_entropy_rows<Dtype>(const RowShape&, Dtype*, const std::int64_t*, float, std::span<float>);
POTLUCK_INSTANTIATE(float)
POTLUCK_INSTANTIATE(Bf16)

}  // namespace potluck::training
