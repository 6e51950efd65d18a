#include "app/node/session/replace_identity.h"

#include <string>
#include <system_error>

#include "core/base/clock.h"
#include "core/base/files.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr int names_tried_max = 100;  // for the old key, within one second

/// Links `own` to a second name that is free.
Status keep_beside(const fs::path& own) {
    const std::string stem = "identity-before-" + std::to_string(unix_seconds());
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

}  // namespace

Status replace_identity(const fs::path& data_folder, const identity::Identity& imported) {
    const fs::path own = data_folder / "identity.key";
    const fs::path fresh = data_folder / "identity-new.key";
    std::error_code failed;
    fs::remove(fresh, failed);
    if (Status saved = imported.save(fresh); !saved) return saved;
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

}  // namespace potluck::node
