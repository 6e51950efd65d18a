// What the facts about a computer mean: which devices can train, and for each one that cannot, why and what to do.
// Pure; speeds are measured by others afterwards.
#pragma once

#include <string>

#include "core/control/trainer_protocol.h"
#include "core/device/facts.h"

namespace potluck::device {

inline constexpr std::uint64_t ram_min = 1ULL << 30U;         // free, to train anything
inline constexpr std::uint64_t gpu_memory_min = 1ULL << 30U;  // free; the driver's own part comes out of it, too
inline constexpr double emulated_below = 0.8;  // 16-bit products slower than this part of fp32's count as emulated

/// "AVX-512 BF16, AMX"; empty if there is nothing of note.
[[nodiscard]] std::string features_of(const SimdFacts& simd);

/// One row per processor and GPU, without speeds: the processor first. A usable row's reason is empty.
[[nodiscard]] control::DetectReply diagnose_devices(const ComputerFacts& facts);

/// Once speeds are in: says of each usable device whether it is used, and what its 16-bit formats are worth.
void explain_choice(control::DetectReply& reply);

/// TFLOP/s of the fastest precision; 0 if nothing was measured.
[[nodiscard]] double best_speed(const control::DeviceRow& device);

}  // namespace potluck::device
