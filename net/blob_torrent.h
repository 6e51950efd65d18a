// Blobs as torrents: info dictionaries that both ends build byte for byte alike, and the piece layers that prove them.
//
//   plain     v2-only, named "blob"; a function of (root, size)
//   manifest  v2-only, named "manifest.potluck"; a function of (root, size), its info-hash is the RunId
//   open      v1 + v2 with a name and SHA-1 pieces; a function of (content, name)
//
// No creation date, no creator, no tracker: nothing of the computer it is made on.
// Threads: functions of values.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/run/blob_ref.h"

namespace potluck::net {

using Sha1 = std::array<std::byte, 20>;

/// A bencoded info dictionary and the v2 info-hash that follows from it.
struct InfoDict {
    Bytes bytes;
    Digest info_hash;
};

[[nodiscard]] InfoDict plain_info(const BlobId& root, std::uint64_t size);
[[nodiscard]] InfoDict manifest_info(const BlobId& root, std::uint64_t size);
/// The run that a file of a manifest describes: its info-hash. The host's signature is not checked.
[[nodiscard]] RunId run_of_manifest(ByteSpan file);
/// `pieces`: SHA-1 of each piece. `name` is made harmless by harmless_name.
[[nodiscard]] InfoDict open_info(std::string_view name, const BlobId& root, std::uint64_t size,
                                 std::span<const Sha1> pieces);

/// `name` without path separators, control bytes or a leading dot, at most 120 bytes, never empty.
[[nodiscard]] std::string harmless_name(std::string_view name);

/// A complete .torrent: the info dictionary and, for more than one piece, the layer (may be empty: not known).
[[nodiscard]] Bytes torrent_file(ByteSpan info, const BlobId& root, std::span<const Digest> layer);

/// The v1 info-hash of an open blob, by which most clients know it.
[[nodiscard]] Sha1 v1_hash(ByteSpan info);

/// Everything that hashing a content yields.
struct ContentHashes {
    BlobId root;
    std::vector<Digest> layer;  // empty for one piece
    std::vector<Sha1> pieces;   // only for open blobs
};
/// Hashes `content` (not empty) in slices; `cancelled` if `stop` asks for it between two of them.
[[nodiscard]] Result<ContentHashes> hash_content(ByteSpan content, run::BlobKind kind, const std::stop_token& stop);

/// Root of a file of `size` bytes whose piece layer is `layer`; zero if the number of hashes does not fit the size.
[[nodiscard]] BlobId root_of_layer(std::span<const Digest> layer, std::uint64_t size);

}  // namespace potluck::net
