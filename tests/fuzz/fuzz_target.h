// What every fuzz target defines, and how it says that something is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/bytes.h"
#include "core/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace potluck::fuzz {

inline ByteSpan input(const std::uint8_t* data, std::size_t size) { return std::as_bytes(std::span(data, size)); }

}  // namespace potluck::fuzz
