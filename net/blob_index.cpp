#include "net/blob_index.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>

#include <libtorrent/bdecode.hpp>
#include <libtorrent/bencode.hpp>
#include <libtorrent/entry.hpp>

#include "core/base/files.h"
#include "core/base/log.h"

namespace potluck::net {

namespace {

namespace fs = std::filesystem;

constexpr int depth_max = 8;
constexpr int tokens_max = 4'096;

std::string stem(const run::BlobRef& ref) {
    return ref.root.hex() + (ref.kind == run::BlobKind::open ? "-open" : "-plain");
}

template <class Id>
bool read_id(const lt::bdecode_node& field, Id& out) {
    if (!field || field.type() != lt::bdecode_node::string_t || field.string_length() != 32) return false;
    const ByteSpan bytes = as_bytes({field.string_ptr(), 32});
    std::copy(bytes.begin(), bytes.end(), out.bytes.begin());
    return true;
}

bool read_runs(const lt::bdecode_node& list, IndexEntry& entry) {
    if (!list || list.list_size() > static_cast<int>(index_runs_max)) return false;
    for (int i = 0; i < list.list_size(); ++i) {
        RunId run;
        if (!read_id(list.list_at(i), run)) return false;
        entry.runs.insert(run);
    }
    return true;
}

std::optional<IndexEntry> parse(ByteSpan bytes) {
    lt::error_code failure;
    int position = 0;
    const std::string_view text = as_text(bytes);
    const lt::bdecode_node root =
        lt::bdecode({text.data(), static_cast<std::ptrdiff_t>(text.size())}, failure, &position, depth_max, tokens_max);
    if (failure || root.type() != lt::bdecode_node::dict_t) return std::nullopt;
    const lt::bdecode_node ref = root.dict_find_string("ref");
    const lt::bdecode_node info = root.dict_find_string("info");
    const lt::bdecode_node layer = root.dict_find_string("layer");
    const lt::bdecode_node file = root.dict_find_string("file");
    if (!ref || !info || !layer || !file || layer.string_length() % 32 != 0) return std::nullopt;

    IndexEntry entry;
    const std::string_view ref_text(ref.string_ptr(), static_cast<std::size_t>(ref.string_length()));
    ByteReader reader(as_bytes(ref_text));
    entry.ref = run::BlobRef::read(reader);
    if (!reader.finished() || !read_runs(root.dict_find_list("runs"), entry)) return std::nullopt;
    entry.file = std::string(file.string_ptr(), static_cast<std::size_t>(file.string_length()));
    entry.keeping = root.dict_find_int_value("stored", 0) != 0 ? Storage::stored : Storage::in_place;
    entry.changed = root.dict_find_int_value("changed", 0);
    const ByteSpan info_bytes = as_bytes({info.string_ptr(), static_cast<std::size_t>(info.string_length())});
    entry.info.assign(info_bytes.begin(), info_bytes.end());
    ByteReader hashes(as_bytes({layer.string_ptr(), static_cast<std::size_t>(layer.string_length())}));
    while (hashes.remaining() > 0) hashes.array(entry.layer.emplace_back().bytes);
    return entry;
}

void sweep(const fs::path& folder, const std::set<fs::path>& wanted) {
    std::error_code failure;
    for (const fs::directory_entry& each : fs::directory_iterator(folder, failure)) {
        if (wanted.contains(each.path().filename())) continue;
        log::of("net").info("removing {} that no blob claims", each.path().filename().string());
        fs::remove(each.path(), failure);
    }
}

}  // namespace

fs::path index_path(const fs::path& folder, const run::BlobRef& ref) { return folder / (stem(ref) + ".blob"); }
fs::path published_path(const fs::path& folder, const BlobId& root) { return folder / root.hex(); }
fs::path fetched_path(const fs::path& folder, const run::BlobRef& ref) { return folder / (stem(ref) + ".fetched"); }
fs::path resume_path(const fs::path& folder, const run::BlobRef& ref) { return folder / (stem(ref) + ".resume"); }

std::int64_t change_time(const fs::path& file) {
    std::error_code failure;
    const fs::file_time_type time = fs::last_write_time(file, failure);
    return failure ? 0 : static_cast<std::int64_t>(time.time_since_epoch().count());
}

Status write_index(const fs::path& folder, const IndexEntry& entry) {
    lt::entry root(lt::entry::dictionary_t);
    ByteWriter ref;
    entry.ref.write(ref);
    root["ref"] = std::string(as_text(ref.bytes()));
    lt::entry::list_type runs;
    for (const RunId& run : entry.runs) runs.emplace_back(std::string(as_text(run.bytes)));
    root["runs"] = runs;
    root["file"] = entry.file.string();
    root["stored"] = std::int64_t{entry.keeping == Storage::stored ? 1 : 0};
    root["changed"] = entry.changed;
    root["info"] = std::string(as_text(entry.info));
    std::string layer;
    for (const Digest& hash : entry.layer) layer += as_text(hash.bytes);
    root["layer"] = std::move(layer);
    std::string text;
    lt::bencode(std::back_inserter(text), root);
    return write_file_atomically(index_path(folder, entry.ref), as_bytes(text));
}

std::vector<IndexEntry> read_index(const fs::path& folder) {
    std::vector<IndexEntry> entries;
    std::set<fs::path> wanted;
    std::error_code failure;
    for (const fs::directory_entry& each : fs::directory_iterator(folder, failure)) {
        const fs::path name = each.path().filename();
        if (name.extension() == ".resume") {
            wanted.insert(name);
            wanted.insert(fs::path(name).replace_extension(".fetched"));
        }
        if (name.extension() != ".blob") continue;
        const Result<Bytes> bytes = read_file(each.path(), index_file_bytes_max);
        std::optional<IndexEntry> entry = bytes.ok() ? parse(*bytes) : std::nullopt;
        std::error_code missing;
        if (!entry || fs::file_size(entry->file, missing) != entry->ref.size || missing) continue;
        wanted.insert(name);
        if (entry->keeping == Storage::stored) wanted.insert(entry->file.filename());
        entries.push_back(std::move(*entry));
    }
    sweep(folder, wanted);
    return entries;
}

}  // namespace potluck::net
