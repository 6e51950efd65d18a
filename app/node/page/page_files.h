// A page as files in a folder that a web server serves: what the program brings along, then index.html, each replaced
// whole. Who fetches the page at any moment gets one of two whole pages.
// Threads: any one at a time for a folder.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/result.h"

namespace potluck::node {

struct PageAsset {
    std::string_view name, content;
};
/// Style, script and icon.
extern const std::array<PageAsset, 3> page_assets;

/// Makes the folder if it is missing. Files that are there already with the same content are left alone. `picture` is a
/// PNG of the run for chats (page_picture.h).
[[nodiscard]] Status write_page(const std::filesystem::path& folder, const std::string& html, ByteSpan picture);

}  // namespace potluck::node
