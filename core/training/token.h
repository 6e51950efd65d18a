// A token as it lies in a shard.
#pragma once

#include <cstdint>

namespace potluck::training {

using Token = std::uint16_t;

}  // namespace potluck::training
