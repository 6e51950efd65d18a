#include "core/training/compute/device_memory.h"

#include <c10/core/Allocator.h>
#include <torch/csrc/api/include/torch/version.h>

#include "core/device/probe.h"
#include "core/training/compute/tensor_guard.h"
#include "core/training/compute/tensor_types.h"

#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 9
#include <c10/core/CachingDeviceAllocator.h>
#define POTLUCK_TORCH_RELEASES 1
#endif

namespace potluck::training {

void release_freed_memory([[maybe_unused]] const DeviceId& device) {
#ifdef POTLUCK_TORCH_RELEASES
    if (device.kind == DeviceKind::cpu) return;
    // What cannot be returned is not lost, only kept.
    (void)guarded([&]() -> Status {
        auto* const allocator = dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(device_of(device).type()));
        if (allocator != nullptr && allocator->initialized()) allocator->emptyCache();
        return {};
    });
#endif
}

std::optional<std::uint64_t> held_memory(const DeviceId& device) {
    return device.kind == DeviceKind::cuda ? device::own_nvidia_memory(device.index) : std::nullopt;
}

}  // namespace potluck::training
