// Encoding with a chosen set of instructions; `encode` of sparse_codec.h uses the best one. For tests and benchmarks.
#pragma once

#include "core/numerics/codec/sparse_codec.h"
#include "core/numerics/cpu_dispatch.h"

namespace potluck::numerics {

[[nodiscard]] std::vector<std::byte> encode_with(Isa isa, std::span<float> error, std::uint32_t k, unsigned threads);

}  // namespace potluck::numerics
