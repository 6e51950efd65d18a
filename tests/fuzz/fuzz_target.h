// What every fuzz target defines, and how it says that something is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/bytes.h"
#include "core/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// A target may define these two as well. The first changes an input in place, to at most `size_max` bytes, and returns
// its new size, where changes of single bytes would hardly get past a parser; libFuzzer knows it, too. The second is
// asked after a replay: it prints how far the inputs came, and returns false if too few came far enough to be a test.
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                                                     std::size_t size_max, unsigned seed);
extern "C" __attribute__((weak)) bool potluck_fuzz_came_far_enough();

namespace potluck::fuzz {

inline ByteSpan input(const std::uint8_t* data, std::size_t size) { return std::as_bytes(std::span(data, size)); }

}  // namespace potluck::fuzz
