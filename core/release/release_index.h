// The release index: one small JSON file, signed by the makers of Potluck (core/identity/minisign.h), that says which
// versions there are and which packs of the trainer. It lies on any web server and goes on by hand as well, because
// only the signature counts.
//
//   { "format": "potluck-releases-1", "serial": 7, "issued": 1790000000, "expires": 1820000000,
//     "releases": [{version, date, protocol, notes, page}], "packs": [{name, kind, apps, system, ..., sha256, root}] }
//
// `serial` grows with every index: an older one than the last seen is refused, and so is one past `expires`, so that
// nobody can hold news back for ever by serving an old file. Does not: fetch, nor know what time it is.
// Threads: values and functions of values.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/identity/minisign.h"

namespace potluck::release {

inline constexpr std::size_t index_bytes_max = 256 * 1024;
inline constexpr std::size_t releases_max = 32, packs_max = 64, apps_max = 32;
inline constexpr std::size_t notes_bytes_max = 2'000, url_bytes_max = 500, name_bytes_max = 120;
inline constexpr std::uint64_t pack_bytes_max = 16ULL << 30U;      // a pack of CUDA's takes three gigabytes
inline constexpr std::uint64_t unpacked_bytes_max = 64ULL << 30U;  // and seven when it is unpacked
inline constexpr std::uint64_t pack_files_max = 2'000;

/// "0.3.0"; a missing last number is 0.
struct Version {
    std::array<std::uint32_t, 3> parts{};
    auto operator<=>(const Version&) const = default;

    [[nodiscard]] static std::optional<Version> parse(std::string_view text);
    [[nodiscard]] std::string text() const;
};

struct Release {
    Version version;
    std::string date;            // 2026-11-20
    std::uint32_t protocol = 0;  // which runs it can join (run::wire_version)
    std::string notes;           // what is new, in one paragraph
    std::string page;            // where people get it
    bool operator==(const Release&) const = default;
};

/// What the trainer in a pack computes with.
enum class PackKind : std::uint8_t { cpu, cuda, rocm };
inline constexpr std::array pack_kind_names = {"cpu", "cuda", "rocm"};
[[nodiscard]] constexpr const char* name_of(PackKind kind) { return pack_kind_names[static_cast<std::size_t>(kind)]; }
[[nodiscard]] std::optional<PackKind> pack_kind_of(std::string_view name);

/// A trainer with LibTorch as one archive, shared as a hybrid torrent.
struct Pack {
    std::string name;  // of the archive's file
    PackKind kind = PackKind::cpu;
    std::vector<Version> apps;         // the versions of Potluck whose trainer this is
    std::string system, architecture;  // "linux", "x86_64"
    std::uint64_t size = 0, unpacked = 0, files = 0;
    Digest sha256;
    BlobId root;                   // v2 Merkle root
    Digest torrent;                // v2 info-hash
    std::string magnet;            // for any BitTorrent program
    std::uint32_t driver_min = 0;  // NVIDIA's driver, first number; 0: any
    std::string url;               // of the archive on a web server; empty: peers alone have it
    bool operator==(const Pack&) const = default;

    [[nodiscard]] bool serves(const Version& app) const;
    /// One pack by itself, as the record of an installed one.
    [[nodiscard]] static Result<Pack> parse(std::string_view text);
    [[nodiscard]] std::string to_text() const;
};

struct Index {
    std::uint64_t serial = 0;
    std::int64_t issued = 0, expires = 0;  // unix seconds
    std::vector<Release> releases;
    std::vector<Pack> packs;
    bool operator==(const Index&) const = default;

    /// Strict: unknown fields, sizes beyond the limits above, names that are paths and links that are not of the web
    /// are `malformed`.
    [[nodiscard]] static Result<Index> parse(std::string_view text);
    [[nodiscard]] std::string to_text() const;
};

/// What a computer has seen and where it is in time.
struct Known {
    std::uint64_t serial = 0;  // of the last index that was accepted
    std::int64_t now = 0;      // unix seconds
};
/// The index, if `key` signed it, it parses, has not expired and is not older than the last one. Every refusal is a
/// sentence.
[[nodiscard]] Result<Index> accept_index(const identity::MinisignKey& key, ByteSpan text, std::string_view signature,
                                         const Known& known);

/// The computer for which a pack is chosen.
struct Computer {
    std::string system, architecture;
    Version app;
    std::uint32_t nvidia_driver = 0;  // first number of its version; 0: none is loaded
};
/// The packs that this computer can use, the one to recommend first: CUDA's where the driver is there and new enough,
/// else the one for processors.
[[nodiscard]] std::vector<Pack> packs_for(const Index& index, const Computer& computer);
/// The newest release after `own`; null if there is none.
[[nodiscard]] const Release* newer_release(const Index& index, const Version& own);

/// "580" of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06 ..." (/proc/driver/nvidia/version); 0 if it is
/// something else.
[[nodiscard]] std::uint32_t nvidia_driver_of(std::string_view text);

}  // namespace potluck::release
