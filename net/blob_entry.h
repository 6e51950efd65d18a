// One blob as Blobs keeps it; shared by its source files only.
#pragma once

#include "net/blobs.h"

namespace potluck::net {

/// Connections on which a newcomer's payload is fetched: keys are free, and what they offer must leave the session's
/// connections (engine_settings.cpp) to members.
inline constexpr int newcomer_connections_max = 3;

struct Blobs::Entry {
    /// `preparing`: no torrent yet, the worker copies or hashes.
    enum class State { preparing, fetching, complete };

    IndexEntry index;
    Digest torrent;  // v2 info-hash
    State state = State::preparing;
    lt::torrent_handle handle;
    peer::FetchOptions options;
    run::Retention retention = run::Retention::kept;
    std::uint64_t order = 0;  // grows with each blob
    bool repairing = false;   // from a damaged copy
    bool finished = false;    // libtorrent has every piece; complete once they are in the file
    int rechecks = 0;         // after contradicting hashes
    std::vector<Endpoint> sources;
    OnTheWeb web;
    Reception reception;
    std::uint64_t bytes_down = 0;
    mutable std::weak_ptr<const peer::Blob> content;

    [[nodiscard]] Key key() const { return {index.ref.root, index.ref.kind}; }
    [[nodiscard]] std::string name() const { return "blob " + index.ref.root.brief(); }
};

/// A torrent's description from the bytes of a .torrent; null if libtorrent refuses it.
[[nodiscard]] std::shared_ptr<lt::torrent_info> torrent_info_of(ByteSpan torrent);
/// Size of a torrent's first file if all others only pad it (libtorrent lists a pad after a v2 file); else 0.
[[nodiscard]] std::uint64_t size_of_only_file(const lt::torrent_info& info);
/// What every torrent whose only file is `file` starts from.
[[nodiscard]] lt::add_torrent_params params_for(std::shared_ptr<lt::torrent_info> info,
                                                const std::filesystem::path& file, Visibility audience);
[[nodiscard]] inline Visibility visibility_of(run::BlobKind kind) {
    return kind == run::BlobKind::open ? Visibility::everybody : Visibility::members;
}
[[nodiscard]] lt::sha256_hash v2_hash(const Digest& digest);
/// Maps a complete blob's file.
[[nodiscard]] peer::BlobPointer map_blob(const std::filesystem::path& file);

}  // namespace potluck::net
