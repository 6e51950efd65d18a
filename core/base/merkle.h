// The BitTorrent v2 file tree (BEP 52): a binary Merkle tree over the SHA-256 of 16 KiB blocks, the last one shorter
// and not padded; missing leaves up to the next power of two are zero. Its root names a blob and a state; the layer in
// which one hash covers a piece of the file says which pieces of a damaged copy differ.
//
//   root                          merkle_root, merkle_root_of_layer
//    +-- piece   +-- piece        merkle_layer: one hash per piece, the last one lifted to a whole piece's height
//         +-- leaf, leaf           SHA-256 of a block each; zero where the file has none
//
// Threads: functions of values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"

namespace potluck {

inline constexpr std::size_t merkle_block_size = 16 * 1024;

/// The node above two nodes: SHA-256 of both.
[[nodiscard]] Digest merkle_parent(const Digest& left, const Digest& right);

/// Root of a content's tree; zero for an empty one. `threads` >= 1 workers share the leaves, whatever their number.
[[nodiscard]] BlobId merkle_root(ByteSpan content, unsigned threads = 1);

/// One hash per piece of `piece_size` bytes (a power-of-two multiple of 16 KiB). Empty if the content is not larger
/// than one piece.
[[nodiscard]] std::vector<Digest> merkle_layer(ByteSpan content, std::size_t piece_size, unsigned threads = 1);

/// Hash of a last piece that its content fills only in part, in a file of more than one piece: `root` is the root of
/// these `size` bytes alone.
[[nodiscard]] Digest merkle_last_piece(const BlobId& root, std::uint64_t size, std::uint64_t piece_size);

/// Root of a file of `size` bytes whose layer for `piece_size` is `layer`; zero if the number of hashes does not fit
/// the size, as for a file of one piece, which has no layer.
[[nodiscard]] BlobId merkle_root_of_layer(std::span<const Digest> layer, std::uint64_t size, std::uint64_t piece_size);

}  // namespace potluck
