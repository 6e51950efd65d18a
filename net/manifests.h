// Manifest files: the torrents whose info-hash is a RunId. Kept in a folder by run, found by invite.
// Threads: one (the node's). Owns: the manifests folder.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/thread_owner.h"
#include "core/run/invite.h"
#include "core/run/manifest.h"
#include "net/engine.h"
#include "net/session.h"

namespace potluck::net {

/// A manifest file is the JSON and its frame (core/run/manifest.h).
inline constexpr std::uint64_t manifest_file_bytes_max = run::manifest_bytes_max + 1024;

class Manifests {
public:
    Manifests(Engine& engine, std::filesystem::path folder);
    ~Manifests();

    [[nodiscard]] Result<RunId> publish(ByteSpan file);
    void fetch(const run::Invite& invite, Duration patience, ManifestDone done, TimePoint now);
    [[nodiscard]] std::optional<ManifestSearch> search(const RunId& run, std::uint64_t dht_nodes) const;
    void cancel(const RunId& run);
    [[nodiscard]] bool handle(const Event& event);
    /// Calls what is done; retries hints.
    void poll(TimePoint now);

    /// How to seed a manifest that is here: description and file. Error: not_found.
    [[nodiscard]] Result<lt::add_torrent_params> seed_params(const RunId& run) const;

private:
    struct Search;
    void start(Search& search);
    void on_flushed(Search& search);
    [[nodiscard]] std::filesystem::path path_of(const RunId& run) const;

    ThreadOwner m_owner;
    Engine& m_engine;
    std::filesystem::path m_folder;
    std::map<RunId, std::unique_ptr<Search>> m_searches;
};

/// The RunId of a manifest file.
[[nodiscard]] RunId run_of(ByteSpan file);

}  // namespace potluck::net
