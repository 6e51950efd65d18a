// Asks the operating system and the graphics drivers what there is. Judges nothing (diagnosis.h). Drivers are asked
// through their own libraries, opened at run time, so that a GPU is seen and explained even where nothing of ours could
// use it. A driver may crash or hang: call this in a process that nobody will miss.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/processor/isa.h"
#include "core/device/facts.h"
#include "core/device/memory.h"

namespace potluck::device {

[[nodiscard]] ProcessorFacts probe_processor();
[[nodiscard]] SimdFacts probe_simd();
/// Without what programs that keep to `isa` leave unused.
[[nodiscard]] SimdFacts within(SimdFacts facts, Isa isa);

/// NVIDIA: libcuda for what there is, NVML for the driver's version and what memory is free, without taking any.
[[nodiscard]] NvidiaFacts probe_nvidia();
/// Where on the PCI bus the GPU with CUDA's `index` is, as NVML names it; empty: unknown.
[[nodiscard]] std::string nvidia_bus_place(std::uint32_t index);

/// What this process holds of the memory of the GPU with CUDA's `index`, CUDA's own included; nothing if unknown.
[[nodiscard]] std::optional<std::uint64_t> own_nvidia_memory(std::uint32_t index);

/// Graphics processors by what Linux tells of the bus; empty on other systems.
[[nodiscard]] std::vector<BusGpu> probe_bus();

/// Cores and name from the text of Linux's /proc/cpuinfo.
[[nodiscard]] ProcessorFacts parse_cpuinfo(const std::string& text);

}  // namespace potluck::device
