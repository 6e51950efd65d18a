// Files that belong to no run, as blobs of a run that does not exist: so they share the quota, the resuming, the
// checking and the index of all other blobs, and any BitTorrent client can fetch and seed them.
//
// Does not: know what is in a file, nor whom to believe about it.
// Threads: the node's.
#pragma once

#include <map>

#include "core/base/thread_owner.h"
#include "core/peer/seams/swarm.h"
#include "net/blobs.h"
#include "net/session.h"

namespace potluck::net {

class PublicFiles final : public peer::SwarmEvents {
public:
    explicit PublicFiles(Blobs& blobs) : m_blobs(blobs) {}

    /// The run that they are blobs of; no manifest hashes to this id.
    [[nodiscard]] static RunId run();
    void fetch(PublicFile file, FileDone done);
    void share();
    void forget(const BlobId& root);
    [[nodiscard]] double progress(const BlobId& root) const { return m_blobs.reception(root).progress; }

    void on_blob(const run::BlobRef& blob, peer::BlobPointer content) override;
    void on_blob_failed(const BlobId& blob, Error error) override;
    void on_neighbour(const PeerId&) override {}
    void on_neighbour_lost(const PeerId&) override {}
    void on_envelope(const PeerId&, run::Envelope) override {}
    void on_published(const std::filesystem::path&, Result<run::BlobRef>) override {}

private:
    void finish(const BlobId& root, Result<std::filesystem::path> outcome);

    ThreadOwner m_owner;
    Blobs& m_blobs;
    bool m_shared = false;  // what the index has is being seeded
    std::map<BlobId, FileDone> m_waiting;
};

}  // namespace potluck::net
