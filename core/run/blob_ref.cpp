#include "core/run/blob_ref.h"

namespace potluck::run {

void BlobRef::write(ByteWriter& out) const { wire::write(out, *this); }

BlobRef BlobRef::read(ByteReader& in) {
    const auto blob = wire::read<BlobRef>(in);
    return in.failed() ? BlobRef{} : blob;
}

}  // namespace potluck::run
