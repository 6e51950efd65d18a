// What a node tells of releases, and what it can be asked about them: which packs of the trainer there are for this
// computer, how far a download is, whether there is a newer version. Part of node_protocol.h and node_methods.h.
//
// Threads: values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/control/methods.h"

namespace potluck::control {

inline constexpr std::size_t packs_max = 16, pack_text_bytes_max = 2'000, pack_path_bytes_max = 4'096;

/// What is being done about releases.
enum class ReleaseStage { none, checking, downloading, unpacking };
template <>
inline constexpr std::array names<ReleaseStage> = {"none", "checking", "downloading", "unpacking"};

struct PackRow {
    static constexpr std::string_view label = "pack";
    std::string name, kind, magnet;
    std::uint64_t bytes = 0, unpacked = 0;

    static void fields(auto& value, auto&& field) {
        field("name", value.name, Text{pack_text_bytes_max}, "File name of the pack.");
        field("kind", value.kind, Text{pack_text_bytes_max}, "Back end of its trainer: cpu, cuda or rocm.");
        field("magnet", value.magnet, Text{pack_text_bytes_max}, "Magnet link for any BitTorrent program.");
        field("bytes", value.bytes, Whole{}, "Bytes to download.");
        field("unpacked", value.unpacked, Whole{}, "Bytes on disk once unpacked.");
    }
};

struct NewerRelease {
    static constexpr std::string_view label = "release";
    std::string version, date, notes, page;

    static void fields(auto& value, auto&& field) {
        field("version", value.version, Text{pack_text_bytes_max}, "Version, later than this program's.");
        field("date", value.date, Text{pack_text_bytes_max}, "Release date.");
        field("notes", value.notes, Text{pack_text_bytes_max}, "Release notes in one paragraph.");
        field("page", value.page, Text{pack_text_bytes_max}, "Download page; may be empty.");
    }
};

struct ReleaseState {
    static constexpr std::string_view label = "releases";
    bool has_key = false, has_trainer = false, looks = false, passes_on = true;
    std::string installed, error;
    ReleaseStage stage = ReleaseStage::none;
    double progress = -1;
    std::vector<PackRow> packs;
    std::optional<NewerRelease> newer;

    static void fields(auto& value, auto&& field) {
        field("has_key", value.has_key, Any{}, "Whether this build has a release key.");
        field("has_trainer", value.has_trainer, Any{}, "Whether a trainer is available from any source.");
        field("looks", value.looks, Any{}, "Whether it checks for updates daily.");
        field("passes_on", value.passes_on, Any{}, "Whether to seed packs that are on this computer.");
        field("installed", value.installed, Text{pack_text_bytes_max}, "Kind of the installed pack; empty if none is.");
        field("error", value.error, Text{pack_text_bytes_max},
              "Why the last attempt failed, in English; may be empty.");
        field("stage", value.stage, Any{}, "Current stage.");
        field("progress", value.progress, Real{-1, 1}, "Progress of a download, from 0 to 1; negative if unknown.");
        field("packs", value.packs, List{packs_max, Any{}}, "Packs that this computer can use, best first.");
        field("newer", value.newer, Any{}, "A newer version of Potluck; missing while none is known.");
    }
};

/// Fetches the signed index now.
struct CheckReleases : Nothing {
    static constexpr std::string_view name = "check_releases";
    using Reply = Done;
};

/// Is answered at once; `releases` of the status tells how it goes on.
struct InstallTrainer {
    static constexpr std::string_view name = "install_trainer";
    using Reply = Done;
    std::string kind, file;

    static void fields(auto& value, auto&& field) {
        field("kind", value.kind, Optional{Text{pack_text_bytes_max}},
              "cpu, cuda or rocm; empty: the best for this computer.");
        field("file", value.file, Optional{Text{pack_path_bytes_max}},
              "Archive on this computer with the signed index beside it, instead of a download.");
    }
};

/// The installed pack; a trainer that came with the system's packages stays.
struct RemoveTrainer : Nothing {
    static constexpr std::string_view name = "remove_trainer";
    using Reply = Done;
};

struct SetReleases {
    static constexpr std::string_view name = "set_releases";
    using Reply = Done;
    bool looks = false, passes_on = true;

    static void fields(auto& value, auto&& field) {
        field("looks", value.looks, Any{}, "Whether to check for updates daily.");
        field("passes_on", value.passes_on, Any{}, "Whether to seed packs for others.");
    }
};

}  // namespace potluck::control
