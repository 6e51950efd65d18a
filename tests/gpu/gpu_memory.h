// How much of a GPU's memory a process holds, as NVIDIA's driver counts it: CUDA's context, LibTorch's kernels and what
// its allocator keeps included, which is what other programs lack.
//
// Threads: one. Owns: the opened library.
#pragma once

#include <cstdint>
#include <optional>

#include "core/device/nvml.h"
#include "core/device/probe.h"

namespace potluck::tests {

class GpuMemory {
public:
    /// Of the GPU with CUDA's `index`.
    explicit GpuMemory(std::uint32_t index) : m_gpu(m_nvml.at(device::nvidia_bus_place(index))) {}

    /// Nothing if the driver does not tell, or the process holds none.
    [[nodiscard]] std::optional<std::uint64_t> bytes_of(std::int64_t process) const {
        return m_nvml.memory_of(m_gpu, static_cast<std::uint64_t>(process));
    }

private:
    device::Nvml m_nvml;
    device::Nvml::Gpu m_gpu = nullptr;
};

}  // namespace potluck::tests
