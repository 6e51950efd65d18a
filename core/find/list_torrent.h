// A list of runs as a torrent: one file that holds the list and its signature, and the magnet link that names it. Any
// BitTorrent program can fetch and pass on the file; whether the list counts is its signature's affair (run_list.h).
//
//   potluck-signed-list 1 <bytes of the signature>\n<signature><list>
//   magnet:?xt=urn:btmh:1220<v2 info-hash>&xl=<bytes>&x.root=<64 digits>&ws=<link of the file on the web>
//
// A magnet names one version for good; a newer one lies at its web seed.
// Does not: fetch or hash. Threads: functions of values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/find/run_list.h"
#include "core/identity/minisign.h"
#include "core/run/blob_ref.h"

namespace potluck::find {

inline constexpr std::size_t signed_list_bytes_max = list_bytes_max + identity::minisign_bytes_max + 64;
inline constexpr std::size_t list_magnet_bytes_max = 500;

struct SignedList {
    std::string signature, text;

    [[nodiscard]] std::string to_file() const;
    /// `malformed` if the head is another one, or names more bytes than follow or than a signature has.
    [[nodiscard]] static Result<SignedList> parse(std::string_view file);
};

struct ListTorrent {
    run::BlobRef file;     // open, at most signed_list_bytes_max
    std::string web_seed;  // empty: peers alone have it

    [[nodiscard]] std::string to_magnet() const;
    /// `malformed` unless info-hash, size and root are there once and within bounds, and the web seed is of the web.
    [[nodiscard]] static Result<ListTorrent> parse(std::string_view magnet);
};

/// Whether a source of a list is a magnet link, in any case of letters.
[[nodiscard]] bool is_magnet(std::string_view source);

}  // namespace potluck::find
