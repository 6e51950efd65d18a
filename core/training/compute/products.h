// Products of matrices where a model computes. On a processor LibTorch multiplies fp32 with MKL, which uses half of
// each register on processors with AVX-512 that Intel did not make; oneDNN, which LibTorch has for convolutions and
// products in 16 bits, uses all of it and is twice as quick there. Only for files that name tensors.
//
// Threads: one at a time; within a call LibTorch's. Owns nothing.
#pragma once

#include <ATen/ATen.h>

#include "core/training/compute/device.h"

namespace potluck::training {

/// a b, plus bias in every row if there is one; of one type and device. Outside of autograd's graph.
[[nodiscard]] at::Tensor product(const at::Tensor& a_NK, const at::Tensor& b_KM, const at::Tensor& bias_M = {});

/// By one library, whichever is quicker; `onednn` only if `has_onednn`, and for fp32 on a processor.
[[nodiscard]] at::Tensor product_by(ProductLibrary library, const at::Tensor& a_NK, const at::Tensor& b_KM,
                                    const at::Tensor& bias_M = {});
[[nodiscard]] bool has_onednn();

/// sum += a b, of 16-bit numbers into fp32 in one product, where a GPU's LibTorch (2.9 or so) has it; else nothing is
/// done and it returns false.
[[nodiscard]] bool add_wide_product(const at::Tensor& sum_NM, const at::Tensor& a_NK, const at::Tensor& b_KM);

}  // namespace potluck::training
