// Sums of tensors that need little memory at work. Only for files that name tensors.
//
// Threads: functions of values.
#pragma once

#include <ATen/core/Tensor.h>

namespace potluck::training {

/// target += sums, two flat tensors of the same size, of any type and device. In pieces, because LibTorch first
/// converts what it adds as a whole where the two are of different types.
void add_in_pieces(const at::Tensor& target, const at::Tensor& sums);

}  // namespace potluck::training
