// What one peer needs to fetch a blob from others: enough to name it, bound it and check it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/wire/fields.h"

namespace potluck::run {

/// `plain` is a v2-only torrent whose info dictionary follows from (root, size) alone, so it needs no metadata round
/// trip; `open` is a hybrid (v1 + v2) torrent with a name of its own, which any BitTorrent client can fetch and seed.
enum class BlobKind : std::uint8_t { plain = 0, open = 1 };

inline constexpr std::uint64_t blob_bytes_max = 1ULL << 40U;  // 1 TiB

struct BlobRef {
    BlobId root;
    std::uint64_t size = 0;
    BlobKind kind = BlobKind::plain;
    Digest info_hash;  // of `plain` it follows from root and size
    auto operator<=>(const BlobRef&) const = default;

    static constexpr std::string_view label = "blob reference";
    static void fields(auto& it, auto&& field) {
        field("root", it.root, wire::Id{}, "Merkle root of the content");
        field("size", it.size, wire::Whole{1, blob_bytes_max}, "bytes of the content");
        field("kind", it.kind, wire::OneOf{BlobKind::plain, BlobKind::open}, "0 plain, 1 open");
        field("info-hash", it.info_hash, wire::Id{}, "zero if plain, else not");
        field.require(it.info_hash.is_zero() == (it.kind == BlobKind::plain));
    }

    /// 73 bytes.
    void write(ByteWriter& out) const;
    /// Fails the reader if size or kind is out of range, or info_hash does not fit the kind.
    [[nodiscard]] static BlobRef read(ByteReader& in);
};

/// A field that names a plain blob.
struct PlainBlob {
    void write(ByteWriter& out, const BlobRef& blob) const { blob.write(out); }
    void read(ByteReader& in, BlobRef& blob) const {
        blob = BlobRef::read(in);
        if (blob.kind != BlobKind::plain) in.fail();
    }
    template <class Value>
    [[nodiscard]] std::string type() const {
        return "blob reference (plain)";
    }
};

}  // namespace potluck::run
