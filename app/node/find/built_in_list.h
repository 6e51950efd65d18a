// The list of runs that this build follows unless its owner leaves it, as its maker chose at configure time
// (POTLUCK_LIST_KEY and POTLUCK_LIST_URL). It is privileged over no other list.
// Threads: functions of values.
#pragma once

#include <optional>
#include <string_view>

#include "core/find/run_list.h"

namespace potluck::node {

/// Nothing without a key, or where key and source are not those of a list.
[[nodiscard]] std::optional<find::ListLink> list_of(std::string_view key, std::string_view source);
[[nodiscard]] std::optional<find::ListLink> built_in_list();

}  // namespace potluck::node
