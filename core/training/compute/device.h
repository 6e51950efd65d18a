// What this computer trains on: threads, names for people, and whether 16-bit matrix products are quicker here. Some
// processors have them in hardware and some emulate them slowly, so that only a measurement tells.
// Threads: one.
#pragma once

#include <cstdint>
#include <string>

#include "core/device/facts.h"
#include "core/device/measured_speed.h"
#include "core/model/model_spec.h"
#include "core/training/memory/layout.h"

namespace potluck::training {

/// Sets the number of threads of LibTorch's pool for this process; 0 leaves its choice. Returns the number in force.
unsigned use_threads(std::uint32_t threads);

/// Kept: freed memory stays in the process, because a step frees and takes the same megabytes again, and the pages that
/// the system clears for it each time cost a tenth of a small model's step. Returned: it goes back at once, because
/// what lies unused between two blocks in use is a tenth of a tight plan. Call `kept` before the first tensor.
enum class FreedMemory { kept, returned };
void treat_freed_memory(FreedMemory treatment);

[[nodiscard]] std::string torch_version();

/// LibTorch, oneDNN and MKL choose their own instruction sets; this keeps them to the one in use
/// (core/base/processor/isa.h), by environment variables that they read when they first compute. Ones that are set
/// already stay. Call before the first tensor.
void limit_libraries();
/// What LibTorch's own kernels use, by its word: "AVX2".
[[nodiscard]] std::string torch_capability();

/// Which library multiplies matrices of fp32 on this processor (products.h).
enum class ProductLibrary { torch, onednn };
[[nodiscard]] ProductLibrary product_library();
/// Whether LibTorch adds 16-bit products to fp32 on an NVIDIA GPU as it makes them; open_backend() first.
[[nodiscard]] bool has_wide_sums();
/// The rule: what is quicker on such a processor, of what LibTorch has.
[[nodiscard]] ProductLibrary product_library_for(const device::SimdFacts& simd, bool onednn);
/// Another one than the rule's, for those who compare; before the first product, and only what there is.
void use_product_library(ProductLibrary library);

/// The precision in which the model's largest product is quicker by at least a fourth, by what it is on a computer with
/// nothing else to do. Takes two tenths of a second at most on a quiet one.
[[nodiscard]] Dtype fastest_precision(const model::ModelSpec& spec);

/// Floating-point operations of that product in a second on all threads; zero if it fails.
[[nodiscard]] device::MeasuredSpeed model_product_speed(const model::ModelSpec& spec, Dtype precision);

/// Memory that can be had without swapping, within the limit of a container; zero if unknown.
[[nodiscard]] std::uint64_t available_bytes();

}  // namespace potluck::training
