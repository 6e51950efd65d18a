// The gated activation of Llama's MLP on a processor, one pass over memory each way, in fp32 between loads and stores
// (`Dtype` is float or Bf16).
//
//   y = silu(gate) * up,   silu(g) = g / (1 + e^-g)                            (Shazeer 2020, SwiGLU)
//
// Threads: any, on separate rows.
#pragma once

#include "core/training/kernels/elementwise.h"

namespace potluck::training {

/// A row of x holds `width` gates, then `width` values of up; a row of y has `width` entries.
template <class Dtype>
void gated_rows(const RowShape& shape, const Dtype* x, Dtype* y);

/// x becomes its own gradient, from that of y.
template <class Dtype>
void gated_rows_backward(const RowShape& shape, Dtype* x, const Dtype* dy);

}  // namespace potluck::training
