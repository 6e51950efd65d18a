// What libtorrent tells, as values of ours. libtorrent's own alerts die at the next pop, so nothing of them is kept.
// Threads: functions of values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <libtorrent/address.hpp>
#include <libtorrent/alert.hpp>
#include <libtorrent/error_code.hpp>
#include <libtorrent/socket.hpp>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "net/port_mapper.h"

namespace potluck::net {

/// `torrent` is the v2 info-hash, which every torrent of ours has.
struct MetadataArrived {
    Digest torrent;
};
/// What lay on the disk is known, and the torrent runs.
struct Checked {
    Digest torrent;
};
struct Finished {
    Digest torrent;
};
/// Everything written so far is in the file (not yet synced).
struct Flushed {
    Digest torrent;
};
struct TorrentFailed {
    /// inconsistent_hashes: of a piece the SHA-1 was right and the SHA-256 wrong, or the other way round. libtorrent
    /// has dropped all that it had of the torrent and paused it.
    enum class Cause { other, inconsistent_hashes };
    Digest torrent;
    Error error;
    Cause cause = Cause::other;
};
/// Empty bytes: there was nothing to save, or it failed.
struct ResumeSaved {
    Digest torrent;
    Bytes bytes;
};
/// A torrent removed with its files is gone from the disk.
struct FilesDeleted {
    Digest torrent;
};
struct Progress {
    Digest torrent;
    double share = 0;
    std::uint64_t bytes_down = 0;
    std::uint32_t peers = 0;
};
struct Listening {
    lt::address address;
    std::uint16_t port = 0;
    bool tcp = false;
};
/// What others see of this computer, by the word of routers and peers.
struct SeenFromOutside {
    lt::address address;
};
/// The router's TCP port that leads here.
struct PortMapped {
    std::uint16_t port = 0;
    PortMapper by = PortMapper::none;
};
struct ListenFailed {
    Error error;
};
struct Statistics {
    std::uint64_t bytes_up = 0, bytes_down = 0, dht_nodes = 0, connections = 0, handshakes = 0;
    bool reached = false;  // a computer beyond the local network has opened a connection to this computer
};
struct AlertsLost {};
/// Answer of the DHT to Engine::find_peers; the key is the first 20 bytes of the torrent's v2 info-hash.
struct PeersFound {
    std::array<std::byte, 20> key{};
    std::vector<lt::tcp::endpoint> peers;
};

using Event =
    std::variant<MetadataArrived, Checked, Finished, Flushed, TorrentFailed, ResumeSaved, FilesDeleted, Progress,
                 Listening, ListenFailed, SeenFromOutside, PortMapped, Statistics, PeersFound, AlertsLost>;

/// The events in `alerts`, oldest first; alerts of no interest give none.
[[nodiscard]] std::vector<Event> events_of(const std::vector<lt::alert*>& alerts);

/// A failure of disk or network as a sentence: what happened to `what`, and what to do.
[[nodiscard]] Error error_of(const lt::error_code& code, const std::string& what);

}  // namespace potluck::net
