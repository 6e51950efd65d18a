// The inner loop of SHA-256 (FIPS 180-4, section 6.2.2): whole 64-byte blocks into a state. Two paths with equal
// results: portable integer code, and the SHA instructions of x86 and ARM64 for one block stream or two side by side,
// which hides the latency of the round instruction when many equal-sized messages are hashed. Padding belongs to
// sha256.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace potluck::sha256_blocks {

using State = std::array<std::uint32_t, 8>;

inline constexpr State initial_state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/// True if this processor has the instructions of the fast path.
[[nodiscard]] bool has_instructions();

/// `count` blocks of 64 bytes at `blocks`, by the fastest path of this processor.
void compress(State& state, const std::byte* blocks, std::size_t count);
/// The same for two independent messages of equal length.
void compress_pair(State& state0, const std::byte* blocks0, State& state1, const std::byte* blocks1, std::size_t count);
/// The plain version, kept to test the fast one against and for processors without the instructions.
void compress_plain(State& state, const std::byte* blocks, std::size_t count);

}  // namespace potluck::sha256_blocks
