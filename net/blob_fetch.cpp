// The half of Blobs that gets contents from others. A fetch takes the cheapest way that is sound:
//
//   damaged copy + layer  the layer is checked against the root, the file against the layer; the rest is fetched
//   resume data           an earlier fetch goes on where it was
//   from nothing          a plain blob's description follows from its reference; an open one asks a peer for it
//
// A blob counts as here only when libtorrent has flushed it to disk, so that the file which is mapped next is whole.
// What a peer says about an open blob is compared with the reference before it is believed. A torrent of the same hash
// cannot be added while its old files are being deleted: what wants it waits in m_deleting.
//
// Threads: the node's; copying and index writes are the worker's.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include <libtorrent/read_resume_data.hpp>
#include <libtorrent/torrent_info.hpp>
#include <libtorrent/torrent_status.hpp>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "net/blob_entry.h"

namespace potluck::net {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t resume_bytes_max = 64ULL << 20U;
/// Unfinished fetches of at least this size are worth saving while they run.
constexpr std::uint64_t worth_saving_bytes = 16ULL << 20U;
constexpr Duration save_interval{30'000};

bool same_file(const fs::path& a, const fs::path& b) {
    std::error_code failure;
    return fs::equivalent(a, b, failure) && !failure;
}

/// Copies the damaged content, cut or extended to the right length. The piece layer finds what is wrong in it.
bool copy_damaged(const fs::path& from, const fs::path& to, std::uint64_t size) {
    std::error_code failure;
    fs::remove(to, failure);
    if (!fs::copy_file(from, to, fs::copy_options::overwrite_existing, failure) || failure) return false;
    fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write, fs::perm_options::add, failure);
    fs::resize_file(to, size, failure);
    return !failure;
}

}  // namespace

Error no_room_for(std::uint64_t to_come, std::uint64_t free) {
    const auto megabytes = [](std::uint64_t bytes) { return std::to_string((bytes + 999'999) / 1'000'000) + " MB"; };
    return {ErrorCode::no_space, "The disk has " + megabytes(free) + " free; to download " + megabytes(to_come) +
                                     " it needs " + megabytes(to_come + disk_reserve_bytes) +
                                     ", because Potluck leaves " + megabytes(disk_reserve_bytes) +
                                     " free. Free some space or choose another data folder."};
}

void Blobs::fetch(const RunId& run, const run::BlobRef& ref, peer::FetchOptions options, std::vector<Endpoint> sources,
                  OnTheWeb web) {
    m_owner.check();
    take_from_index(run, ref.root);
    if (const Entry* complete = find_complete(ref.root)) {
        // The caller has re-hashed this file: trust it over the index.
        if (options.damaged_copy.empty() || !same_file(options.damaged_copy, complete->index.file)) {
            Entry& entry = *m_entries.at(complete->key());
            raise(entry, options.retention);
            if (entry.index.runs.insert(run).second) write_index_later(entry);
            announce_to(run, entry);
            return;
        }
        Entry& damaged = *m_entries.at(complete->key());
        remove_torrent(damaged, Engine::Files::keep);
        m_worker.run([path = index_path(m_folder, damaged.index.ref)] {
            std::error_code missing;
            fs::remove(path, missing);
        });
        m_entries.erase(damaged.key());
    }
    const Key key{ref.root, ref.kind};
    if (const auto running = m_entries.find(key); running != m_entries.end()) {
        running->second->index.runs.insert(run);
        raise(*running->second, options.retention);
        for (const Endpoint& source : sources) offer(*running->second, source);
        return;
    }
    const std::uint64_t to_come = ref.size + bytes_to_come();
    if (const std::uint64_t free = free_disk_bytes(m_folder); free < to_come + disk_reserve_bytes) {
        fail_for(run, ref.root, no_room_for(to_come, free));
        return;
    }
    if (Status room = make_room(ref.size, options.retention); !room.ok()) {
        fail_for(run, ref.root, room.error());
        return;
    }
    auto entry = std::make_unique<Entry>();
    entry->retention = options.retention;
    entry->order = ++m_order;
    entry->index.ref = ref;
    entry->index.runs = {run};
    entry->index.file = fetched_path(m_folder, ref);
    entry->options = std::move(options);
    entry->web = std::move(web);
    if (ref.kind == run::BlobKind::plain) {
        InfoDict info = plain_info(ref.root, ref.size);
        entry->index.info = std::move(info.bytes);
        entry->torrent = info.info_hash;
    } else {
        entry->torrent = ref.info_hash;
    }
    Entry& kept = *m_entries.emplace(key, std::move(entry)).first->second;
    begin_fetch(kept, std::move(sources));
}

/// Waits until the files of an earlier fetch of the same blob are gone; then chooses how to fetch.
void Blobs::begin_fetch(Entry& entry, std::vector<Endpoint> sources) {
    if (const auto deleting = m_deleting.find(entry.torrent); deleting != m_deleting.end()) {
        deleting->second.push_back([this, key = entry.key(), sources] {
            if (const auto found = m_entries.find(key); found != m_entries.end()) begin_fetch(*found->second, sources);
        });
        return;
    }
    const bool repairable = !entry.options.damaged_copy.empty() && entry.index.ref.kind == run::BlobKind::plain;
    if (repairable && root_of_layer(entry.options.layer, entry.index.ref.size) == entry.index.ref.root) {
        start_repair(entry, std::move(sources));
        return;
    }
    if (repairable) log::of("net").warn("{} is fetched whole: the layer to repair it by is wrong", entry.name());
    start_fetch(entry, std::move(sources));
}

void Blobs::start_repair(Entry& entry, std::vector<Endpoint> sources) {
    const auto work = [from = entry.options.damaged_copy, to = entry.index.file, size = entry.index.ref.size] {
        if (!same_file(from, to)) return copy_damaged(from, to, size);
        std::error_code failure;
        fs::resize_file(to, size, failure);
        return !failure;
    };
    entry.state = Entry::State::preparing;
    m_worker.run(work, [this, key = entry.key(), sources](bool copied) {
        const auto found = m_entries.find(key);
        if (found == m_entries.end() || found->second->state != Entry::State::preparing) return;
        Entry& ready = *found->second;
        if (!copied) {
            start_fetch(ready, sources);
            return;
        }
        ready.index.layer = ready.options.layer;
        ready.repairing = true;
        // libtorrent checks a file it finds against the layer, and asks others only for what does not fit.
        add_fetch(ready,
                  params_for(torrent_info_of(torrent_file(ready.index.info, ready.index.ref.root, ready.index.layer)),
                             ready.index.file, Visibility::members),
                  sources, Engine::Start::at_once);
    });
}

void Blobs::start_fetch(Entry& entry, std::vector<Endpoint> sources) {
    const Visibility audience = visibility_of(entry.index.ref.kind);
    if (std::optional<lt::add_torrent_params> params = resumed(entry)) {
        add_fetch(entry, std::move(*params), std::move(sources), Engine::Start::at_once);
        return;
    }
    std::error_code failure;
    fs::remove(entry.index.file, failure);
    if (entry.index.ref.kind == run::BlobKind::plain) {
        add_fetch(entry,
                  params_for(torrent_info_of(torrent_file(entry.index.info, entry.index.ref.root, {})),
                             entry.index.file, audience),
                  std::move(sources), Engine::Start::when_checked);
        return;
    }
    if (!entry.web.torrent.empty()) {
        start_described(entry, std::move(sources));
        return;
    }
    lt::add_torrent_params params = params_for(nullptr, entry.index.file, audience);
    params.info_hashes.v2 = v2_hash(entry.torrent);
    add_fetch(entry, std::move(params), std::move(sources), Engine::Start::resumed);
}

namespace {

/// What its info-hash vouches for in a .torrent: the info dictionary and the piece layer under its root. Trackers, web
/// seeds and DHT nodes stand beside that, so its server could name any, and learn who fetches it.
std::shared_ptr<lt::torrent_info> vouched_part_of(ByteSpan torrent, const BlobId& root, const lt::sha256_hash& hash) {
    const std::shared_ptr<lt::torrent_info> described = torrent_info_of(torrent);
    if (!described || described->info_hashes().v2 != hash || described->num_files() < 1) return nullptr;
    const lt::span<const char> info = described->info_section();
    const lt::span<const char> hashes = described->piece_layer(lt::file_index_t{0});
    std::vector<Digest> layer(static_cast<std::size_t>(hashes.size()) / sizeof(Digest::bytes));
    for (std::size_t i = 0; i < layer.size(); ++i)
        std::memcpy(layer[i].bytes.data(), hashes.data() + i * sizeof(Digest::bytes), sizeof(Digest::bytes));
    return torrent_info_of(torrent_file(as_bytes({info.data(), static_cast<std::size_t>(info.size())}), root, layer));
}

}  // namespace

/// An open blob whose description came from a web server, which is believed no more than a peer.
void Blobs::start_described(Entry& entry, std::vector<Endpoint> sources) {
    std::shared_ptr<lt::torrent_info> info =
        vouched_part_of(entry.web.torrent, entry.index.ref.root, v2_hash(entry.torrent));
    if (!info) {
        fail(entry, {ErrorCode::untrusted,
                     "The description of " + entry.name() + " is not the one that was signed for; try again later."});
        return;
    }
    add_fetch(entry, params_for(std::move(info), entry.index.file, Visibility::everybody), std::move(sources),
              Engine::Start::when_checked);
}

void Blobs::add_fetch(Entry& entry, lt::add_torrent_params params, std::vector<Endpoint> sources, Engine::Start start) {
    params.peers.assign(sources.begin(), sources.end());
    params.url_seeds = entry.web.web_seeds;
    if (entry.retention == run::Retention::newcomer) params.max_connections = newcomer_connections_max;
    entry.sources = std::move(sources);
    entry.state = Entry::State::fetching;
    // Repairs fetch few pieces and have the rest as soon as it is checked: no deadline is needed.
    const TimePoint deadline = entry.repairing ? TimePoint{} : entry.options.deadline;
    Result<lt::torrent_handle> handle = m_engine.add(std::move(params), start, deadline);
    if (!handle.ok()) {
        fail(entry, handle.error());
        return;
    }
    entry.handle = std::move(*handle);
    m_by_torrent[entry.torrent] = entry.key();
}

std::optional<lt::add_torrent_params> Blobs::resumed(const Entry& entry) const {
    const fs::path path = resume_path(m_folder, entry.index.ref);
    std::error_code failure;
    if (!fs::exists(path, failure) || !fs::exists(entry.index.file, failure)) return std::nullopt;
    const Result<Bytes> saved = read_file(path, resume_bytes_max);
    if (!saved.ok()) return std::nullopt;
    const std::string_view text = as_text(*saved);
    lt::error_code broken;
    lt::add_torrent_params params =
        lt::read_resume_data({text.data(), static_cast<std::ptrdiff_t>(text.size())}, broken);
    if (broken || params.info_hashes.v2 != v2_hash(entry.torrent)) return std::nullopt;
    lt::add_torrent_params ours = params_for(params.ti, entry.index.file, visibility_of(entry.index.ref.kind));
    params.save_path = ours.save_path;
    params.renamed_files = ours.renamed_files;
    params.flags = ours.flags;
    // Versions that took trackers over from the web have saved them.
    params.trackers.clear();
    params.tracker_tiers.clear();
    params.dht_nodes.clear();
    params.http_seeds.clear();
    if (!params.ti && entry.index.ref.kind == run::BlobKind::plain) {
        params.ti = torrent_info_of(torrent_file(entry.index.info, entry.index.ref.root, {}));
    }
    return params;
}

void Blobs::offer(const Entry& entry, const Endpoint& source) {
    if (entry.state == Entry::State::fetching && entry.handle.is_valid())
        entry.handle.connect_peer(source, {}, lt::pex_lt_v2);
}

void Blobs::offer_source(const RunId& run, const Endpoint& source) {
    m_owner.check();
    for (const auto& [key, entry] : m_entries) {
        if (entry->index.runs.contains(run)) offer(*entry, source);
    }
}

void Blobs::offer_sources(const BlobId& root, const std::vector<Endpoint>& sources) {
    m_owner.check();
    for (const auto& [key, entry] : m_entries) {
        if (entry->index.ref.root != root) continue;
        for (const Endpoint& source : sources) offer(*entry, source);
    }
}

bool Blobs::handle(const Event& event) {
    m_owner.check();
    if (const auto* progress = std::get_if<Progress>(&event)) {
        Entry* entry = find(progress->torrent);
        if (entry == nullptr) return false;
        if (entry->state == Entry::State::fetching)
            entry->reception.progress = std::min(progress->share, 0.999);  // 1 is for a file that was checked
        entry->reception.connections = progress->peers;
        entry->bytes_down = progress->bytes_down;
        return true;
    }
    if (const auto* deleted = std::get_if<FilesDeleted>(&event)) {
        return run_waiting(deleted->torrent);
    }
    if (const auto* saved = std::get_if<ResumeSaved>(&event)) return on_saved(*saved);
    if (const auto* metadata = std::get_if<MetadataArrived>(&event)) {
        Entry* entry = find(metadata->torrent);
        if (entry != nullptr) static_cast<void>(on_metadata(*entry));
        return entry != nullptr;
    }
    if (const auto* checked = std::get_if<Checked>(&event)) {
        Entry* entry = find(checked->torrent);
        if (entry == nullptr) return false;
        // The check ended all connections.
        for (const Endpoint& source : entry->sources) {
            if (entry->rechecks > 0) offer(*entry, source);
        }
        return true;
    }
    if (const auto* finished = std::get_if<Finished>(&event)) {
        Entry* entry = find(finished->torrent);
        if (entry != nullptr) entry->finished = true;
        return entry != nullptr;
    }
    if (const auto* flushed = std::get_if<Flushed>(&event)) {
        Entry* entry = find(flushed->torrent);
        if (entry != nullptr) on_flushed(*entry);
        return entry != nullptr;
    }
    if (const auto* failed = std::get_if<TorrentFailed>(&event)) {
        Entry* entry = find(failed->torrent);
        if (entry != nullptr) on_failed(*entry, *failed);
        return entry != nullptr;
    }
    return false;
}

/// Returns false if the fetch has failed and `entry` is gone. The description of an open blob came from a stranger: its
/// hash is right, but it may describe something else than the reference says.
bool Blobs::on_metadata(Entry& entry) {
    const run::BlobRef& ref = entry.index.ref;
    if (entry.state != Entry::State::fetching || ref.kind != run::BlobKind::open) return true;
    const std::shared_ptr<const lt::torrent_info> info = entry.handle.torrent_file();
    const lt::file_index_t first{0};
    const bool fits = info && info->v2() && size_of_only_file(*info) == ref.size &&
                      info->files().root(first) == v2_hash(Digest{ref.root.bytes});
    if (!fits) {
        fail(entry, {ErrorCode::untrusted, "A shared file is not what it was announced to be."});
        return false;
    }
    const lt::span<const char> section = info->info_section();
    const ByteSpan bytes = as_bytes({section.data(), static_cast<std::size_t>(section.size())});
    entry.index.info.assign(bytes.begin(), bytes.end());
    return true;
}

void Blobs::on_flushed(Entry& entry) {
    if (entry.state != Entry::State::fetching || !entry.finished) return;
    const lt::torrent_status status = entry.handle.status({});
    if (!status.is_seeding) return;
    entry.bytes_down = static_cast<std::uint64_t>(std::max<std::int64_t>(0, status.total_payload_download));
    if (entry.index.info.empty() && !on_metadata(entry)) return;
    entry.index.layer.clear();
    const std::vector<std::vector<lt::sha256_hash>> layers = entry.handle.piece_layers();
    if (!layers.empty() && layers.front().size() > 1) {
        for (const lt::sha256_hash& hash : layers.front()) {
            std::copy_n(reinterpret_cast<const std::byte*>(hash.data()), 32,
                        entry.index.layer.emplace_back().bytes.begin());
        }
    }
    entry.state = Entry::State::complete;
    entry.reception.progress = 1;
    entry.options = {};
    entry.index.changed = change_time(entry.index.file);
    std::error_code failure;
    fs::remove(resume_path(m_folder, entry.index.ref), failure);
    write_index_later(entry);
    announce(entry);
}

/// An open blob has hashes of BitTorrent v1 and v2. That they contradict each other can be a lie of the one who
/// described it, but libtorrent 2.0 also says so of sound torrents when blocks of a piece are hashed while others are
/// written (arvidn/libtorrent, issue 6394); a second look at the file then finds them equal.
bool Blobs::recheck(Entry& entry) {
    if (entry.state != Entry::State::fetching || entry.rechecks == rechecks_max) return false;
    ++entry.rechecks;
    entry.finished = false;
    m_engine.recheck(entry.handle);
    return true;
}

void Blobs::on_failed(Entry& entry, const TorrentFailed& failed) {
    const Error& error = failed.error;
    log::of("net").warn("{}: {}", entry.name(), error.message);
    if (failed.cause == TorrentFailed::Cause::inconsistent_hashes && recheck(entry)) return;
    if (entry.state == Entry::State::complete) {
        // Its file is gone or unreadable; nobody waits for it.
        remove_torrent(entry, Engine::Files::keep);
        const Key key = entry.key();
        discard(entry.index);
        m_entries.erase(key);
        return;
    }
    fail(entry, error);
}

/// Ends a fetch for everybody who waits for it. `entry` is gone afterwards.
void Blobs::fail(Entry& entry, Error error) {
    for (const RunId& run : entry.index.runs) fail_for(run, entry.index.ref.root, error);
    remove_torrent(entry, Engine::Files::remove);
    m_entries.erase(entry.key());
}

void Blobs::fail_for(const RunId& run, const BlobId& root, Error error) {
    m_deliver(run, [root, error = std::move(error)](peer::SwarmEvents& events) { events.on_blob_failed(root, error); });
}

void Blobs::save(const Entry& entry) {
    if (entry.state != Entry::State::fetching || !entry.handle.is_valid() || m_saving.contains(entry.torrent)) return;
    entry.handle.save_resume_data(lt::torrent_handle::save_info_dict | lt::torrent_handle::flush_disk_cache);
    m_saving.emplace(entry.torrent, resume_path(m_folder, entry.index.ref));
}

bool Blobs::on_saved(const ResumeSaved& saved) {
    const auto found = m_saving.find(saved.torrent);
    if (found == m_saving.end()) return false;
    if (!saved.bytes.empty()) {
        if (Status written = write_file_atomically(found->second, saved.bytes); !written.ok()) {
            log::of("net").warn("{}", written.error().message);
        }
    }
    m_saving.erase(found);
    if (const auto leaving = m_leaving.find(saved.torrent); leaving != m_leaving.end()) {
        m_engine.remove(leaving->second, Engine::Files::keep);
        m_leaving.erase(leaving);
        static_cast<void>(run_waiting(saved.torrent));
    }
    return true;
}

/// Goes on with what waited for an earlier torrent of the same blob to be gone.
bool Blobs::run_waiting(const Digest& torrent) {
    const auto found = m_deleting.find(torrent);
    if (found == m_deleting.end()) return false;
    const std::vector<std::function<void()>> waiting = std::move(found->second);
    m_deleting.erase(found);
    for (const std::function<void()>& next : waiting) next();
    return true;
}

void Blobs::suspend(const RunId& run) {
    m_owner.check();
    m_open.erase(run);
    for (auto it = m_entries.begin(); it != m_entries.end();) {
        Entry& entry = *it->second;
        const std::set<RunId>& runs = entry.index.runs;
        if (std::any_of(runs.begin(), runs.end(), [this](const RunId& each) { return m_open.contains(each); })) {
            ++it;
            continue;
        }
        m_bytes_down += entry.bytes_down;
        m_by_torrent.erase(entry.torrent);
        if (entry.state == Entry::State::complete) {
            m_engine.remove(entry.handle, Engine::Files::keep);
            m_index.push_back(std::move(entry.index));
        } else if (entry.handle.is_valid()) {
            save(entry);
            m_leaving.emplace(entry.torrent, entry.handle);
            m_deleting[entry.torrent];
        }
        it = m_entries.erase(it);
    }
}

void Blobs::tick(TimePoint now) {
    m_owner.check();
    if (now - m_saved_at < save_interval) return;
    m_saved_at = now;
    for (const auto& [key, entry] : m_entries) {
        if (entry->index.ref.size >= worth_saving_bytes) save(*entry);
    }
}

void Blobs::save_all() {
    m_owner.check();
    for (const auto& [key, entry] : m_entries) save(*entry);
}

}  // namespace potluck::net
