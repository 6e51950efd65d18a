// The disk that blobs may take. A blob is counted from the moment it is asked for, at its full size, so that fetches
// under way cannot pass the quota together. Which blobs make room is decided in core/run/blob_quota.h.
#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/check.h"
#include "core/base/files.h"
#include "net/blob_entry.h"

namespace potluck::net {

std::uint64_t Blobs::bytes_stored() const {
    m_owner.check();
    std::uint64_t bytes = 0;
    for (const auto& [key, entry] : m_entries) {
        if (entry->index.keeping == Storage::stored) bytes += entry->index.ref.size;
    }
    for (const IndexEntry& index : m_index) {
        if (index.keeping == Storage::stored) bytes += index.ref.size;
    }
    return bytes;
}

std::uint64_t Blobs::bytes_left_by(const RunId& run) const {
    m_owner.check();
    std::uint64_t bytes = 0;
    for (const IndexEntry& index : m_index) {
        const bool only_its = index.runs.size() == 1 && index.runs.contains(run);
        if (only_its && index.keeping == Storage::stored) bytes += index.ref.size;
    }
    return bytes;
}

void Blobs::forget_run(const RunId& run) {
    m_owner.check();
    POTLUCK_CHECK(!m_open.contains(run));
    for (const auto& [key, entry] : m_entries) {
        if (entry->index.runs.erase(run) == 1 && entry->state == Entry::State::complete) write_index_later(*entry);
    }
    for (auto it = m_index.begin(); it != m_index.end();) {
        const bool was_its = it->runs.erase(run) == 1, is_last = was_its && it->runs.empty();
        if (is_last) {
            discard(*it);
        } else if (was_its) {
            write_index_later(*it);
        }
        it = is_last ? m_index.erase(it) : it + 1;
    }
}

std::uint64_t Blobs::room() const {
    m_owner.check();
    std::uint64_t kept = 0;
    for (const auto& [key, entry] : m_entries) {
        const bool stays = entry->retention == run::Retention::kept && entry->index.keeping == Storage::stored;
        if (stays) kept += entry->index.ref.size;
    }
    const std::uint64_t taken = bytes_to_come() + disk_reserve_bytes, free = free_disk_bytes(m_folder);
    return std::min(m_bytes_max > kept ? m_bytes_max - kept : 0, free > taken ? free - taken : 0);
}

std::uint64_t Blobs::bytes_to_come() const {
    double bytes = 0;
    for (const auto& [key, entry] : m_entries) {
        if (entry->state != Entry::State::complete) {
            bytes += static_cast<double>(entry->index.ref.size) * (1 - entry->reception.progress);
        }
    }
    return static_cast<std::uint64_t>(bytes);
}

void Blobs::retain(const BlobId& root, run::Retention retention) {
    m_owner.check();
    for (const auto& [key, entry] : m_entries) {
        if (key.first == root) raise(*entry, retention);
    }
}

/// What is no newcomer's any more may be fetched over as many connections as it takes.
void Blobs::raise(Entry& entry, run::Retention retention) {
    const bool was_limited = entry.retention == run::Retention::newcomer;
    entry.retention = std::max(entry.retention, retention);
    if (was_limited && entry.retention > run::Retention::newcomer && entry.handle.is_valid())
        entry.handle.set_max_connections(-1);
}

Status Blobs::make_room(std::uint64_t size, run::Retention retention) {
    std::vector<run::StoredBlob> stored;
    std::vector<std::variant<Key, run::BlobRef>> which;  // a blob in use, or one of a run that is not open
    for (const auto& [key, entry] : m_entries) {
        if (entry->index.keeping != Storage::stored) continue;
        stored.push_back(
            {entry->index.ref.size, entry->retention, entry->state == Entry::State::complete, entry->order});
        which.emplace_back(key);
    }
    for (const IndexEntry& index : m_index) {
        // A changed file may be fetched anew at this moment.
        if (index.keeping != Storage::stored || m_entries.contains({index.ref.root, index.ref.kind})) continue;
        stored.push_back({index.ref.size, run::Retention::left_behind, true, 0});
        which.emplace_back(index.ref);
    }
    const auto displaced = run::blobs_to_displace(stored, size, retention, m_bytes_max);
    if (retention == run::Retention::kept) note_refusal(size, displaced.has_value());
    if (!displaced) return quota_is_used_up();
    for (const std::size_t i : *displaced) {
        if (const Key* key = std::get_if<Key>(&which[i])) {
            displace(*m_entries.at(*key));
            continue;
        }
        const auto left = std::find_if(m_index.begin(), m_index.end(), [&](const IndexEntry& index) {
            return index.ref == std::get<run::BlobRef>(which[i]);
        });
        discard(*left);
        m_index.erase(left);
    }
    return {};
}

/// A smaller blob that fits says nothing about a larger one that did not.
void Blobs::note_refusal(std::uint64_t size, bool fits) {
    if (fits) {
        if (size >= m_refused.size) m_refused = {};
        return;
    }
    std::uint64_t kept = 0;
    for (const auto& [key, entry] : m_entries) {
        const bool stays = entry->retention == run::Retention::kept && entry->index.keeping == Storage::stored;
        if (stays) kept += entry->index.ref.size;
    }
    m_refused = {size, kept + size};
}

Error Blobs::quota_is_used_up() const {
    return {ErrorCode::no_space, "What members share with each other has used up the " +
                                     std::to_string(m_bytes_max >> 20U) +
                                     " MiB that it may take on this disk: allow more with --disk."};
}

/// `entry` is gone afterwards. A reader of a complete one goes on reading it; it is only not shared any more.
void Blobs::displace(Entry& entry) {
    if (entry.state != Entry::State::complete) return fail(entry, quota_is_used_up());
    remove_torrent(entry, Engine::Files::keep);
    const Key key = entry.key();
    discard(entry.index);
    m_entries.erase(key);
}

}  // namespace potluck::net
