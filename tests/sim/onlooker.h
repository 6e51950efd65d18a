// Somebody on a simulated network who hears messages and has no use for what else happens there.
#pragma once

#include "core/peer/seams/swarm.h"

namespace potluck::sim {

class Onlooker : public peer::SwarmEvents {
public:
    void on_neighbour(const PeerId&) override {}
    void on_neighbour_lost(const PeerId&) override {}
    void on_blob(const run::BlobRef&, peer::BlobPointer) override {}
    void on_blob_failed(const BlobId&, Error) override {}
    void on_published(const std::filesystem::path&, Result<run::BlobRef>) override {}
};

}  // namespace potluck::sim
