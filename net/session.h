// The computer's one place on the network: a libtorrent session with everything a node needs of it. It finds a run's
// manifest by invite, opens the run's swarm (peer::Swarm), and keeps blobs on disk.
//
//   node's thread                                     libtorrent's threads
//   -------------                                     --------------------
//   Session, RunSwarm, SwarmEvents   -- post -->      sockets, disk, DHT, the channel's plugin
//   poll() <-- values in bounded queues, wake() --
//
// Order of calls: open, publish_manifest or fetch_manifest, open_swarm, ..., destroy the swarms, stop, destroy.
// Does not: check the manifest's signature, decide what to fetch, or speak about rounds.
// Threads: one (the node's) for every method; only `wake` is called from others. Owns: the data folder it is given, the
// libtorrent session and its network thread, one hashing thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/thread_owner.h"
#include "core/identity/identity.h"
#include "core/peer/seams/swarm.h"
#include "core/run/blob_ref.h"
#include "core/run/invite.h"
#include "net/port_mapper.h"
#include "net/proxy/proxy_probe.h"

namespace potluck::net {

/// Whom the session talks to. `loopback` listens on 127.0.0.1 only, maps no ports, announces nothing to the local
/// network and lets many DHT nodes share one address: for tests and `dev demo`, never for people.
enum class NetworkScope { internet, loopback };

struct SessionSettings {
    std::filesystem::path data_folder;  // created if missing; holds blobs/, manifests/, peers, DHT state
    std::uint16_t port = 0;             // of every interface; 0: any free one
    NetworkScope reach = NetworkScope::internet;
    /// Entry points into the DHT. Empty: the public ones (internet), none (loopback; every later node names an
    /// earlier).
    std::vector<run::PeerHint> dht_nodes;
    /// Everything that leaves this computer goes through it, or not at all: then nobody can connect to this computer
    /// but through it, names in invites are not looked up, routers and neighbours are asked nothing, and there is a
    /// DHT only where the proxy passes datagrams on (SOCKS5).
    Proxy proxy;
    std::vector<run::PeerHint> addresses;         // where others reach this computer, as its owner says
    std::uint64_t upload_bytes_per_second = 0;    // 0: no limit
    std::uint64_t download_bytes_per_second = 0;  // 0: no limit
    /// What blobs of all runs may take on the disk; files seeded in place are not counted.
    std::uint64_t blob_bytes_max = std::numeric_limits<std::uint64_t>::max();
    /// Called from libtorrent's threads whenever poll() has something to do; it must not block and not call the
    /// session, only make the node's thread call poll() soon. May be empty: then call poll() often.
    std::function<void()> wake;
};

struct SessionCounters {
    std::uint16_t port = 0;
    std::uint64_t bytes_up = 0, bytes_down = 0;  // everything libtorrent sent and received, since open
    std::uint64_t dht_nodes = 0;
    std::uint64_t connections = 0;  // BitTorrent connections of all torrents
    std::uint64_t handshakes = 0;   // connections that were opened since then, whichever end began
    std::uint64_t torrents = 0;     // manifests and blobs, fetching and seeding
    std::uint64_t alerts_lost = 0;  // libtorrent's queue overflowed; should stay 0
    bool on_internet = false;       // others see this computer under a public address
    bool reached = false;           // others on the internet have opened connections to this computer
    std::uint16_t mapped_port = 0;  // the router's, which leads here; 0: none
    PortMapper mapped_by = PortMapper::none;
    Duration open_for{0};
    ProxyAnswer proxy = ProxyAnswer::unknown;
};

struct SwarmCounters {
    std::uint64_t sessions = 0;  // authenticated, now
    std::uint64_t messages_sent = 0, messages_received = 0;
    std::uint64_t frames_malformed = 0;  // each ended its connection
    std::uint64_t floods = 0;            // connections ended for sending too much
    std::uint64_t overflows = 0;         // connections ended for reading too slowly
    std::uint64_t refused = 0;           // sessions refused: self, duplicate, dropped member
    std::uint64_t copies = 0;            // sessions refused: another process has that member's key
    std::uint64_t crowded = 0;           // connections refused: their address holds as many as it may
    std::uint64_t queues_full = 0;       // connections ended because all queues together were too long
    std::uint64_t blobs_fetching = 0, blobs_seeding = 0;
    std::uint64_t blob_bytes_stored = 0;  // of all runs, those under way counted whole
    std::uint64_t blob_bytes_needed = 0;  // with the last that was refused for the quota; 0: all were let in
    std::uint64_t blob_bytes_down = 0;    // payload of fetches, repeated and discarded pieces included
};

/// What goes to and from a member with which there is a session, messages and blobs together: a mean over the last few
/// seconds. Blobs count as far as addresses tell whose they are.
struct MemberFlow {
    PeerId peer;
    std::uint64_t sent_per_second = 0, received_per_second = 0;  // bytes
    std::string address{};                                       // its session comes from there
};

/// Who says something on the board.
struct BoardSource {
    PeerId neighbour;
    std::string address;            // that one person has: IPv4, or the network of an IPv6 address
    bool in_local_network = false;  // nobody on the internet can send from there
};

struct SwarmOptions {
    RunId run;                         // its manifest was published or fetched with this data folder
    std::vector<run::PeerHint> hints;  // of the invite; tried again with back-off as long as nobody answers
    /// How long a connection may take until its session is open: a slow line needs two round trips, and a peer that
    /// only holds connections open shall not hold them long.
    Duration handshake_patience{10'000};
    /// Connections that one loopback or LAN address may hold; others: sessions_per_address_max. Tests lower it.
    std::size_t local_sessions_max = std::numeric_limits<std::size_t>::max();
    /// Takes what neighbours say, where the swarm is the board's and no run's. Empty: it is skipped.
    std::function<void(const BoardSource&, Bytes message)> on_board = {};
    std::size_t connections_max = 0;  // 0: as many as the session has
};

/// The swarm of one run. Destroying it leaves the run's torrents; files stay and are seeded again by the next
/// open_swarm of this run. Lives shorter than its session.
class RunSwarm : public peer::Swarm {
public:
    virtual void add_hints(const std::vector<run::PeerHint>& hints) = 0;
    /// Every complete blob that this run has here, also from before a restart: what is no longer needed can be
    /// forgotten.
    [[nodiscard]] virtual std::vector<run::BlobRef> held() const = 0;
    [[nodiscard]] virtual SwarmCounters counters() const = 0;
    /// Says something to a neighbour on the board, if it still is one.
    virtual void tell(const PeerId& to, ByteSpan message) = 0;
    /// One for each neighbour that was here when this was measured last.
    [[nodiscard]] virtual std::vector<MemberFlow> flows() const = 0;
};

enum class SearchStage { searching, connected, fetching };
struct ManifestSearch {
    SearchStage stage = SearchStage::searching;
    std::uint32_t peers = 0;      // connections of this search, also to those who do not have it
    std::uint64_t dht_nodes = 0;  // 0: the DHT has not answered yet
    double progress = 0;          // 0..1 of the manifest
};
using ManifestDone = std::function<void(Result<Bytes> file)>;

/// A file that belongs to no run, named by a source that the caller trusts: a pack of the trainer.
struct PublicFile {
    run::BlobRef ref;                    // open
    Bytes torrent;                       // its .torrent, checked against `ref`; empty: peers are asked for it
    std::vector<std::string> web_seeds;  // BEP 19
};
using FileDone = std::function<void(Result<std::filesystem::path> file)>;

class Session {
public:
    /// Errors: the folder cannot be written (permission, no_space, io), the port is taken (already_exists).
    [[nodiscard]] static Result<std::unique_ptr<Session>> open(SessionSettings settings);
    /// Stops with a limit of two seconds if stop() was not called.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Takes everything that happened into account; all callbacks (SwarmEvents, ManifestDone) are made from here.
    /// Call it when woken and at least every 100 ms. Callbacks may call the session and its swarms again, but
    /// not destroy them.
    void poll(TimePoint now);

    /// Stores a manifest file (run::manifest_file) and returns the run's id: the v2 info-hash of its torrent, the same
    /// on every computer. It is seeded from open_swarm on.
    [[nodiscard]] Result<RunId> publish_manifest(ByteSpan file);
    /// Finds and fetches the manifest file; `done` is called once, from poll(): with the bytes, whose info-hash is
    /// right and whose signature the caller checks, with `timed_out` after `patience`, or with `malformed`. Answers
    /// from the data folder if it is there. A second call for the same run replaces the first.
    void fetch_manifest(const run::Invite& invite, Duration patience, ManifestDone done);
    [[nodiscard]] std::optional<ManifestSearch> manifest_search(const RunId& run) const;
    /// `done` is not called any more.
    void cancel_manifest(const RunId& run);

    /// Joins the run's swarm and seeds again what an earlier session held of it. `identity` and `events` outlive the
    /// swarm. Errors: not_found if the manifest is not in the data folder, already_exists if the run's swarm is open.
    [[nodiscard]] Result<std::unique_ptr<RunSwarm>> open_swarm(SwarmOptions options, const identity::Identity& identity,
                                                               peer::SwarmEvents& events);

    /// What the blobs take on the disk that only `run` has wanted, whose swarm is not open.
    [[nodiscard]] std::uint64_t blob_bytes_of(const RunId& run) const;
    /// Deletes them. Manifest and known addresses stay, so that the run can be joined again. `invalid_argument` while
    /// its swarm is open.
    [[nodiscard]] Status forget_run(const RunId& run);

    /// An invite to the run with this computer's public addresses as hints, as far as they are known: it takes
    /// seconds to minutes after open to learn them. Those of its local network follow, for computers beside it.
    [[nodiscard]] run::Invite invite(const RunId& run, const std::string& name) const;
    /// The magnet link of an open blob for stock clients, with the public hints.
    [[nodiscard]] std::string magnet(const run::BlobRef& blob, const std::string& name) const;

    /// Fetches a public file from all who have it, web servers among them, and seeds it from then on; `done` is called
    /// once, from poll(), with the whole and checked file. What is cut off goes on where it was, also after a restart,
    /// as soon as it is asked for again. A second call for the same file replaces the first one's `done`.
    void fetch_file(PublicFile file, FileDone done);
    /// 0..1; 0 if it is unknown.
    [[nodiscard]] double file_progress(const BlobId& root) const;
    /// Seeds the public files that are here.
    void share_files();
    /// Ends fetching and seeding, and deletes the file.
    void forget_file(const BlobId& root);

    /// What stored blobs may take from now on; those that are here stay until others need their room.
    void set_blob_bytes_max(std::uint64_t bytes);
    void set_rate_limits(std::uint64_t upload_bytes_per_second, std::uint64_t download_bytes_per_second);
    [[nodiscard]] std::uint16_t port() const;
    [[nodiscard]] SessionCounters counters() const;

    /// Saves what is needed to resume and closes every connection; returns after `limit` at the latest. False if
    /// libtorrent had to be cut off (files are still consistent: everything is checked by hash at the next start).
    /// No callbacks afterwards.
    bool stop(Duration limit);

private:
    struct Impl;
    explicit Session(std::unique_ptr<Impl> impl);
    ThreadOwner m_owner;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace potluck::net
