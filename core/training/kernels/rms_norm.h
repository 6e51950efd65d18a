// Root-mean-square norms of rows on a processor, forward and backward: one or two passes over each row, computing in
// fp32 and writing the products' own precision (`Dtype` is float or Bf16).
//
//   y = x / sqrt(mean(x^2) + epsilon) * gain                                   (Zhang, Sennrich 2019)
//
// Does not: subtract a mean or add a bias, which is the layer norm of elementwise.h.
// Threads: any, on separate rows and sums.
#pragma once

#include "core/training/kernels/elementwise.h"

namespace potluck::training {

/// Keeps 1/sqrt of each row for the backward pass.
struct RmsForward {
    const float *x, *gain;
    float* rstd;
    float epsilon;
};
template <class Dtype>
void rms_rows(const RowShape& shape, const RmsForward& in, Dtype* y);

/// dx += gradient of the row's norm; dgain (width) += its own.
struct RmsBackward {
    const float *x, *gain, *rstd;
    float *dx, *dgain;
};
template <class Dtype>
void rms_rows_backward(const RowShape& shape, const RmsBackward& in, const Dtype* dy);

}  // namespace potluck::training
