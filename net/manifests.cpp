// A RunId is an info-hash, so an invite is a magnet link and the DHT needs nothing of ours. A search adds that torrent
// without metadata, tries the invite's hints with back-off, and checks what arrives: one file of a manifest's size as
// soon as the metadata is there, so that nothing large is ever fetched, and the whole info-hash again from the bytes,
// because a torrent with other fields could hold the same file.
//
// The file gets its name only when all that has passed. Outcomes wait for poll(), which removes the search before it
// calls `done`, so that `done` may start the same search again. A manifest that was published or found before answers
// from the folder without asking anyone.
//
// Source: BEP 9 for the metadata, BEP 52 for the info-hash.
#include "net/manifests.h"

#include <random>
#include <system_error>
#include <utility>

#include <libtorrent/torrent_info.hpp>
#include <libtorrent/torrent_status.hpp>

#include "core/base/files.h"
#include "net/blob_entry.h"
#include "net/blob_torrent.h"
#include "net/discovery.h"

namespace potluck::net {

namespace {

namespace fs = std::filesystem;

struct ManifestTorrent {
    InfoDict info;
    BlobId root;
    std::vector<Digest> layer;
};

ManifestTorrent torrent_of(ByteSpan file) {
    Result<ContentHashes> hashes = hash_content(file, run::BlobKind::plain, {});
    return {.info = manifest_info(hashes->root, file.size()), .root = hashes->root, .layer = std::move(hashes->layer)};
}

/// Files but for the padding that libtorrent puts behind a file that does not fill its piece.
int content_files(const lt::torrent_info& info) {
    int count = 0;
    for (const lt::file_index_t index : info.files().file_range()) count += info.files().pad_file_at(index) ? 0 : 1;
    return count;
}

}  // namespace

struct Manifests::Search {
    RunId run;
    ManifestDone done;
    TimePoint give_up;
    lt::torrent_handle handle;
    std::unique_ptr<Discovery> discovery;
    std::optional<Result<Bytes>> outcome;
    ManifestSearch shown;
    bool has_metadata = false;
};

RunId run_of(ByteSpan file) { return RunId{torrent_of(file).info.info_hash.bytes}; }

Manifests::Manifests(Engine& engine, fs::path folder) : m_engine(engine), m_folder(std::move(folder)) {}

Manifests::~Manifests() = default;

fs::path Manifests::path_of(const RunId& run) const { return m_folder / (run.hex() + ".potluck"); }

Result<RunId> Manifests::publish(ByteSpan file) {
    m_owner.check();
    if (file.empty() || file.size() > manifest_file_bytes_max) {
        return Error{ErrorCode::invalid_argument, "The manifest is empty or larger than a mebibyte: shorten it."};
    }
    const RunId run = run_of(file);
    if (Status written = write_file_atomically(path_of(run), file); !written.ok()) return written.error();
    return run;
}

Result<lt::add_torrent_params> Manifests::seed_params(const RunId& run) const {
    m_owner.check();
    const Result<Bytes> file = read_file(path_of(run), manifest_file_bytes_max);
    if (!file.ok() || file->empty())
        return Error{ErrorCode::not_found, "The run's manifest is not here: join by its invite first."};
    const ManifestTorrent torrent = torrent_of(*file);
    if (torrent.info.info_hash.bytes != run.bytes) {
        return Error{ErrorCode::untrusted,
                     "The run's manifest on disk was changed: delete " + path_of(run).string() + " and join again."};
    }
    lt::add_torrent_params params =
        params_for(torrent_info_of(torrent_file(torrent.info.bytes, torrent.root, torrent.layer)), path_of(run),
                   Visibility::everybody);
    params.flags |= lt::torrent_flags::seed_mode;
    return params;
}

void Manifests::fetch(const run::Invite& invite, Duration patience, ManifestDone done, TimePoint now) {
    m_owner.check();
    cancel(invite.run);
    Search& search = *m_searches.emplace(invite.run, std::make_unique<Search>()).first->second;
    search.run = invite.run;
    search.done = std::move(done);
    search.give_up = now + patience;
    if (Result<Bytes> file = read_file(path_of(invite.run), manifest_file_bytes_max);
        file.ok() && !file->empty() && run_of(*file) == invite.run) {
        search.outcome = std::move(*file);
        return;
    }
    // As a tracker would name it, or libtorrent drops an address after some failures (swarm.cpp).
    const auto connect = [&search](const Endpoint& endpoint, Discovery::Urgency) {
        if (search.handle.is_valid()) search.handle.connect_peer(endpoint, lt::peer_info::tracker, lt::pex_lt_v2);
    };
    search.discovery = std::make_unique<Discovery>(m_engine, fs::path(), std::random_device()(), connect);
    search.discovery->add_hints(invite.hints);
    start(search);
}

void Manifests::start(Search& search) {
    const fs::path file = m_folder / (search.run.hex() + ".fetched");
    std::error_code failure;
    fs::remove(file, failure);
    lt::add_torrent_params params = params_for(nullptr, file, Visibility::everybody);
    params.info_hashes.v2 = v2_hash(Digest{search.run.bytes});
    const std::set<Endpoint>& hints = search.discovery->hints();
    params.peers.assign(hints.begin(), hints.end());
    Result<lt::torrent_handle> handle = m_engine.add(std::move(params), Engine::Start::resumed);
    if (handle.ok()) {
        search.handle = std::move(*handle);
    } else {
        search.outcome = handle.error();
    }
}

std::optional<ManifestSearch> Manifests::search(const RunId& run, std::uint64_t dht_nodes) const {
    m_owner.check();
    const auto found = m_searches.find(run);
    if (found == m_searches.end()) return std::nullopt;
    ManifestSearch shown = found->second->shown;
    shown.dht_nodes = dht_nodes;
    shown.stage = found->second->has_metadata ? SearchStage::fetching
                  : shown.peers > 0           ? SearchStage::connected
                                              : SearchStage::searching;
    return shown;
}

void Manifests::cancel(const RunId& run) {
    m_owner.check();
    const auto found = m_searches.find(run);
    if (found == m_searches.end()) return;
    m_engine.remove(found->second->handle, Engine::Files::remove);
    m_searches.erase(found);
}

/// A manifest is one small file; whatever else has this info-hash is no run.
void Manifests::on_flushed(Search& search) {
    const lt::torrent_status status = search.handle.status({});
    if (!status.is_seeding) return;
    Result<Bytes> file = read_file(m_folder / (search.run.hex() + ".fetched"), manifest_file_bytes_max);
    if (!file.ok()) {
        search.outcome = file.error();
    } else if (file->empty() || run_of(*file) != search.run) {
        search.outcome = Error{ErrorCode::malformed, "The invite does not lead to a run: ask for a new one."};
    } else if (Status written = write_file_atomically(path_of(search.run), *file); !written.ok()) {
        search.outcome = written.error();
    } else {
        search.outcome = std::move(*file);
    }
}

bool Manifests::handle(const Event& event) {
    m_owner.check();
    const auto search_of = [this](const Digest& torrent) -> Search* {
        const auto found = m_searches.find(RunId{torrent.bytes});
        return found == m_searches.end() || !found->second->handle.is_valid() ? nullptr : found->second.get();
    };
    if (const auto* metadata = std::get_if<MetadataArrived>(&event)) {
        Search* search = search_of(metadata->torrent);
        if (search == nullptr) return false;
        search->has_metadata = true;
        const std::shared_ptr<const lt::torrent_info> info = search->handle.torrent_file();
        if (!info || content_files(*info) != 1 ||
            info->total_size() > static_cast<std::int64_t>(manifest_file_bytes_max)) {
            search->outcome = Error{ErrorCode::malformed, "The invite does not lead to a run: ask for a new one."};
        }
        return true;
    }
    if (const auto* flushed = std::get_if<Flushed>(&event)) {
        Search* search = search_of(flushed->torrent);
        if (search != nullptr && !search->outcome) on_flushed(*search);
        return search != nullptr;
    }
    if (const auto* progress = std::get_if<Progress>(&event)) {
        Search* search = search_of(progress->torrent);
        if (search == nullptr) return false;
        search->shown.peers = progress->peers;
        search->shown.progress = search->has_metadata ? progress->share : 0;
        return true;
    }
    if (const auto* failed = std::get_if<TorrentFailed>(&event)) {
        Search* search = search_of(failed->torrent);
        if (search != nullptr) search->outcome = failed->error;
        return search != nullptr;
    }
    return false;
}

void Manifests::poll(TimePoint now) {
    m_owner.check();
    std::vector<std::unique_ptr<Search>> over;
    for (auto it = m_searches.begin(); it != m_searches.end();) {
        Search& search = *it->second;
        if (!search.outcome && now >= search.give_up) {
            search.outcome = Error{ErrorCode::timed_out,
                                   "Nobody who has this run answered: check the network, or ask for a new invite."};
        }
        if (!search.outcome) {
            search.discovery->tick(now, Redial::Whom::everybody, [](const Endpoint&) { return false; });
            ++it;
            continue;
        }
        m_engine.remove(search.handle, Engine::Files::remove);
        over.push_back(std::move(it->second));
        it = m_searches.erase(it);
    }
    for (const std::unique_ptr<Search>& search : over) search->done(std::move(*search->outcome));
}

}  // namespace potluck::net
