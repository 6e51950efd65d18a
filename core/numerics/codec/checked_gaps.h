// Where a stranger's gaps lead, before anything is read by them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/numerics/codec/payload_layout.h"

namespace potluck::numerics {

/// Every index inside its chunk, the stream as long as the group says, and nothing but zero bits behind it.
[[nodiscard]] PayloadFault check_gaps(std::span<const std::byte> gaps, std::uint8_t code,
                                      const layout::GroupShape& shape, std::uint32_t k);

}  // namespace potluck::numerics
