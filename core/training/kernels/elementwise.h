// What lies between the matrix products, on a processor: one pass over memory each, reading and writing the products'
// own precision (`Dtype` is float or Bf16) and computing in fp32. LibTorch would take two or three passes, one for
// each change of precision, and sum columns slowly. Results do not depend on how rows are cut among threads, but for
// the last bits of column sums.
// Threads: any, on separate rows and sums.
#pragma once

#include <cstdint>
#include <span>

#include "core/training/kernels/lanes.h"

namespace potluck::training {

/// Rows of `width` entries, one behind the other.
struct RowShape {
    std::int64_t rows = 0, width = 0;
    std::int64_t first = 0;  // number of the first row, for dropout
};

/// y = 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) (Hendrycks, Gimpel 2016); relative error about 1e-6.
template <class Dtype>
void gelu_tanh(std::span<const Dtype> x, std::span<Dtype> y);
template <class Dtype>
void relu(std::span<const Dtype> x, std::span<Dtype> y);

/// dx = dy * gelu_tanh'(x), in place of dy; `sums` (width) += column sums of dx.
template <class Dtype>
void gelu_tanh_backward(const RowShape& shape, const Dtype* x, Dtype* dy, float* sums);
template <class Dtype>
void relu_backward(const RowShape& shape, const Dtype* x, Dtype* dy, float* sums);

/// y = (x - mean) / sqrt(variance + epsilon) * gain + bias, over each row; keeps mean and 1/sqrt.
struct NormForward {
    const float *x, *gain, *bias;
    float *mean, *rstd;
    float epsilon;
};
template <class Dtype>
void norm_rows(const RowShape& shape, const NormForward& in, Dtype* y);

/// dx += gradient of the row's norm; dgain, dbias (width) += theirs.
struct NormBackward {
    const float *x, *gain, *mean, *rstd;
    float *dx, *dgain, *dbias;
};
template <class Dtype>
void norm_rows_backward(const RowShape& shape, const NormBackward& in, const Dtype* dy);

/// out = x + dropout(y). `out` may be `x`.
template <class Dtype>
void add_rows(const RowShape& shape, const float* x, const Dtype* y, float* out, const Dropout& dropout);
/// dy = dropout'(d), in the products' precision; `sums` (width) += column sums of it.
template <class Dtype>
void narrow_rows(const RowShape& shape, const float* d, Dtype* dy, float* sums, const Dropout& dropout);

/// `sums` (width) += column sums.
template <class Dtype>
void add_column_sums(const RowShape& shape, const Dtype* x, float* sums);

/// sum += x, rounded once to sum's precision.
template <class Sum, class Dtype>
void accumulate(std::span<Sum> sum, std::span<const Dtype> x);

/// Returns the sum over rows of logits (width: vocabulary) of -ln softmax(target). With a scale other than
/// zero the logits become scale * (softmax - onehot).
template <class Dtype>
double cross_entropy_rows(const RowShape& shape, Dtype* logits, const std::int64_t* targets, float scale,
                          std::span<float> scratch);

}  // namespace potluck::training
