#include "core/run/blob_ref.h"

namespace potluck::run {

void BlobRef::write(ByteWriter& out) const {
    out.raw(root.bytes);
    out.u64(size);
    out.u8(static_cast<std::uint8_t>(kind));
    out.raw(info_hash.bytes);
}

BlobRef BlobRef::read(ByteReader& in) {
    BlobRef blob;
    in.array(blob.root.bytes);
    blob.size = in.u64();
    const std::uint8_t kind = in.u8();
    in.array(blob.info_hash.bytes);
    if (blob.size == 0 || blob.size > blob_bytes_max) in.fail();
    if (kind > static_cast<std::uint8_t>(BlobKind::open)) in.fail();
    if (in.failed()) return {};
    blob.kind = static_cast<BlobKind>(kind);
    const bool derived = blob.kind == BlobKind::plain;
    if (blob.info_hash.is_zero() != derived) {
        in.fail();
        return {};
    }
    return blob;
}

}  // namespace potluck::run
