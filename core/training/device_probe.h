// Asks the operating system and the graphics drivers what there is. Judges nothing (device_judge.h). Drivers are asked
// through their own libraries, opened at run time, so that a GPU is seen and explained even where nothing of ours could
// use it. A driver may crash or hang: call this in a process that nobody will miss.
#pragma once

#include "core/training/device_facts.h"
#include "core/training/device_memory.h"

namespace potluck::training {

[[nodiscard]] ProcessorFacts probe_processor();
[[nodiscard]] SimdFacts probe_simd();

/// NVIDIA: libcuda for what there is, NVML for the driver's version and what memory is free, without taking any.
[[nodiscard]] NvidiaFacts probe_nvidia();

/// Graphics processors by what Linux tells of the bus; empty on other systems.
[[nodiscard]] std::vector<BusGpu> probe_bus();

/// Cores and name from the text of Linux's /proc/cpuinfo.
[[nodiscard]] ProcessorFacts parse_cpuinfo(const std::string& text);

}  // namespace potluck::training
