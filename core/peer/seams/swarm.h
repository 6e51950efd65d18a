// The seam to the network. In the product it is libtorrent (net/), in the simulation a queue of timed events; the peer
// cannot tell. Everything is asynchronous: what arrives later arrives through SwarmEvents, on the peer's thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/run/blob_quota.h"
#include "core/run/blob_ref.h"
#include "core/run/message.h"

namespace potluck::peer {

/// Piece size of a blob's torrent, which both ends derive from its size alone: 16 KiB, doubled until there are at most
/// 4,096 pieces.
[[nodiscard]] constexpr std::uint64_t piece_size_of(std::uint64_t size) {
    std::uint64_t piece = 16 * 1024;
    while (piece * 4096 < size) piece *= 2;
    return piece;
}

/// The content of a blob that is complete and verified: a file's map or memory. Lives as long as any pointer to it.
class Blob {
public:
    virtual ~Blob() = default;
    [[nodiscard]] virtual ByteSpan bytes() const = 0;
    /// Where it lies; empty if only in memory (simulation).
    [[nodiscard]] virtual std::filesystem::path path() const = 0;
};
using BlobPointer = std::shared_ptr<const Blob>;

/// Who decides for a member: the run's host, its backbones, and who has a seat.
struct Deciders {
    enum class Quorum { here, missing };
    std::vector<PeerId> members;  // without this one
    Quorum quorum = Quorum::here;
};

struct FetchOptions {
    /// Peers that hold it; asked first, and alone for as long as they send it if there is no deadline.
    std::vector<PeerId> sources;
    /// Wanted by then, also if that has passed; TimePoint{}: whenever. Not a limit: the fetch goes on until forgotten.
    /// The pieces of a blob of at most 1,024 pieces (16 MiB) are taken from the peers that answer fastest, and asked of
    /// others, too, when they are late. A larger blob and a repair go rarest piece first whatever their deadline; who
    /// fetches a blob again while it is on its way does not hasten it. Blobs share the bandwidth evenly: a small one
    /// does not wait for a large one.
    TimePoint deadline{};
    /// Repair: an old copy of the content with (some) wrong pieces, and the true piece layer that says which. Only the
    /// pieces that differ are fetched. Empty: fetch everything.
    std::filesystem::path damaged_copy;
    std::vector<Digest> layer;
    /// Where the disk that blobs may take is used up: what this one may displace, and what may displace it.
    run::Retention retention = run::Retention::kept;
    /// Many fetch it at the same time and pass on what they have: neighbours are asked beside the sources, at once of
    /// what is large, and soon of what is small.
    bool all_neighbours = false;
    /// Nobody but the sources can have it, as long as there is a session with one of them.
    bool named_only = false;
};

class Swarm {
public:
    virtual ~Swarm() = default;

    /// To one member, or to all with whom a session is open. Messages beyond run::message_bytes_max are a bug of ours.
    virtual void send(const PeerId& to, const run::Envelope& envelope) = 0;
    virtual void broadcast(const run::Envelope& envelope) = 0;
    /// Bytes that were sent to `to` and wait here because it, or the line, is slow.
    [[nodiscard]] virtual std::size_t unsent(const PeerId& to) const = 0;

    /// Writes `content` to disk, syncs, seeds it, and ends a fetch of it that is under way (on_blob follows). The
    /// reference is what others need. Same content, same reference.
    [[nodiscard]] virtual Result<run::BlobRef> publish(ByteSpan content,
                                                       run::Retention retention = run::Retention::kept) = 0;
    /// Seeds a file that exists and does not change: a shard, a checkpoint. `name` is what stock clients show.
    /// Hashing is done off the caller's thread; SwarmEvents::on_published follows.
    virtual void publish_file(const std::filesystem::path& file, const std::string& name, run::BlobKind kind) = 0;

    /// Fetches and then seeds; on_blob follows, also at once if it is already there.
    virtual void fetch(const run::BlobRef& blob, FetchOptions options) = 0;
    /// A blob that is here or under way is at least of this rank from now on.
    virtual void retain(const BlobId& blob, run::Retention retention) = 0;
    /// Stops fetching or seeding and deletes what `publish` or `fetch` stored (never a file given to publish_file).
    virtual void forget(const BlobId& blob) = 0;
    /// Content of a complete blob; null if it is not here.
    [[nodiscard]] virtual BlobPointer blob(const BlobId& blob) const = 0;
    /// 0..1 of a running fetch; 1 if complete; 0 if unknown.
    [[nodiscard]] virtual double progress(const BlobId& blob) const = 0;

    /// Bytes that kept blobs may still take, of their quota and of the disk.
    [[nodiscard]] virtual std::uint64_t room() const = 0;

    /// Ends the session with a peer and refuses it for `duration`.
    virtual void drop(const PeerId& peer, Duration duration) = 0;
    /// These are here, and heard of through others only: a session with each would be welcome. Replaces what was said
    /// before.
    virtual void seek(const std::vector<PeerId>& members) = 0;
    /// A session with a decider that falls silent is given up sooner than others, and those that are missed while no
    /// quorum is here are dialled every few seconds. Replaces what was said before. A swarm may ignore it.
    virtual void set_deciders(const Deciders&) {}
    [[nodiscard]] virtual std::vector<PeerId> neighbours() const = 0;
    [[nodiscard]] virtual std::uint16_t port() const = 0;
};

class SwarmEvents {
public:
    virtual ~SwarmEvents() = default;
    /// An authenticated session with `peer` is open, or gone.
    virtual void on_neighbour(const PeerId& peer) = 0;
    virtual void on_neighbour_lost(const PeerId& peer) = 0;
    /// Another process has proved to have this member's key: another computer, or a second process.
    virtual void on_own_key_elsewhere() {}
    /// An envelope that came from `from`'s session, parsed and bounded, its signature not yet checked; envelope.sender
    /// may be another (contributions and statuses are passed on).
    virtual void on_envelope(const PeerId& from, run::Envelope envelope) = 0;
    virtual void on_blob(const run::BlobRef& blob, BlobPointer content) = 0;
    /// The fetch has ended for good (disk full, displaced, wrong hash from everybody, forgotten).
    virtual void on_blob_failed(const BlobId& blob, Error error) = 0;
    virtual void on_published(const std::filesystem::path& file, Result<run::BlobRef> blob) = 0;
};

}  // namespace potluck::peer
