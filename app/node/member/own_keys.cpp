#include "app/node/member/own_keys.h"

#include <string>
#include <system_error>
#include <utility>

#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/run/agreement/keyring.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr int names_tried_max = 100;  // for the old key, within one second

/// Links `own` to a second name that is free.
Status keep_beside(const fs::path& own) {
    const std::string stem = own.stem().string() + "-before-" + std::to_string(unix_seconds());
    std::error_code failed;
    for (int n = 0; n < names_tried_max; ++n) {
        fs::path kept = own.parent_path() / stem;
        if (n > 0) kept += std::string(static_cast<std::size_t>(n), '+');
        kept += ".key";
        if (fs::exists(kept, failed)) continue;
        fs::create_hard_link(own, kept, failed);
        if (failed) fs::copy_file(own, kept, failed);  // some file systems have no hard links
        if (!failed) return sync_file(kept);
        break;
    }
    return Error{ErrorCode::io, own.string() + " cannot be kept under another name (" + failed.message() + ")."};
}

/// Puts `fresh` in the place of the key `own`, which is kept.
Status replace_key(const fs::path& own, const identity::Identity& key) {
    const fs::path fresh = own.parent_path() / (own.stem().string() + "-new.key");
    std::error_code failed;
    fs::remove(fresh, failed);
    if (Status saved = key.save(fresh); !saved) return saved;
    if (fs::exists(own, failed)) {
        if (Status kept = keep_beside(own); !kept) {
            fs::remove(fresh, failed);
            return kept;
        }
    }
    fs::rename(fresh, own, failed);
    if (!failed) return sync_file(own);
    const std::string why = failed.message();
    fs::remove(fresh, failed);
    return Error{ErrorCode::io, own.string() + " cannot be replaced (" + why + ")."};
}

/// The keys around a person's that was opened.
Result<OwnKeys> with_computer(Result<identity::Identity> person, const fs::path& data_folder) {
    if (!person) return person.error();
    auto computer = identity::Identity::open(data_folder / "computer.key");
    if (!computer && computer.error().code != ErrorCode::not_found) return computer.error();
    OwnKeys keys{std::move(*person)};
    if (computer) keys.computer.emplace(std::move(*computer));
    return keys;
}

}  // namespace

run::Device OwnKeys::device() const {
    if (!computer) return {person.id()};
    return {computer->id(), run::certify(person, computer->id())};
}

Result<OwnKeys> OwnKeys::open_or_create(const fs::path& data_folder) {
    return with_computer(identity::Identity::open_or_create(data_folder / "identity.key"), data_folder);
}

Result<OwnKeys> OwnKeys::open(const fs::path& data_folder) {
    return with_computer(identity::Identity::open(data_folder / "identity.key"), data_folder);
}

/// The computer's key first: with the imported key and none of its own this computer would be taken for the one that
/// the key came from.
Status replace_identity(const fs::path& data_folder, const identity::Identity& imported) {
    if (Status made = replace_key(data_folder / "computer.key", identity::Identity::generate()); !made) return made;
    return replace_key(data_folder / "identity.key", imported);
}

}  // namespace potluck::node
