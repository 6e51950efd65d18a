#include "app/node/release/known_release.h"

#include <charconv>
#include <system_error>
#include <utility>

#include "app/node/release/pack_folder.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/identity/minisign.h"

namespace potluck::node {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kept_begin = "potluck-index 1 ";
constexpr std::uint64_t kept_bytes_max = 64 + identity::minisign_bytes_max + release::index_bytes_max;

struct SignedIndex {
    std::string signature;
    Bytes index;
};

fs::path pair_index_file(const fs::path& data_folder) { return packs_folder(data_folder) / "releases.json"; }
fs::path pair_signature_file(const fs::path& data_folder) {
    return packs_folder(data_folder) / "releases.json.minisig";
}

std::optional<SignedIndex> read_kept(const fs::path& data_folder) {
    const auto file = read_file(kept_index_file(data_folder), kept_bytes_max);
    if (!file) return std::nullopt;
    std::string_view text = as_text(*file);
    if (!text.starts_with(kept_begin)) return std::nullopt;
    text.remove_prefix(kept_begin.size());
    const std::size_t line = text.find('\n');
    std::size_t length = 0;
    if (line == std::string_view::npos) return std::nullopt;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + line, length);
    text.remove_prefix(line + 1);
    if (failed != std::errc() || *end != '\n' || length > text.size()) return std::nullopt;
    const ByteSpan index = as_bytes(text.substr(length));
    return SignedIndex{std::string(text.substr(0, length)), {index.begin(), index.end()}};
}

std::optional<SignedIndex> read_pair(const fs::path& data_folder) {
    auto index = read_file(pair_index_file(data_folder), release::index_bytes_max);
    const auto signature = read_file(pair_signature_file(data_folder), identity::minisign_bytes_max);
    if (!index || !signature) return std::nullopt;
    return SignedIndex{std::string(as_text(*signature)), *std::move(index)};
}

}  // namespace

fs::path kept_index_file(const fs::path& data_folder) { return packs_folder(data_folder) / "releases.kept"; }

Status keep_index(const fs::path& data_folder, ByteSpan index, std::string_view signature) {
    const fs::path file = kept_index_file(data_folder);
    std::error_code failed;
    fs::create_directories(file.parent_path(), failed);
    std::string text = std::string(kept_begin) + std::to_string(signature.size()) + "\n";
    text += signature;
    text += as_text(index);
    if (Status kept = write_file_atomically(file, as_bytes(text)); !kept) return kept;
    fs::remove(pair_index_file(data_folder), failed);
    fs::remove(pair_signature_file(data_folder), failed);
    return {};
}

std::optional<fs::file_time_type> kept_at(const fs::path& data_folder) {
    for (const fs::path& file : {kept_index_file(data_folder), pair_index_file(data_folder)}) {
        std::error_code none;
        const auto written = fs::last_write_time(file, none);
        if (!none) return written;
    }
    return std::nullopt;
}

std::optional<release::Index> kept_index(const fs::path& data_folder, const std::string& key) {
    const auto parsed = identity::MinisignKey::parse(key);
    if (!parsed) return std::nullopt;
    for (const auto& read : {&read_kept, &read_pair}) {
        const auto found = read(data_folder);
        if (!found) continue;
        auto kept = release::accept_index(*parsed, found->index, found->signature, {});
        if (kept) return *std::move(kept);
    }
    return std::nullopt;
}

std::string release_key_or_built_in(std::string key) { return key.empty() ? POTLUCK_RELEASE_KEY : std::move(key); }

std::optional<control::NewerRelease> newer_than(const release::Index& index, const release::Version& own) {
    const release::Release* newer = newer_release(index, own);
    if (newer == nullptr) return std::nullopt;
    return control::NewerRelease{newer->version.text(), newer->date, newer->notes, newer->page};
}

std::optional<control::NewerRelease> known_newer(const fs::path& data_folder, const std::string& key) {
    const auto index = kept_index(data_folder, release_key_or_built_in(key));
    return index ? newer_than(*index, own_version()) : std::nullopt;
}

}  // namespace potluck::node
