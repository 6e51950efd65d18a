#include "app/node/release/known_release.h"

#include <utility>

#include "app/node/release/pack_folder.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/identity/minisign.h"

namespace potluck::node {

namespace fs = std::filesystem;

fs::path index_file(const fs::path& data_folder) { return packs_folder(data_folder) / "releases.json"; }

fs::path index_signature_file(const fs::path& data_folder) { return index_file(data_folder).string() + ".minisig"; }

std::optional<release::Index> kept_index(const fs::path& data_folder, const std::string& key) {
    const auto index = read_file(index_file(data_folder), release::index_bytes_max);
    const auto signature = read_file(index_signature_file(data_folder), identity::minisign_bytes_max);
    const auto parsed = identity::MinisignKey::parse(key);
    if (!index || !signature || !parsed) return std::nullopt;
    auto kept = release::accept_index(*parsed, *index, as_text(*signature), {});
    return kept ? std::optional(*std::move(kept)) : std::nullopt;
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
