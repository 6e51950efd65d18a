// Signatures of files in minisign's format (https://jedisct1.github.io/minisign/): Ed25519 over the BLAKE2b-512 of the
// file, and over that signature with its trusted comment. Release indexes are signed so, by a key that the program was
// built with; the makers of a release sign with the program minisign.
//
// Does not: sign, nor keep a secret key. minisign's older signatures, over the file itself, are refused.
// Threads: functions of values.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/result.h"

namespace potluck::identity {

inline constexpr std::size_t minisign_bytes_max = 4096;  // of a signature's file; its comments are a line each

struct MinisignKey {
    std::array<std::byte, 8> id{};
    std::array<std::byte, 32> key{};
    bool operator==(const MinisignKey&) const = default;

    /// The line of a public key's file that is no comment: "RWQ" and 53 letters more.
    [[nodiscard]] static Result<MinisignKey> parse(std::string_view line);
};

/// The trusted comment of `signature` (the content of a .minisig file), if `key` signed exactly `file` with it.
/// `malformed` if it is no signature, `untrusted` if it is another key's or another file's.
[[nodiscard]] Result<std::string> verify_minisign(const MinisignKey& key, ByteSpan file, std::string_view signature);

}  // namespace potluck::identity
