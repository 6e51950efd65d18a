#include "app/node/cli/news_text.h"

#include "core/base/log.h"
#include "core/release/release_index.h"

namespace potluck::node {

std::string news_text(const control::NewerRelease& newer) {
    const std::string page = log::printable(newer.page, release::url_bytes_max);
    return "Potluck " + log::printable(newer.version) + " is out (" + log::printable(newer.date) +
           "): " + log::printable(newer.notes, release::notes_bytes_max) + "\n" + (page.empty() ? "" : page + "\n");
}

}  // namespace potluck::node
