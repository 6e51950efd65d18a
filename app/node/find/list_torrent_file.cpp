#include "app/node/find/list_torrent_file.h"

#include "app/node/find/followed_lists.h"
#include "core/base/files.h"
#include "net/blob_torrent.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

fs::path behind(const fs::path& file, std::string_view suffix) { return file.string() + std::string(suffix); }

}  // namespace

Result<find::ListTorrent> write_list_torrent(const fs::path& list, const std::string& place) {
    const auto text = read_file(list, find::list_bytes_max);
    if (!text) return text.error();
    const auto signature = read_file(behind(list, list_signature_suffix), identity::minisign_bytes_max);
    if (!signature) return signature.error();
    const std::string whole = find::SignedList{std::string(as_text(*signature)), std::string(as_text(*text))}.to_file();
    const auto hashes = net::hash_content(as_bytes(whole), run::BlobKind::open, {});
    if (!hashes) return hashes.error();
    const fs::path file = behind(list, signed_list_suffix);
    const net::InfoDict info = net::open_info(file.filename().string(), hashes->root, whole.size(), hashes->pieces);
    find::ListTorrent torrent;
    torrent.file = {
        .root = hashes->root, .size = whole.size(), .kind = run::BlobKind::open, .info_hash = info.info_hash};
    torrent.web_seed = place + std::string(signed_list_suffix);
    if (const auto read = find::ListTorrent::parse(torrent.to_magnet()); !read) return read.error();
    if (Status written = write_file_atomically(file, as_bytes(whole)); !written) return written.error();
    const Bytes description = net::torrent_file(info.bytes, hashes->root, hashes->layer);
    if (Status written = write_file_atomically(behind(file, list_torrent_suffix), description); !written)
        return written.error();
    return torrent;
}

}  // namespace potluck::node
