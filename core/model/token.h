// A token as it lies in a shard.
#pragma once

#include <cstdint>

namespace potluck::model {

using Token = std::uint16_t;

}  // namespace potluck::model
