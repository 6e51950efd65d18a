// SHA-256 (FIPS 180-4) and the BitTorrent v2 file root (BEP 52): a binary Merkle tree over the SHA-256 of 16 KiB
// blocks. Uses the processor's SHA extensions where it has them; states are gigabytes, and the portable code of
// general libraries is several times slower.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"

namespace potluck {

inline constexpr std::size_t merkle_block_size = 16 * 1024;

[[nodiscard]] Digest sha256(ByteSpan bytes);

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

/// Root of the v2 Merkle tree of a file's content: leaves are SHA-256 of 16 KiB blocks (the last one shorter, not
/// padded), missing leaves up to the next power of two are zero. An empty file has the zero id.
/// `threads` >= 1 workers share the leaves; the result does not depend on it.
[[nodiscard]] BlobId merkle_root(ByteSpan content, unsigned threads = 1);

/// The layer of that tree in which one hash covers `piece_size` bytes (a power-of-two multiple of 16 KiB): one hash
/// per piece of the file, the last one padded with zero leaves. Empty if the file is not larger than one piece.
[[nodiscard]] std::vector<Digest> merkle_layer(ByteSpan content, std::size_t piece_size, unsigned threads = 1);

}  // namespace potluck
