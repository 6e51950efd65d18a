#include "net/blob_torrent.h"

#include <algorithm>
#include <iterator>

#include <libtorrent/bencode.hpp>
#include <libtorrent/entry.hpp>
#include <libtorrent/hasher.hpp>

#include "core/base/check.h"
#include "core/base/merkle.h"
#include "core/base/sha256.h"
#include "core/peer/seams/swarm.h"

namespace potluck::net {

namespace {

constexpr std::size_t name_bytes_max = 120;
/// Hashed between two looks at the stop token: a tenth of a second or less.
constexpr std::size_t slice_bytes = 64 * 1024 * 1024;

std::string text_of(ByteSpan bytes) { return std::string(as_text(bytes)); }

Bytes encoded(const lt::entry& value) {
    std::string text;
    lt::bencode(std::back_inserter(text), value);
    const ByteSpan bytes = as_bytes(text);
    return {bytes.begin(), bytes.end()};
}

lt::entry v2_info(std::string_view name, const BlobId& root, std::uint64_t size) {
    POTLUCK_CHECK(size > 0 && size <= run::blob_bytes_max);
    lt::entry file(lt::entry::dictionary_t);
    file["length"] = static_cast<std::int64_t>(size);
    file["pieces root"] = text_of(root.bytes);
    lt::entry info(lt::entry::dictionary_t);
    info["file tree"][std::string(name)][""] = file;
    info["meta version"] = std::int64_t{2};
    info["name"] = std::string(name);
    info["piece length"] = static_cast<std::int64_t>(peer::piece_size_of(size));
    return info;
}

InfoDict finished(const lt::entry& info) {
    InfoDict dict{.bytes = encoded(info), .info_hash = {}};
    dict.info_hash = sha256(dict.bytes);
    return dict;
}

void append_sha1(ByteSpan slice, std::size_t piece, std::vector<Sha1>& out) {
    for (std::size_t at = 0; at < slice.size(); at += piece) {
        const std::string_view part = as_text(slice.subspan(at, std::min(piece, slice.size() - at)));
        const lt::sha1_hash hash = lt::hasher(part.data(), static_cast<int>(part.size())).final();
        Sha1& copy = out.emplace_back();
        std::copy_n(reinterpret_cast<const std::byte*>(hash.data()), copy.size(), copy.begin());
    }
}

}  // namespace

InfoDict plain_info(const BlobId& root, std::uint64_t size) { return finished(v2_info("blob", root, size)); }

InfoDict manifest_info(const BlobId& root, std::uint64_t size) {
    return finished(v2_info("manifest.potluck", root, size));
}

RunId run_of_manifest(ByteSpan file) { return RunId{manifest_info(merkle_root(file), file.size()).info_hash.bytes}; }

InfoDict open_info(std::string_view name, const BlobId& root, std::uint64_t size, std::span<const Sha1> pieces) {
    lt::entry info = v2_info(harmless_name(name), root, size);
    std::string hashes;
    hashes.reserve(pieces.size() * sizeof(Sha1));
    for (const Sha1& piece : pieces) hashes += as_text(piece);
    info["length"] = static_cast<std::int64_t>(size);
    info["pieces"] = std::move(hashes);
    return finished(info);
}

Sha1 v1_hash(ByteSpan info) {
    std::vector<Sha1> hashes;
    append_sha1(info, info.size(), hashes);
    return hashes.front();
}

std::string harmless_name(std::string_view name) {
    std::string harmless(name.substr(0, name_bytes_max));
    const auto harmful = [](char letter) {
        const auto code = static_cast<unsigned char>(letter);
        return code < 0x20 || code >= 0x7f || std::string_view("/\\:*?\"<>|").find(letter) != std::string_view::npos;
    };
    std::replace_if(harmless.begin(), harmless.end(), harmful, '_');
    if (harmless.empty()) return "blob";
    if (harmless.front() == '.' || harmless.front() == ' ') harmless.front() = '_';
    if (harmless.back() == '.' || harmless.back() == ' ') harmless.back() = '_';
    return harmless;
}

Bytes torrent_file(ByteSpan info, const BlobId& root, std::span<const Digest> layer) {
    lt::entry file(lt::entry::dictionary_t);
    const std::string_view text = as_text(info);
    // The dictionary goes in as it stands: encoding it again might change its bytes and with them the info-hash.
    file["info"] = lt::entry::preformatted_type(text.begin(), text.end());
    if (!layer.empty()) {
        std::string hashes;
        hashes.reserve(layer.size() * 32);
        for (const Digest& hash : layer) hashes += as_text(hash.bytes);
        file["piece layers"][text_of(root.bytes)] = std::move(hashes);
    }
    return encoded(file);
}

Result<ContentHashes> hash_content(ByteSpan content, run::BlobKind kind, const std::stop_token& stop) {
    POTLUCK_CHECK(!content.empty());
    const auto piece = static_cast<std::size_t>(peer::piece_size_of(content.size()));
    const std::size_t step = std::max(piece, slice_bytes / piece * piece);
    ContentHashes hashes;
    for (std::size_t at = 0; at < content.size(); at += step) {
        if (stop.stop_requested())
            return Error{ErrorCode::cancelled, "The file was not shared because Potluck is closing."};
        const ByteSpan slice = content.subspan(at, std::min(step, content.size() - at));
        if (content.size() <= piece) {
            hashes.root = merkle_root(slice);
        } else if (slice.size() <= piece) {
            hashes.layer.push_back(merkle_last_piece(merkle_root(slice), slice.size(), piece));
        } else {
            const std::vector<Digest> part = merkle_layer(slice, piece);
            hashes.layer.insert(hashes.layer.end(), part.begin(), part.end());
        }
        if (kind == run::BlobKind::open) append_sha1(slice, piece, hashes.pieces);
    }
    if (!hashes.layer.empty()) hashes.root = root_of_layer(hashes.layer, content.size());
    return hashes;
}

BlobId root_of_layer(std::span<const Digest> layer, std::uint64_t size) {
    return merkle_root_of_layer(layer, size, peer::piece_size_of(size));
}

}  // namespace potluck::net
