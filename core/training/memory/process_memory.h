// Memory of this process as the operating system counts it.
#pragma once

#include <cstdint>

namespace potluck::training {

/// Bytes in the computer's memory at this moment, shared libraries included; zero if unknown.
[[nodiscard]] std::uint64_t resident_bytes();

}  // namespace potluck::training
