// The lists of a run out of its ledger, a page at a time, so that a long history never lies in memory whole.
// Threads: the ledger's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/ledger/ledger.h"

namespace potluck::node {

inline constexpr std::size_t lists_per_page = 64;  // so many of the longest are 50 MB

/// Calls `take` for L[first] .. L[end - 1] until it returns false; false then, or if the ledger holds fewer.
template <class Take>
[[nodiscard]] bool each_list(const ledger::Ledger& ledger, const RunId& run, RoundId first, RoundId end,
                             const Take& take) {
    while (first < end) {
        const std::uint64_t most = std::min<std::uint64_t>(lists_per_page, end.value - first.value);
        const auto page = ledger.lists(run, first, static_cast<std::size_t>(most));
        if (page.empty() || !std::all_of(page.begin(), page.end(), take)) return false;
        first.value += page.size();
    }
    return true;
}

}  // namespace potluck::node
