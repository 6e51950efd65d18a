#include "app/node/release/index_maker.h"

#include <algorithm>
#include <chrono>
#include <regex>

#include "app/node/release/pack_folder.h"
#include "core/base/files.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/release/unpack.h"
#include "core/run/manifest.h"
#include "net/blob_torrent.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t seconds_per_day = 86'400;

std::string date_text(std::int64_t now) {
    const std::chrono::year_month_day day(
        std::chrono::floor<std::chrono::days>(std::chrono::system_clock::time_point(std::chrono::seconds(now))));
    return formatted("%04d-%02u-%02u", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                     static_cast<unsigned>(day.day()));
}

std::string magnet_of(const release::Pack& pack, const net::Sha1& v1) {
    std::string link =
        "magnet:?xt=urn:btih:" + to_hex(v1) + "&xt=urn:btmh:1220" + pack.torrent.hex() + "&dn=" + pack.name;
    if (!pack.url.empty()) link += "&ws=" + percent_encoded(pack.url);
    return link;
}

/// Everything that follows from the archive's bytes.
Status describe(const fs::path& file, release::Pack& pack) {
    const auto contents = release::contents_of(file);
    if (!contents) return contents.error();
    const auto map = MappedFile::open_read(file);
    if (!map) return map.error();
    const auto hashes = net::hash_content(map->bytes(), run::BlobKind::open, {});
    if (!hashes) return hashes.error();
    const net::InfoDict info = net::open_info(pack.name, hashes->root, map->bytes().size(), hashes->pieces);
    pack.size = map->bytes().size();
    pack.unpacked = std::max<std::uint64_t>(1, contents->bytes);
    pack.files = contents->files;
    pack.sha256 = sha256(map->bytes());
    pack.root = hashes->root;
    pack.torrent = info.info_hash;
    pack.magnet = magnet_of(pack, net::v1_hash(info.bytes));
    return write_file_atomically(file.string() + ".torrent",
                                 net::torrent_file(info.bytes, hashes->root, hashes->layer));
}

Result<std::vector<release::Pack>> packs_in(const IndexPlan& plan) {
    static const std::regex pattern("potluck-trainer-([0-9.]+)-([a-z]+)-([a-z0-9_]+)-(cpu|cuda|rocm)\\.tar\\.(xz|zst)");
    std::vector<release::Pack> packs;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(plan.folder, failed)) {
        const std::string name = entry.path().filename().string();
        std::smatch parts;
        if (!std::regex_match(name, parts, pattern)) continue;
        const auto version = release::Version::parse(parts[1].str());
        if (!version) continue;
        release::Pack pack;
        pack.name = name;
        pack.apps = {*version};
        pack.system = parts[2].str();
        pack.architecture = parts[3].str();
        pack.kind = release::pack_kind_of(parts[4].str()).value_or(release::PackKind::cpu);
        pack.driver_min = pack.kind == release::PackKind::cuda ? plan.driver_min : 0;
        if (!plan.url.empty()) pack.url = plan.url + (plan.url.ends_with('/') ? "" : "/") + name;
        if (const Status described = describe(entry.path(), pack); !described) return described.error();
        packs.push_back(std::move(pack));
    }
    if (failed) return Error{ErrorCode::not_found, "There is no folder " + plan.folder.string() + "; name another."};
    std::ranges::sort(packs, {}, &release::Pack::name);
    return packs;
}

}  // namespace

Result<release::Index> make_index(const IndexPlan& plan, std::int64_t now) {
    release::Index index{.serial = plan.serial,
                         .issued = now,
                         .expires = now + plan.days * seconds_per_day,
                         .releases = {},
                         .packs = {}};
    auto packs = packs_in(plan);
    if (!packs) return packs.error();
    index.packs = *std::move(packs);
    if (!plan.notes.empty()) {
        const auto notes = read_file(plan.notes, release::notes_bytes_max);
        if (!notes) return notes.error();
        std::string text(as_text(*notes));
        while (!text.empty() && text.back() == '\n') text.pop_back();
        index.releases.push_back({own_version(), date_text(now), run::protocol_version(), text, plan.page});
    }
    const std::string text = index.to_text();
    const auto sound = release::Index::parse(text);
    if (!sound) return sound.error();
    if (const Status written = write_file_atomically(plan.folder / "releases.json", as_bytes(text)); !written)
        return written.error();
    return index;
}

}  // namespace potluck::node
