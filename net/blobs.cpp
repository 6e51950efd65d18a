// Contents that are complete: publishing, seeding, forgetting. An Entry is a blob with a torrent, an IndexEntry what is
// kept of it on disk; blobs of runs that are not open rest in m_index without a torrent.
//
// libtorrent is told to trust a seed's hashes (seed_mode) and checks each piece when it is first asked for. That is
// sound only for a file which has not changed since it was hashed, so the index keeps its change time, and a file with
// another one is hashed again, by the worker, before it is offered to anyone.
//
// The worker runs jobs in order, so an index that is written and then removed ends up removed. A blob whose last run
// forgets it is deleted only if this session stored it; files of a person seeded in place are never touched.
#include "net/blobs.h"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include <libtorrent/torrent_info.hpp>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "net/blob_entry.h"

namespace potluck::net {

namespace {

namespace fs = std::filesystem;

class MappedBlob final : public peer::Blob {
public:
    MappedBlob(MappedFile map, fs::path path) : m_map(std::move(map)), m_path(std::move(path)) {}
    [[nodiscard]] ByteSpan bytes() const override { return m_map.bytes(); }
    [[nodiscard]] fs::path path() const override { return m_path; }

private:
    MappedFile m_map;
    fs::path m_path;
};

struct HashedFile {
    ContentHashes hashes;
    std::uint64_t size = 0;
};

Result<HashedFile> hash_file(const fs::path& file, run::BlobKind kind, const std::stop_token& stop) {
    const Result<MappedFile> map = MappedFile::open_read(file);
    if (!map.ok()) return map.error();
    const std::uint64_t size = map->bytes().size();
    if (size == 0 || size > run::blob_bytes_max) {
        return Error{ErrorCode::invalid_argument, "An empty file cannot be shared: " + file.string() + "."};
    }
    Result<ContentHashes> hashes = hash_content(map->bytes(), kind, stop);
    if (!hashes.ok()) return hashes.error();
    return HashedFile{std::move(*hashes), size};
}

}  // namespace

std::shared_ptr<lt::torrent_info> torrent_info_of(ByteSpan torrent) {
    const std::string_view text = as_text(torrent);
    lt::error_code failure;
    auto info = std::make_shared<lt::torrent_info>(
        lt::span<const char>(text.data(), static_cast<std::ptrdiff_t>(text.size())), failure, lt::from_span);
    return failure ? nullptr : info;
}

std::uint64_t size_of_only_file(const lt::torrent_info& info) {
    const lt::file_storage& files = info.files();
    for (const lt::file_index_t file : files.file_range()) {
        if (files.pad_file_at(file) == (file == lt::file_index_t{0})) return 0;
    }
    return files.num_files() == 0 ? 0 : static_cast<std::uint64_t>(files.file_size(lt::file_index_t{0}));
}

lt::add_torrent_params params_for(std::shared_ptr<lt::torrent_info> info, const fs::path& file, Visibility audience) {
    lt::add_torrent_params params;
    params.ti = std::move(info);
    params.save_path = file.parent_path().string();
    params.renamed_files[lt::file_index_t{0}] = file.filename().string();
    params.flags = flags_for(audience);
    return params;
}

lt::sha256_hash v2_hash(const Digest& digest) {
    return lt::sha256_hash(reinterpret_cast<const char*>(digest.bytes.data()));
}

peer::BlobPointer map_blob(const fs::path& file) {
    Result<MappedFile> map = MappedFile::open_read(file);
    if (!map.ok()) return nullptr;
    return std::make_shared<MappedBlob>(std::move(*map), file);
}

Blobs::Blobs(Engine& engine, Worker& worker, fs::path folder, std::uint64_t bytes_max, Deliver deliver)
    : m_engine(engine),
      m_worker(worker),
      m_folder(std::move(folder)),
      m_bytes_max(bytes_max),
      m_deliver(std::move(deliver)),
      m_index(read_index(m_folder)) {}

Blobs::~Blobs() = default;

Blobs::Entry* Blobs::find(const Digest& torrent) {
    const auto key = m_by_torrent.find(torrent);
    if (key == m_by_torrent.end()) return nullptr;
    return m_entries.at(key->second).get();
}

const Blobs::Entry* Blobs::find_complete(const BlobId& root) const {
    for (const run::BlobKind kind : {run::BlobKind::plain, run::BlobKind::open}) {
        const auto found = m_entries.find({root, kind});
        if (found != m_entries.end() && found->second->state == Entry::State::complete) return found->second.get();
    }
    return nullptr;
}

/// A blob that only runs that are not open have here is this run's from now on, too.
void Blobs::take_from_index(const RunId& run, const BlobId& root) {
    for (auto it = m_index.begin(); it != m_index.end();) {
        const bool wanted = it->ref.root == root && it->changed == change_time(it->file);
        if (wanted) {
            it->runs.insert(run);
            seed(std::move(*it));
        }
        it = wanted ? m_index.erase(it) : it + 1;
    }
}

void Blobs::restore(const RunId& run) {
    m_owner.check();
    m_open.insert(run);
    const auto others = std::partition(m_index.begin(), m_index.end(),
                                       [&](const IndexEntry& index) { return !index.runs.contains(run); });
    std::vector<IndexEntry> mine(std::make_move_iterator(others), std::make_move_iterator(m_index.end()));
    m_index.erase(others, m_index.end());
    for (IndexEntry& index : mine) {
        if (index.changed == change_time(index.file)) {
            // A payload may be one that no list accepted: the peer says which it still needs.
            const bool payload = index.ref.kind == run::BlobKind::plain;
            seed(std::move(index), payload ? run::Retention::offered : run::Retention::kept);
        } else {
            seed_if_unchanged(std::move(index));
        }
    }
}

/// The file was touched since it was hashed: it is hashed again before it is seeded.
void Blobs::seed_if_unchanged(IndexEntry index) {
    const auto work = [file = index.file, kind = index.ref.kind,
                       stop = m_worker.stopping()]() -> std::optional<BlobId> {
        const Result<MappedFile> map = MappedFile::open_read(file);
        if (!map.ok() || map->bytes().empty()) return std::nullopt;
        const Result<ContentHashes> hashes = hash_content(map->bytes(), kind, stop);
        return hashes.ok() ? std::optional(hashes->root) : std::nullopt;
    };
    m_worker.run(work, [this, index](std::optional<BlobId> root) {
        if (root == index.ref.root) {
            seed(index);
        } else {
            log::of("net").warn("blob {} was changed on disk and is not shared any more", index.ref.root.brief());
            discard(index);
        }
    });
}

void Blobs::seed(IndexEntry index, run::Retention retention) {
    auto entry = std::make_unique<Entry>();
    entry->index = std::move(index);
    entry->retention = retention;
    entry->order = ++m_order;
    const Key key = entry->key();
    if (m_entries.contains(key)) {
        Entry& here = *m_entries.at(key);
        here.index.runs.merge(entry->index.runs);
        here.retention = std::max(here.retention, retention);
        return;
    }
    Entry& kept = *m_entries.emplace(key, std::move(entry)).first->second;
    add_seed(kept);
}

/// Hands a complete blob to libtorrent, which trusts the hashes and checks each piece once, when it is first asked for.
void Blobs::add_seed(Entry& entry) {
    entry.state = Entry::State::complete;
    entry.reception.progress = 1;
    const std::shared_ptr<lt::torrent_info> info =
        torrent_info_of(torrent_file(entry.index.info, entry.index.ref.root, entry.index.layer));
    if (!info) {
        log::of("net").warn("{} cannot be shared: its description is damaged", entry.name());
        return;
    }
    Digest torrent;
    std::copy_n(reinterpret_cast<const std::byte*>(info->info_hashes().v2.data()), 32, torrent.bytes.begin());
    entry.torrent = torrent;
    lt::add_torrent_params params = params_for(info, entry.index.file, visibility_of(entry.index.ref.kind));
    params.flags |= lt::torrent_flags::seed_mode;
    Result<lt::torrent_handle> handle = m_engine.add(std::move(params), Engine::Start::at_once);
    if (!handle.ok()) {
        log::of("net").warn("{}", handle.error().message);
        return;
    }
    entry.handle = std::move(*handle);
    m_by_torrent[entry.torrent] = entry.key();
}

Result<run::BlobRef> Blobs::publish(const RunId& run, ByteSpan content, run::Retention retention) {
    m_owner.check();
    POTLUCK_CHECK(!content.empty());
    Result<ContentHashes> hashes = hash_content(content, run::BlobKind::plain, {});
    if (!hashes.ok()) return hashes.error();
    const run::BlobRef ref{.root = hashes->root, .size = content.size(), .kind = run::BlobKind::plain, .info_hash = {}};
    const Key key{ref.root, ref.kind};
    const auto found = m_entries.find(key);
    if (found != m_entries.end() && found->second->state == Entry::State::complete) {
        found->second->index.runs.insert(run);
        found->second->retention = std::max(found->second->retention, retention);
        write_index_later(*found->second);
        return ref;
    }
    if (found == m_entries.end()) {
        if (Status room = make_room(ref.size, retention); !room.ok()) return room.error();
    } else {
        retention = std::max(found->second->retention, retention);
    }
    const fs::path file = published_path(m_folder, ref.root);
    if (Status written = write_file_atomically(file, content); !written.ok()) return written.error();
    IndexEntry index{.ref = ref,
                     .runs = {run},
                     .file = file,
                     .keeping = Storage::stored,
                     .changed = change_time(file),
                     .info = plain_info(ref.root, ref.size).bytes,
                     .layer = std::move(hashes->layer)};
    adopt(std::move(index));
    m_entries.at(key)->retention = retention;
    return ref;
}

/// Takes over a complete content, also for those who were fetching it.
void Blobs::adopt(IndexEntry index) {
    const Key key{index.ref.root, index.ref.kind};
    const auto found = m_entries.find(key);
    bool awaited = false;
    if (found != m_entries.end()) {
        awaited = found->second->state != Entry::State::complete;
        index.runs.merge(found->second->index.runs);
        remove_torrent(*found->second, awaited ? Engine::Files::remove : Engine::Files::keep);
        m_entries.erase(found);
    }
    seed(std::move(index));
    const Entry& entry = *m_entries.at(key);
    write_index_later(entry);
    if (awaited) announce(entry);
}

void Blobs::publish_file(const RunId& run, const fs::path& file, const std::string& name, run::BlobKind kind) {
    m_owner.check();
    std::error_code failure;
    const fs::path whole = fs::absolute(file, failure);
    const auto work = [whole, kind, stop = m_worker.stopping()] { return hash_file(whole, kind, stop); };
    m_worker.run(work, [this, run, file, whole, name, kind](const Result<HashedFile>& hashed) {
        Result<run::BlobRef> ref = hashed.ok() ? published(run, whole, name, kind, hashed->hashes, hashed->size)
                                               : Result<run::BlobRef>(hashed.error());
        m_deliver(run, [file, ref](peer::SwarmEvents& events) { events.on_published(file, ref); });
    });
}

Result<run::BlobRef> Blobs::published(const RunId& run, const fs::path& file, const std::string& name,
                                      run::BlobKind kind, const ContentHashes& hashes, std::uint64_t size) {
    InfoDict info =
        kind == run::BlobKind::open ? open_info(name, hashes.root, size, hashes.pieces) : plain_info(hashes.root, size);
    run::BlobRef ref{.root = hashes.root, .size = size, .kind = kind, .info_hash = {}};
    if (kind == run::BlobKind::open) ref.info_hash = info.info_hash;
    const auto found = m_entries.find({ref.root, ref.kind});
    // The same content under the same name is the same torrent. Under another name the first one stays.
    if (found != m_entries.end() && found->second->state == Entry::State::complete) {
        found->second->index.runs.insert(run);
        write_index_later(*found->second);
        return found->second->index.ref;
    }
    adopt({.ref = ref,
           .runs = {run},
           .file = file,
           .keeping = Storage::in_place,
           .changed = change_time(file),
           .info = std::move(info.bytes),
           .layer = hashes.layer});
    return ref;
}

void Blobs::forget(const RunId& run, const BlobId& root) {
    m_owner.check();
    for (const run::BlobKind kind : {run::BlobKind::plain, run::BlobKind::open}) {
        const auto found = m_entries.find({root, kind});
        if (found == m_entries.end() || found->second->index.runs.erase(run) == 0) continue;
        Entry& entry = *found->second;
        const bool complete = entry.state == Entry::State::complete;
        if (!complete) fail_for(run, root, {ErrorCode::cancelled, "The download was given up."});
        if (!entry.index.runs.empty()) {
            if (complete) write_index_later(entry);
            continue;
        }
        remove_torrent(entry, complete ? Engine::Files::keep : Engine::Files::remove);
        if (complete) discard(entry.index);
        m_entries.erase(found);
    }
    for (auto it = m_index.begin(); it != m_index.end();) {
        const bool last = it->ref.root == root && it->runs.erase(run) == 1 && it->runs.empty();
        if (last) discard(*it);
        it = last ? m_index.erase(it) : it + 1;
    }
}

/// Deletes what the session itself stored of a complete blob.
void Blobs::discard(const IndexEntry& index) {
    std::error_code failure;
    if (index.keeping == Storage::stored) fs::remove(index.file, failure);
    // By the worker, so that it comes after a write of the same file that still waits there.
    m_worker.run([path = index_path(m_folder, index.ref)] {
        std::error_code missing;
        fs::remove(path, missing);
    });
}

void Blobs::remove_torrent(Entry& entry, Engine::Files files) {
    if (!entry.handle.is_valid()) return;
    m_bytes_down += entry.bytes_down;
    m_saving.erase(entry.torrent);
    m_by_torrent.erase(entry.torrent);
    if (files == Engine::Files::remove) {
        m_deleting[entry.torrent];
        std::error_code failure;
        fs::remove(resume_path(m_folder, entry.index.ref), failure);
    }
    m_engine.remove(entry.handle, files);
    entry.handle = {};
}

void Blobs::write_index_later(const Entry& entry) { write_index_later(entry.index); }

void Blobs::write_index_later(const IndexEntry& index) {
    m_worker.run([folder = m_folder, index] {
        if (Status written = write_index(folder, index); !written.ok())
            log::of("net").warn("{}", written.error().message);
    });
}

void Blobs::announce(const Entry& entry) {
    for (const RunId& run : entry.index.runs) announce_to(run, entry);
}

void Blobs::announce_to(const RunId& run, const Entry& entry) {
    m_deliver(run, [ref = entry.index.ref, blob = content(entry.index.ref.root)](peer::SwarmEvents& events) {
        if (blob) {
            events.on_blob(ref, blob);
        } else {
            events.on_blob_failed(ref.root, {ErrorCode::not_found, "A downloaded file was removed by somebody else."});
        }
    });
}

peer::BlobPointer Blobs::content(const BlobId& root) const {
    m_owner.check();
    const Entry* entry = find_complete(root);
    if (entry == nullptr) return nullptr;
    if (std::shared_ptr<const peer::Blob> mapped = entry->content.lock()) return mapped;
    peer::BlobPointer mapped = map_blob(entry->index.file);
    if (mapped && mapped->bytes().size() != entry->index.ref.size) return nullptr;
    entry->content = mapped;
    return mapped;
}

Blobs::Reception Blobs::reception(const BlobId& root) const {
    m_owner.check();
    Reception best;
    for (const run::BlobKind kind : {run::BlobKind::plain, run::BlobKind::open}) {
        const auto found = m_entries.find({root, kind});
        if (found != m_entries.end() && found->second->reception.progress >= best.progress)
            best = found->second->reception;
    }
    return best;
}

std::vector<run::BlobRef> Blobs::held(const RunId& run) const {
    m_owner.check();
    std::vector<run::BlobRef> refs;
    for (const auto& [key, entry] : m_entries) {
        if (entry->state == Entry::State::complete && entry->index.runs.contains(run)) refs.push_back(entry->index.ref);
    }
    return refs;
}

Sha1 Blobs::v1_hash(const BlobId& root) const {
    m_owner.check();
    Sha1 hash{};
    const auto found = m_entries.find({root, run::BlobKind::open});
    if (found == m_entries.end() || !found->second->handle.is_valid()) return hash;
    const lt::sha1_hash v1 = found->second->handle.info_hashes().v1;
    std::copy_n(reinterpret_cast<const std::byte*>(v1.data()), hash.size(), hash.begin());
    return hash;
}

void Blobs::connect_to_consumers(const BlobId& root, const std::vector<Endpoint>& wanting) {
    m_owner.check();
    const Entry* entry = find_complete(root);
    if (entry == nullptr || !entry->handle.is_valid()) return;
    for (const Endpoint& each : wanting) entry->handle.connect_peer(each, {}, lt::pex_lt_v2);
}

std::uint64_t Blobs::seeding() const {
    m_owner.check();
    return static_cast<std::uint64_t>(std::count_if(m_entries.begin(), m_entries.end(), [](const auto& each) {
        return each.second->state == Entry::State::complete;
    }));
}

std::uint64_t Blobs::fetching() const {
    m_owner.check();
    return m_entries.size() - seeding();
}

std::uint64_t Blobs::bytes_down() const {
    m_owner.check();
    std::uint64_t sum = m_bytes_down;
    for (const auto& [key, entry] : m_entries) sum += entry->bytes_down;
    return sum;
}

}  // namespace potluck::net
