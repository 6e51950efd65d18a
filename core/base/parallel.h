// Independent pieces of work, shared among threads. Threads take pieces as they get to them, so a slow core holds up no
// one; which thread does which piece must not show in a result, and does not if each piece writes its own place.
//
// The threads live as long as the call: starting one takes some 10 microseconds, a piece should take longer.
// Standard library only: core/numerics, which depends on nothing else, uses it too.
// Threads: any; a call returns when every piece is done.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace potluck {

/// Calls `make_worker()` once per thread, and the callable it returns for each piece 0..count-1 that this thread takes.
/// At most `threads` threads, the caller's among them, and never more than there are pieces.
template <class MakeWorker>
void parallel_for(std::size_t count, unsigned threads, const MakeWorker& make_worker) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        auto worker = make_worker();
        for (std::size_t piece = next.fetch_add(1); piece < count; piece = next.fetch_add(1)) worker(piece);
    };
    const std::size_t helpers = std::min<std::size_t>(std::max(threads, 1U), std::max<std::size_t>(count, 1)) - 1;
    std::vector<std::jthread> pool;
    pool.reserve(helpers);
    for (std::size_t i = 0; i < helpers; ++i) pool.emplace_back(work);
    work();
}

}  // namespace potluck
