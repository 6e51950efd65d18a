#include "app/node/find/built_in_list.h"

#include <string>

namespace potluck::node {

std::optional<find::ListLink> list_of(std::string_view key, std::string_view source) {
    if (key.empty()) return std::nullopt;
    const auto link = find::ListLink::parse(std::string(source) + " " + std::string(key));
    return link ? std::optional(*link) : std::nullopt;
}

std::optional<find::ListLink> built_in_list() { return list_of(POTLUCK_LIST_KEY, POTLUCK_LIST_URL); }

}  // namespace potluck::node
