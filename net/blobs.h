// The blobs of this computer: publishing, fetching, repairing, seeding, forgetting. One torrent per blob and kind; a
// blob may be wanted by several runs and goes when the last one forgets it.
//
//   publish       content -> file -> seeding
//   publish_file  file -> hashed by the worker -> seeding in place
//   fetch         [resume data | damaged copy + layer] -> fetching -> finished -> flushed -> seeding
//   restart       index -> (hashed again if the file changed) -> seeding
//
// Everything that happens later is told through `deliver`, which queues it for the run's SwarmEvents.
// Stored blobs share a quota: one that finds no room displaces those that the runs rely on less (run::Retention), or
// fails with what to do. Files seeded in place are not counted, since they are others' to delete. Does not:
// know members (addresses are handed in) or keep the order of deadlines among blobs beyond libtorrent's own. Threads:
// one (the node's). Owns: the blobs folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/thread_owner.h"
#include "core/base/worker.h"
#include "core/peer/seams/swarm.h"
#include "net/blob_index.h"
#include "net/blob_torrent.h"
#include "net/engine.h"

namespace potluck::net {

/// Free disk space that a fetch leaves to the owner.
inline constexpr std::uint64_t disk_reserve_bytes = 64ULL << 20U;
/// What to tell of a disk with `free` bytes on which `to_come` more are to be fetched.
[[nodiscard]] Error no_room_for(std::uint64_t to_come, std::uint64_t free);

/// How often a fetch whose hashes contradict each other is checked again before it fails.
inline constexpr int rechecks_max = 2;

class Blobs {
public:
    using Call = std::function<void(peer::SwarmEvents&)>;
    using Deliver = std::function<void(const RunId&, Call)>;

    /// `bytes_max`: what stored blobs, those under way counted whole, may take on the disk.
    Blobs(Engine& engine, Worker& worker, std::filesystem::path folder, std::uint64_t bytes_max, Deliver deliver);
    ~Blobs();

    /// Seeds again what the index has for `run`.
    void restore(const RunId& run);
    /// Stops the torrents that only `run` wants; files stay.
    void suspend(const RunId& run);

    [[nodiscard]] Result<run::BlobRef> publish(const RunId& run, ByteSpan content, run::Retention retention);
    void publish_file(const RunId& run, const std::filesystem::path& file, const std::string& name, run::BlobKind kind);
    /// Where else an open blob is to be had, for those who fetch it outside a run.
    struct OnTheWeb {
        Bytes torrent;                       // its .torrent, from anywhere; empty: a peer is asked for its description
        std::vector<std::string> web_seeds;  // BEP 19: servers that have the file
    };
    void fetch(const RunId& run, const run::BlobRef& ref, peer::FetchOptions options, std::vector<Endpoint> sources) {
        fetch(run, ref, std::move(options), std::move(sources), {});
    }
    void fetch(const RunId& run, const run::BlobRef& ref, peer::FetchOptions options, std::vector<Endpoint> sources,
               OnTheWeb web);
    void retain(const BlobId& root, run::Retention retention);
    void forget(const RunId& run, const BlobId& root);

    [[nodiscard]] peer::BlobPointer content(const BlobId& root) const;
    /// How much of a blob is here, 0 to 1, and with how many others its torrent is connected, both as last reported.
    struct Reception {
        double progress = 0;
        std::uint32_t connections = 0;
    };
    [[nodiscard]] Reception reception(const BlobId& root) const;
    [[nodiscard]] std::vector<run::BlobRef> held(const RunId& run) const;
    /// The v1 info-hash of an open blob, by which most clients know it; zero if it is not on this computer.
    [[nodiscard]] Sha1 v1_hash(const BlobId& root) const;

    /// A member of `run` listens there: it is asked for everything that is being fetched.
    void offer_source(const RunId& run, const Endpoint& source);
    /// They are asked for a blob, too, if it is still being fetched.
    void offer_sources(const BlobId& root, const std::vector<Endpoint>& sources);
    /// Connects a blob that others will want to them, for when they cannot reach us.
    void connect_to_consumers(const BlobId& root, const std::vector<Endpoint>& wanting);
    /// Takes an event of libtorrent's; false if it is about something else.
    bool handle(const Event& event);
    void tick(TimePoint now);
    /// Asks for resume data of what is unfinished; all_saved() once it is on disk.
    void save_all();
    [[nodiscard]] bool all_saved() const {
        m_owner.check();
        return m_saving.empty();
    }

    [[nodiscard]] std::uint64_t fetching() const;
    [[nodiscard]] std::uint64_t seeding() const;
    [[nodiscard]] std::uint64_t bytes_down() const;
    /// On the disk, or promised to fetches.
    [[nodiscard]] std::uint64_t bytes_stored() const;
    /// What forget_run() frees: the stored blobs that only `run` wants, which is not open.
    [[nodiscard]] std::uint64_t bytes_left_by(const RunId& run) const;
    /// Forgets every complete blob for a run that is not open.
    void forget_run(const RunId& run);
    /// What kept blobs may still take.
    [[nodiscard]] std::uint64_t room() const;
    void set_bytes_max(std::uint64_t bytes) { m_bytes_max = bytes; }
    /// What the quota would have to be for the kept blob that it refused last; 0 once one of that size was let in.
    [[nodiscard]] std::uint64_t bytes_needed() const { return m_refused.needed; }

private:
    using Key = std::pair<BlobId, run::BlobKind>;
    struct Entry;

    // blobs.cpp
    void seed(IndexEntry index, run::Retention retention = run::Retention::kept);
    void seed_if_unchanged(IndexEntry index);
    void add_seed(Entry& entry);
    void adopt(IndexEntry index);
    void take_from_index(const RunId& run, const BlobId& root);
    [[nodiscard]] Result<run::BlobRef> published(const RunId& run, const std::filesystem::path& file,
                                                 const std::string& name, run::BlobKind kind,
                                                 const ContentHashes& hashes, std::uint64_t size);
    void discard(const IndexEntry& index);
    void remove_torrent(Entry& entry, Engine::Files files);
    void write_index_later(const Entry& entry);
    void write_index_later(const IndexEntry& index);
    void announce(const Entry& entry);
    void announce_to(const RunId& run, const Entry& entry);
    [[nodiscard]] Entry* find(const Digest& torrent);
    [[nodiscard]] const Entry* find_complete(const BlobId& root) const;
    // blob_quota.cpp
    [[nodiscard]] std::uint64_t bytes_to_come() const;
    void raise(Entry& entry, run::Retention retention);
    [[nodiscard]] Status make_room(std::uint64_t size, run::Retention retention);
    void note_refusal(std::uint64_t size, bool fits);
    [[nodiscard]] Error quota_is_used_up() const;
    void displace(Entry& entry);
    // blob_fetch.cpp
    void begin_fetch(Entry& entry, std::vector<Endpoint> sources);
    void start_repair(Entry& entry, std::vector<Endpoint> sources);
    void start_fetch(Entry& entry, std::vector<Endpoint> sources);
    void start_described(Entry& entry, std::vector<Endpoint> sources);
    void add_fetch(Entry& entry, lt::add_torrent_params params, std::vector<Endpoint> sources, Engine::Start start);
    [[nodiscard]] std::optional<lt::add_torrent_params> resumed(const Entry& entry) const;
    static void offer(const Entry& entry, const Endpoint& source);
    [[nodiscard]] bool on_metadata(Entry& entry);
    void on_flushed(Entry& entry);
    void on_failed(Entry& entry, const TorrentFailed& failed);
    [[nodiscard]] bool recheck(Entry& entry);
    void fail(Entry& entry, Error error);
    void fail_for(const RunId& run, const BlobId& root, Error error);
    void save(const Entry& entry);
    [[nodiscard]] bool on_saved(const ResumeSaved& saved);
    bool run_waiting(const Digest& torrent);

    ThreadOwner m_owner;
    Engine& m_engine;
    Worker& m_worker;
    std::filesystem::path m_folder;
    std::uint64_t m_bytes_max;
    struct Refused {
        std::uint64_t size = 0, needed = 0;
    };
    Refused m_refused;
    Deliver m_deliver;
    std::map<Key, std::unique_ptr<Entry>> m_entries;
    std::map<Digest, Key> m_by_torrent;
    std::vector<IndexEntry> m_index;  // complete blobs of runs that are not open
    /// Torrents whose files are being deleted, and what to do when they are gone.
    std::map<Digest, std::vector<std::function<void()>>> m_deleting;
    std::map<Digest, std::filesystem::path> m_saving;  // resume data asked for, and where it goes
    std::map<Digest, lt::torrent_handle> m_leaving;    // to be removed when their resume data is there
    std::set<RunId> m_open;
    std::uint64_t m_bytes_down = 0;  // of torrents that are gone or complete
    std::uint64_t m_order = 0;       // of the newest blob
    TimePoint m_saved_at;
};

}  // namespace potluck::net
