// SHA-256 (FIPS 180-4). Uses the processor's SHA extensions where it has them; states are gigabytes, and the portable
// code of general libraries is several times slower. Trees of it are in merkle.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/bytes.h"
#include "core/base/ids.h"

namespace potluck {

[[nodiscard]] Digest sha256(ByteSpan bytes);
/// The digests of two contents of one size, a multiple of 64 bytes: faster than one after the other.
[[nodiscard]] std::array<Digest, 2> sha256_pair(ByteSpan first, ByteSpan second);

/// Incremental SHA-256.
class Sha256 {
public:
    Sha256();
    void update(ByteSpan bytes);
    [[nodiscard]] Digest finish();

private:
    std::array<std::uint32_t, 8> m_state;
    std::array<std::byte, 64> m_block{};
    std::size_t m_filled = 0;
    std::uint64_t m_total = 0;
};

}  // namespace potluck
