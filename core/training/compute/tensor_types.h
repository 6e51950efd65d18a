// LibTorch's scalar types and devices for ours. Only for files that name tensors.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include "core/training/memory/layout.h"

namespace potluck::training {

[[nodiscard]] inline at::ScalarType type_of(Dtype dtype) {
    return dtype == Dtype::fp32 ? at::kFloat : dtype == Dtype::bf16 ? at::kBFloat16 : at::kHalf;
}

[[nodiscard]] inline at::Device device_of(const DeviceId& id) {
    if (id.kind == DeviceKind::cpu) return at::kCPU;
    return {id.kind == DeviceKind::cuda ? at::kCUDA : at::kMPS, static_cast<at::DeviceIndex>(id.index)};
}

}  // namespace potluck::training
