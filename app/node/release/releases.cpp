// Every wish runs through end(), which says how it went, to the caller and to all who read the status. A job of the
// worker owns copies of what it needs; what it returns is looked at on the loop's thread, while this object lives.
//
// An index that was accepted is kept as it came, with its signature, and is checked again at every start: the folder is
// no more believed than the web. Its serial number is what later ones are compared with.
//
// An installed pack is the archive's content below a folder that its hash names; the record that makes it count is
// written last, so that a power cut leaves either the old trainer or the new one.
#include "app/node/release/releases.h"

#include <chrono>
#include <system_error>
#include <utility>

#include <boost/asio/post.hpp>

#include "app/node/release/http_get.h"
#include "app/node/release/known_release.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/sha256.h"
#include "core/release/unpack.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;
using control::ReleaseStage;

constexpr const char* index_name = "releases.json";
constexpr const char* signature_suffix = ".minisig";
constexpr std::size_t torrent_bytes_max = 1 << 20;
constexpr std::uint64_t disk_reserve_bytes = 64ULL << 20U;
constexpr std::uint64_t hash_step = 1 << 20;

const Error no_key{ErrorCode::unavailable,
                   "This build has no release key, so it cannot tell whose downloads to believe; install the package "
                   "potluck-trainer, or name a key with --release-key."};

std::int64_t unix_now() {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string or_built_in(std::string given, const char* built_in) { return given.empty() ? built_in : std::move(given); }

Result<Digest> sha256_of(const fs::path& file, const std::stop_token& stop) {
    const auto map = MappedFile::open_read(file);
    if (!map) return map.error();
    Sha256 hash;
    const ByteSpan bytes = map->bytes();
    for (std::size_t at = 0; at < bytes.size(); at += hash_step) {
        if (stop.stop_requested()) return Error{ErrorCode::cancelled, "Installing was stopped; begin again."};
        hash.update(bytes.subspan(at, std::min<std::size_t>(hash_step, bytes.size() - at)));
    }
    return hash.finish();
}

Result<Bytes> read_near(const fs::path& file, std::size_t bytes_max) {
    auto bytes = read_file(file, bytes_max);
    if (bytes || bytes.error().code != ErrorCode::not_found) return bytes;
    return Error{ErrorCode::not_found, "There is no " + file.filename().string() + " in " +
                                           file.parent_path().string() +
                                           "; the signed index has to lie beside the pack."};
}

}  // namespace

Releases::Releases(boost::asio::io_context& loop, net::Session& network, Settings settings)
    : m_network(network),
      m_settings(std::move(settings)),
      m_worker([&loop, alive = m_alive](std::function<void()> done) {
          boost::asio::post(loop, [alive, done = std::move(done)] {
              if (*alive) done();
          });
      }) {
    m_settings.source.key = release_key_or_built_in(std::move(m_settings.source.key));
    m_settings.source.url = or_built_in(std::move(m_settings.source.url), POTLUCK_RELEASE_URL);
    m_installed = installed_pack(m_settings.data_folder, m_settings.computer.app);
    load_index();
}

Releases::~Releases() {
    *m_alive = false;
    m_worker.stop();
}

void Releases::load_index() {
    // It may have expired since; what was seen stays seen, or an older one would be accepted now.
    m_index = kept_index(m_settings.data_folder, m_settings.source.key);
}

Status Releases::may_begin() const {
    if (m_settings.source.key.empty()) return no_key;
    if (busy()) return Error{ErrorCode::already_exists, "A download is under way already; wait until it has ended."};
    return {};
}

Status Releases::accept(const Fetched& fetched) {
    const auto key = identity::MinisignKey::parse(m_settings.source.key);
    if (!key) return key.error();
    auto index = release::accept_index(*key, fetched.index, fetched.signature,
                                       {.serial = m_index ? m_index->serial : 0, .now = unix_now()});
    if (!index) return index.error();
    if (const Status kept = keep_index(m_settings.data_folder, fetched.index, fetched.signature); !kept) return kept;
    m_index = *std::move(index);
    // A pack may serve versions that came after it.
    for (const release::Pack& pack : m_index->packs) {
        if (m_installed && pack.sha256 == m_installed->pack.sha256 && pack != m_installed->pack)
            return record_pack(m_settings.data_folder, pack);
    }
    return {};
}

void Releases::fetch_index(Done done) {
    m_stage = ReleaseStage::checking;
    const auto work = [url = m_settings.source.url, proxy = m_settings.proxy,
                       stop = m_worker.stopping()]() -> Result<Fetched> {
        auto index = http_get(url, release::index_bytes_max, stop, proxy);
        if (!index) return index.error();
        const auto signature = http_get(url + signature_suffix, identity::minisign_bytes_max, stop, proxy);
        if (!signature) return signature.error();
        return Fetched{*std::move(index), std::string(as_text(*signature))};
    };
    m_worker.run(work, [this, done = std::move(done)](const Result<Fetched>& fetched) {
        done(fetched ? accept(*fetched) : Status(fetched.error()));
    });
}

Status Releases::check(Done done) {
    m_owner.check();
    if (const Status may = may_begin(); !may) return may;
    if (m_settings.source.url.empty()) {
        return Error{ErrorCode::unavailable,
                     "This build does not know where its releases are told; name a link with --release-url."};
    }
    m_done = std::move(done);
    m_error.clear();
    fetch_index([this](const Status& checked) { end(checked); });
    return {};
}

Result<release::Pack> Releases::choose(const std::string& kind) const {
    const auto packs = m_index ? packs_for(*m_index, m_settings.computer) : std::vector<release::Pack>();
    for (const release::Pack& pack : packs) {
        if (kind.empty() || kind == name_of(pack.kind)) return pack;
    }
    return Error{ErrorCode::not_found,
                 "There is no " + (kind.empty() ? std::string() : kind + " ") +
                     "trainer for this computer and this version of Potluck; see which there are with potluck-node "
                     "trainer list."};
}

Status Releases::room_for(const release::Pack& pack) const {
    const std::uint64_t needed = pack.size + pack.unpacked + disk_reserve_bytes;
    if (free_disk_bytes(m_settings.data_folder) >= needed) return {};
    return Error{ErrorCode::no_space, "The disk is too full for the trainer, which needs " +
                                          std::to_string(needed >> 20U) +
                                          " MiB while it is installed; free some space, then try again."};
}

Status Releases::install(const std::string& kind, Done done) {
    m_owner.check();
    if (const Status may = may_begin(); !may) return may;
    const auto begin = [this, kind] {
        const auto pack = choose(kind);
        if (!pack) return end(pack.error());
        if (const Status room = room_for(*pack); !room) return end(room);
        download(*pack);
    };
    m_error.clear();
    if (m_settings.source.url.empty()) {
        if (const auto pack = choose(kind); !pack) return pack.error();
        m_done = std::move(done);
        begin();
        return {};
    }
    m_done = std::move(done);
    fetch_index([this, begin](const Status& checked) {
        // Without the server the last index still counts, and the pack may come from peers alone.
        if (!checked && (!m_index || m_index->expires <= unix_now() || checked.error().code == ErrorCode::untrusted))
            return end(checked);
        begin();
    });
    return {};
}

void Releases::download(const release::Pack& pack) {
    m_stage = ReleaseStage::downloading;
    m_downloading = pack.root;
    if (pack.url.empty()) return fetch_archive(pack, {});
    const auto work = [url = pack.url + ".torrent", proxy = m_settings.proxy, stop = m_worker.stopping()] {
        return http_get(url, torrent_bytes_max, stop, proxy);
    };
    m_worker.run(work, [this, pack](Result<Bytes> torrent) {
        if (m_stage != ReleaseStage::downloading) return;  // it was given up
        if (!torrent) log::of("node").info("{}", torrent.error().message);
        fetch_archive(pack, torrent ? *std::move(torrent) : Bytes());
    });
}

void Releases::fetch_archive(const release::Pack& pack, Bytes torrent) {
    net::PublicFile file;
    file.ref = {.root = pack.root, .size = pack.size, .kind = run::BlobKind::open, .info_hash = pack.torrent};
    file.torrent = std::move(torrent);
    if (!pack.url.empty()) file.web_seeds.push_back(pack.url);
    m_network.fetch_file(std::move(file), [this, alive = m_alive, pack](const Result<fs::path>& archive) {
        if (!*alive) return;
        if (!archive) return end(archive.error());
        unpack(pack, *archive);
    });
}

void Releases::unpack(const release::Pack& pack, const fs::path& archive) {
    m_stage = ReleaseStage::unpacking;
    const fs::path place = pack_place(m_settings.data_folder, pack);
    const auto work = [pack, archive, place, stop = m_worker.stopping()]() -> Status {
        // Before a stranger's bytes are parsed; what is unpacked is hashed once more, for the file may be swapped by
        // then.
        const auto hash = sha256_of(archive, stop);
        if (!hash) return hash.error();
        if (*hash != pack.sha256) {
            return Error{ErrorCode::untrusted,
                         archive.filename().string() + " is not the pack that was signed for; download it again."};
        }
        if (Status unpacked = release::unpack(archive, place, {pack.unpacked, pack.files, pack.sha256}, stop);
            !unpacked)
            return unpacked;
        std::error_code missing;
        if (fs::exists(trainer_in(place), missing)) return {};
        return Error{ErrorCode::malformed, "There is no trainer in " + pack.name + "; ask its maker."};
    };
    m_worker.run(work, [this, pack](const Status& unpacked) {
        if (!unpacked) return end(unpacked);
        if (const Status recorded = record_pack(m_settings.data_folder, pack); !recorded) return end(recorded);
        m_installed = installed_pack(m_settings.data_folder, m_settings.computer.app);
        end({});
    });
}

Status Releases::install_file(const fs::path& archive, Done done) {
    m_owner.check();
    if (const Status may = may_begin(); !may) return may;
    const fs::path index_file = archive.parent_path() / index_name;
    auto index = read_near(index_file, release::index_bytes_max);
    if (!index) return index.error();
    const auto signature = read_near(index_file.string() + signature_suffix, identity::minisign_bytes_max);
    if (!signature) return signature.error();
    if (const Status accepted = accept({*std::move(index), std::string(as_text(*signature))}); !accepted)
        return accepted;
    for (const release::Pack& pack : packs_for(*m_index, m_settings.computer)) {
        if (pack.name != archive.filename().string()) continue;
        if (const Status room = room_for(pack); !room) return room;
        m_done = std::move(done);
        m_error.clear();
        unpack(pack, archive);
        return {};
    }
    return Error{ErrorCode::not_found, "The signed index names no pack " + archive.filename().string() +
                                           " for this computer and this version of Potluck."};
}

Status Releases::remove() {
    m_owner.check();
    if (m_stage == ReleaseStage::downloading) {
        m_network.forget_file(*m_downloading);
        end(Error{ErrorCode::cancelled, "The download was given up."});
        return {};
    }
    if (busy()) return Error{ErrorCode::already_exists, "A pack is being unpacked; wait until that has ended."};
    if (!m_installed) return Error{ErrorCode::not_found, "No downloaded trainer is installed."};
    m_network.forget_file(m_installed->pack.root);
    m_installed.reset();
    return remove_packs(m_settings.data_folder);
}

void Releases::pass_on(bool wanted) {
    m_owner.check();
    m_passes_on = wanted;
    if (wanted) {
        m_network.share_files();
    } else if (m_installed && !busy()) {
        m_network.forget_file(m_installed->pack.root);
    }
}

void Releases::end(const Status& outcome) {
    m_stage = ReleaseStage::none;
    m_error = outcome ? "" : outcome.error().message;
    if (m_downloading && outcome && !m_passes_on) m_network.forget_file(*m_downloading);
    m_downloading.reset();
    if (!outcome) log::of("node").warn("{}", m_error);
    if (const Done done = std::exchange(m_done, nullptr)) done(outcome);
}

std::optional<release::Version> Releases::version_for(std::uint32_t protocol) const {
    std::optional<release::Version> oldest;
    for (const release::Release& each : m_index ? m_index->releases : std::vector<release::Release>()) {
        if (each.protocol == protocol && (!oldest || each.version < *oldest)) oldest = each.version;
    }
    return oldest;
}

fs::path Releases::trainer() const { return m_installed ? m_installed->trainer : fs::path(); }

std::int64_t Releases::checked() const {
    const auto kept = kept_at(m_settings.data_folder);
    if (!kept) return 0;
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(fs::file_time_type::clock::now() - *kept);
    return unix_now() - age.count();
}

control::ReleaseState Releases::view() const {
    m_owner.check();
    control::ReleaseState state;
    state.has_key = !m_settings.source.key.empty();
    state.installed = m_installed ? name_of(m_installed->pack.kind) : "";
    state.has_trainer = m_installed.has_value();
    state.passes_on = m_passes_on;
    state.stage = m_stage;
    state.error = m_error;
    if (m_stage == ReleaseStage::downloading && m_downloading) state.progress = m_network.file_progress(*m_downloading);
    if (!m_index) return state;
    for (const release::Pack& pack : packs_for(*m_index, m_settings.computer)) {
        if (state.packs.size() < control::packs_max)
            state.packs.push_back({pack.name, name_of(pack.kind), pack.magnet, pack.size, pack.unpacked});
    }
    state.newer = newer_than(*m_index, m_settings.computer.app);
    return state;
}

}  // namespace potluck::node
