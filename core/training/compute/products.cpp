#include "core/training/compute/products.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>

#include "core/base/check.h"
#include "core/device/probe.h"

namespace potluck::training {

namespace {

using at::Tensor;

/// What LibTorch's compiler calls for a linear layer: input (N, K), weights (M, K), bias (M).
using LinearOp = Tensor(const Tensor&, const Tensor&, const std::optional<Tensor>&, std::string_view,
                        c10::List<std::optional<at::Scalar>>, std::optional<std::string_view>);

const std::optional<c10::TypedOperatorHandle<LinearOp>>& linear_op() {
    static const auto found = []() -> std::optional<c10::TypedOperatorHandle<LinearOp>> {
        if (!at::globalContext().hasMKLDNN()) return std::nullopt;
        const auto op = c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
        if (!op || !op->hasKernelForDispatchKey(c10::DispatchKey::CPU)) return std::nullopt;
        return op->typed<LinearOp>();
    }();
    return found;
}

/// aten::addmm.dtype_out: sum, a, b, the sum's type, beta, alpha, the result.
using WideOp = Tensor&(const Tensor&, const Tensor&, const Tensor&, at::ScalarType, const at::Scalar&,
                       const at::Scalar&, Tensor&);

const std::optional<c10::TypedOperatorHandle<WideOp>>& wide_op() {
    static const auto found = []() -> std::optional<c10::TypedOperatorHandle<WideOp>> {
        const auto op = c10::Dispatcher::singleton().findSchema({"aten::addmm", "dtype_out"});
        const bool on_gpu = op && op->hasKernelForDispatchKey(c10::DispatchKey::CUDA);
        if (!on_gpu || at::globalContext().hasROCM()) return std::nullopt;  // not tried on AMD's
        return op->typed<WideOp>();
    }();
    return found;
}

bool is_for_onednn(const Tensor& a_NK, const Tensor& b_KM) {
    return a_NK.scalar_type() == at::kFloat && a_NK.is_cpu() && a_NK.numel() > 0 && b_KM.numel() > 0;
}

ProductLibrary& chosen_library() {
    static ProductLibrary chosen = product_library_for(device::probe_simd(), has_onednn());
    return chosen;
}

}  // namespace

bool has_wide_sums() { return wide_op().has_value(); }

bool has_onednn() { return linear_op().has_value(); }

ProductLibrary product_library_for(const device::SimdFacts& simd, bool onednn) {
    return onednn && simd.avx512 && !simd.intel ? ProductLibrary::onednn : ProductLibrary::torch;
}

ProductLibrary product_library() { return chosen_library(); }

void use_product_library(ProductLibrary library) {
    POTLUCK_CHECK(library == ProductLibrary::torch || has_onednn());
    chosen_library() = library;
}

Tensor product_by(ProductLibrary library, const Tensor& a_NK, const Tensor& b_KM, const Tensor& bias_M) {
    if (library == ProductLibrary::torch) return bias_M.defined() ? at::addmm(bias_M, a_NK, b_KM) : at::mm(a_NK, b_KM);
    POTLUCK_CHECK(is_for_onednn(a_NK, b_KM));
    const std::optional<Tensor> bias = bias_M.defined() ? std::optional(bias_M) : std::nullopt;
    return linear_op()->call(a_NK, b_KM.t(), bias, "none", c10::List<std::optional<at::Scalar>>(), std::nullopt);
}

bool add_wide_product(const Tensor& sum_NM, const Tensor& a_NK, const Tensor& b_KM) {
    const bool fits = sum_NM.is_cuda() && sum_NM.scalar_type() == at::kFloat && a_NK.scalar_type() != at::kFloat;
    if (!fits || !wide_op()) return false;
    Tensor sum = sum_NM;
    wide_op()->call(sum, a_NK, b_KM, at::kFloat, 1, 1, sum);
    return true;
}

Tensor product(const Tensor& a_NK, const Tensor& b_KM, const Tensor& bias_M) {
    const bool asked = is_for_onednn(a_NK, b_KM);
    return product_by(asked ? product_library() : ProductLibrary::torch, a_NK, b_KM, bias_M);
}

}  // namespace potluck::training
