// A list of runs that its maker vouches for: one small JSON file, signed as a release index is (minisign; serial and
// expiry as in core/release/signed_text.h). Anybody makes one, and follows as many as they like; none is privileged.
//
//   { "format": "potluck-list-1", "serial": 3, "issued": 1790000000, "expires": 1792600000, "title": "Kitchen models",
//     "runs": [{"run": "<64 digits>", "host": "<64 digits>", "line": "A small model that writes recipes."}] }
//
// A run is named with its host's key: the run's id says nothing about who announces it (run_board.h).
// Does not: fetch, know what time it is, or hold an invite; announcements do.
// Threads: values and functions of values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/find/run_board.h"
#include "core/release/signed_text.h"

namespace potluck::find {

inline constexpr std::size_t list_bytes_max = 256 * 1024;
inline constexpr std::size_t listed_runs_max = 256;
inline constexpr std::size_t list_title_bytes_max = 120, list_line_bytes_max = 300;

struct ListedRun {
    RunId run;
    PeerId host;
    std::string line;
    bool operator==(const ListedRun&) const = default;
};

struct RunList {
    std::uint64_t serial = 0;
    std::int64_t issued = 0, expires = 0;  // unix seconds
    std::string title;
    std::vector<ListedRun> runs;  // no run twice
    bool operator==(const RunList&) const = default;

    /// Strict: unknown fields, sizes beyond the limits above and texts that cannot be shown are `malformed`.
    [[nodiscard]] static Result<RunList> parse(std::string_view text);
    [[nodiscard]] std::string to_text() const;

    /// Replaces what it says of the run, or adds it. `invalid_argument` if the list is full or the line cannot be
    /// shown.
    [[nodiscard]] Status add(ListedRun run);
    /// `not_found` if it does not name the run.
    [[nodiscard]] Status remove(const RunId& run);
};

/// Where a list is and whose it is, as one link that is pressed, pasted or read as a QR code:
///   potluck:list?from=<https link, or magnet link of list_torrent.h>&key=<key of its maker>
struct ListLink {
    std::string source, key;
    bool operator==(const ListLink&) const = default;

    [[nodiscard]] std::string to_link() const;
    /// Also the source and the key with a blank between them. `malformed` unless the source is of the web or a torrent.
    [[nodiscard]] static Result<ListLink> parse(std::string_view text);
};
inline constexpr std::size_t list_link_bytes_max = 1'000;

/// The list, if `key` signed it, it parses, has not expired and is not older than the last one.
[[nodiscard]] Result<RunList> accept_list(const identity::MinisignKey& key, ByteSpan text, std::string_view signature,
                                          const release::Known& known);

/// Adds what a list vouches for; of two lists that name the same run, the line of the first counts.
void add_to(Trust& trust, const RunList& list);

}  // namespace potluck::find
