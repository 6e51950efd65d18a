// The lists of runs that the person follows, as the data folder keeps them: one file for each key, with where the list
// came from, its signature and itself, replaced in one step.
//
//   lists/<first 16 digits of the key>.kept    "potluck-list 1 <bytes of the signature>\n", the key, the source, ...
//   lists/<first 16 digits of the key>.left    its person has unfollowed it: a build does not follow it again by itself
//
// Does not: fetch (list_keeper.h and the verb `list` do). What lies there is believed no more than what comes: its
// signature is checked at each reading. Threads: functions of files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/find/run_list.h"
#include "core/identity/minisign.h"

namespace potluck::node {

/// Behind the name of a list stands its signature.
inline constexpr std::string_view list_signature_suffix = ".minisig";
/// Behind the name of a list: list and signature as one file, for a torrent; behind that, its description.
inline constexpr std::string_view signed_list_suffix = ".signed", list_torrent_suffix = ".torrent";
inline constexpr std::size_t followed_max = 16, list_source_bytes_max = 500;

struct FollowedList {
    std::string key;     // as MinisignKey::parse() reads it
    std::string source;  // a file or a link of the web, without .minisig; or a magnet link
    find::RunList list;  // which may have expired since
};

/// In the order of their keys; files that are damaged or not signed by their key are left out.
[[nodiscard]] std::vector<FollowedList> followed_lists(const std::filesystem::path& data_folder);
/// Follows a list, or takes a later one in place of the one that is kept. `now` in unix seconds. Refusals are
/// find::accept_list's; `invalid_argument` beyond followed_max.
[[nodiscard]] Result<find::RunList> follow_list(const std::filesystem::path& data_folder, const FollowedList& wanted,
                                                ByteSpan text, std::string_view signature, std::int64_t now);
/// Puts a version with a higher serial in place of `kept`; the same version again changes nothing. Errors are those of
/// follow_list().
[[nodiscard]] Status renew_list(const std::filesystem::path& data_folder, const FollowedList& kept, ByteSpan text,
                                std::string_view signature, std::int64_t now);
/// `not_found` if no list of that key is followed.
[[nodiscard]] Status unfollow_list(const std::filesystem::path& data_folder, const identity::MinisignKey& key);
/// Whether a list of that key is followed, or was and its person has left it.
[[nodiscard]] bool has_followed(const std::filesystem::path& data_folder, const identity::MinisignKey& key);

/// What followed lists vouch for at `now`, unix seconds: those that have expired vouch for nothing.
[[nodiscard]] find::Trust trust_of(const std::filesystem::path& data_folder, std::int64_t now);

}  // namespace potluck::node
