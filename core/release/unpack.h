// A tar archive (plain, xz or zstd) into a folder, as strictly as bytes of strangers deserve: files and folders only,
// names that stay below the folder, no more bytes and files than were signed for, modes that are ours.
//
// The folder appears whole or not at all: everything is written beside it and synced, and a rename ends it. Does not:
// know what is inside.
// Threads: any; it may take a minute. Owns: nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string_view>

#include "core/base/ids.h"
#include "core/base/result.h"

namespace potluck::release {

struct UnpackLimits {
    std::uint64_t bytes_max = 0, files_max = 0;  // folders count as files
    /// Hash of the archive; nothing: any. What counts is the bytes that were unpacked, whatever the name leads to
    /// before or after that.
    std::optional<Digest> sha256{};
};

/// Replaces `folder`. `untrusted` if the archive's bytes were not those of `limits.sha256`, `malformed` if the archive
/// is damaged or does what is refused, `no_space` before anything is written if the disk has less than
/// `limits.bytes_max`, `cancelled` if `stop` asks for it. What was begun is removed.
[[nodiscard]] Status unpack(const std::filesystem::path& archive, const std::filesystem::path& folder,
                            const UnpackLimits& limits, const std::stop_token& stop);

/// Whether a member of an archive may have this name: relative, with no "..", ".", empty or hidden part, at most 200
/// bytes of letters, digits and . _ + - in parts that slashes divide; a folder's may end with one.
[[nodiscard]] bool is_member_name(std::string_view name);

/// What an archive holds, for those who make an index.
struct Contents {
    std::uint64_t bytes = 0, files = 0;
};
[[nodiscard]] Result<Contents> contents_of(const std::filesystem::path& archive);

}  // namespace potluck::release
