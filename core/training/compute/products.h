// Products of matrices where a model computes. On a processor LibTorch multiplies fp32 with MKL, which keeps to narrow
// instructions on processors of other makes than its maker's; oneDNN, which LibTorch carries for convolutions and
// 16-bit products, takes what there is. Which of the two is quicker is measured once per process, and MKL stays where
// that is close. Only for files that name tensors.
//
// Threads: one at a time; within a call LibTorch's. Owns nothing.
#pragma once

#include <ATen/ATen.h>

namespace potluck::training {

/// a b, plus bias in every row if there is one; of one type and device. Outside of autograd's graph.
[[nodiscard]] at::Tensor product(const at::Tensor& a_NK, const at::Tensor& b_KM, const at::Tensor& bias_M = {});

enum class ProductLibrary { torch, onednn };
/// Of fp32 products on this processor; measures it when first asked, with the threads then set.
[[nodiscard]] ProductLibrary product_library();
/// One library's, whichever is quicker; `onednn` only if `has_onednn`, and for fp32 on a processor.
[[nodiscard]] at::Tensor product_by(ProductLibrary library, const at::Tensor& a_NK, const at::Tensor& b_KM,
                                    const at::Tensor& bias_M = {});
[[nodiscard]] bool has_onednn();

}  // namespace potluck::training
