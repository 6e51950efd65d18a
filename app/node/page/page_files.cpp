#include "app/node/page/page_files.h"

#include <algorithm>
#include <system_error>

#include "app/node/page/page_picture.h"
#include "core/base/files.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

Status replace_if_other(const fs::path& file, ByteSpan content) {
    const auto there = read_file(file, content.size());
    if (there && std::equal(there->begin(), there->end(), content.begin(), content.end())) return {};
    return write_file_atomically(file, content);
}

}  // namespace

Status write_page(const fs::path& folder, const std::string& html, ByteSpan picture) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) {
        return Error{ErrorCode::permission,
                     "The folder " + folder.string() + " cannot be made (" + failed.message() + ")."};
    }
    for (const PageAsset& asset : page_assets) {
        if (Status written = replace_if_other(folder / asset.name, as_bytes(asset.content)); !written) return written;
    }
    if (Status written = replace_if_other(folder / page_picture_name, picture); !written) return written;
    return write_file_atomically(folder / "index.html", as_bytes(html));
}

}  // namespace potluck::node
