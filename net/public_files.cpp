#include "net/public_files.h"

#include <utility>

#include "core/base/check.h"
#include "core/base/sha256.h"

namespace potluck::net {

RunId PublicFiles::run() { return RunId{sha256(as_bytes("potluck: files of no run")).bytes}; }

void PublicFiles::share() {
    m_owner.check();
    if (std::exchange(m_shared, true)) return;
    m_blobs.restore(run());
}

void PublicFiles::fetch(PublicFile file, FileDone done) {
    m_owner.check();
    POTLUCK_CHECK(file.ref.kind == run::BlobKind::open);
    share();
    m_waiting[file.ref.root] = std::move(done);
    m_blobs.fetch(run(), file.ref, {}, {}, {std::move(file.torrent), std::move(file.web_seeds)});
}

void PublicFiles::forget(const BlobId& root) {
    m_owner.check();
    m_waiting.erase(root);
    m_blobs.forget(run(), root);
}

void PublicFiles::on_blob(const run::BlobRef& blob, peer::BlobPointer content) {
    m_owner.check();
    if (!content) {
        finish(blob.root, Error{ErrorCode::io, "A file that was downloaded cannot be read; check the disk."});
        return;
    }
    finish(blob.root, content->path());
}

void PublicFiles::on_blob_failed(const BlobId& blob, Error error) {
    m_owner.check();
    finish(blob, std::move(error));
}

void PublicFiles::finish(const BlobId& root, Result<std::filesystem::path> outcome) {
    const auto waiting = m_waiting.extract(root);
    if (!waiting.empty()) waiting.mapped()(std::move(outcome));
}

}  // namespace potluck::net
