#include "core/run/blob_quota.h"

#include <algorithm>
#include <tuple>

namespace potluck::run {

std::optional<std::vector<std::size_t>> blobs_to_displace(std::span<const StoredBlob> stored, std::uint64_t size,
                                                          Retention wanted, std::uint64_t bytes_max) {
    std::uint64_t bytes = size;
    std::vector<std::size_t> below;
    for (std::size_t i = 0; i < stored.size(); ++i) {
        bytes += stored[i].size;
        if (stored[i].retention < wanted) below.push_back(i);
    }
    std::sort(below.begin(), below.end(), [&](std::size_t a, std::size_t b) {
        return std::tuple(stored[a].retention, stored[a].complete, stored[b].order) <
               std::tuple(stored[b].retention, stored[b].complete, stored[a].order);
    });
    std::vector<std::size_t> displaced;
    for (std::size_t i = 0; i < below.size() && bytes > bytes_max; ++i) {
        bytes -= stored[below[i]].size;
        displaced.push_back(below[i]);
    }
    if (bytes > bytes_max) return std::nullopt;
    return displaced;
}

}  // namespace potluck::run
