// Shares independent pieces of work among threads. Which thread does which piece never shows in a result.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "core/numerics/rounding.h"

namespace potluck::numerics {

/// Calls `make_worker()` once per thread, and the callable it returns for every piece 0..count-1 that this thread
/// takes. The caller's thread takes part; all rounding is exact inside.
template <class MakeWorker>
void share_out(std::size_t count, unsigned threads, const MakeWorker& make_worker) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        const RoundingGuard guard;
        auto worker = make_worker();
        for (std::size_t piece = next.fetch_add(1); piece < count; piece = next.fetch_add(1)) worker(piece);
    };
    const std::size_t helpers = std::min<std::size_t>(std::max(threads, 1U), std::max<std::size_t>(count, 1)) - 1;
    std::vector<std::jthread> pool;
    pool.reserve(helpers);
    for (std::size_t i = 0; i < helpers; ++i) pool.emplace_back(work);
    work();
}

}  // namespace potluck::numerics
