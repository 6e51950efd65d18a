// The codec once more, as the format's document reads: sorted lists, single bits, no vectors, no threads. Kept to test
// the fast one against; nothing else calls it.
#pragma once

#include "core/numerics/codec/sparse_codec.h"

namespace potluck::numerics {

/// As `encode`.
[[nodiscard]] std::vector<std::byte> encode_plain(std::span<float> error, std::uint32_t k);

/// All decoded values of a payload that was parsed, zeros between them.
[[nodiscard]] std::vector<float> decode_plain(std::span<const std::byte> payload);

}  // namespace potluck::numerics
