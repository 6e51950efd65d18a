// What a GPU holds of this process beside a model: CUDA's context, LibTorch's kernels, and memory of freed tensors that
// LibTorch keeps for the next ones.
//
// Does not: hold tensors; know what the computer's memory holds (core/device/memory.h).
// Threads: the one that owns the tensors.
#pragma once

#include <cstdint>
#include <optional>

#include "core/training/memory/layout.h"

namespace potluck::training {

/// Returns memory of freed tensors to the driver. LibTorch before 2.9 keeps it.
void release_freed_memory(const DeviceId& device);

/// Bytes that the driver counts for this process; nothing if it does not tell.
[[nodiscard]] std::optional<std::uint64_t> held_memory(const DeviceId& device);

}  // namespace potluck::training
