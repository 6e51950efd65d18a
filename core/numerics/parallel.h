// parallel_for for bit-exact work: every thread rounds exactly, whatever a library left its control register at.
#pragma once

#include <cstddef>

#include "core/base/parallel.h"
#include "core/numerics/rounding.h"

namespace potluck::numerics {

/// parallel_for, each of whose threads makes its worker and runs it inside a RoundingGuard.
template <class MakeWorker>
void exact_parallel_for(std::size_t count, unsigned threads, const MakeWorker& make_worker) {
    struct Exact {
        RoundingGuard guard;
        decltype(make_worker()) worker;
        void operator()(std::size_t piece) { worker(piece); }
    };
    // A braced list is evaluated from left to right: the guard is in force before the worker is made.
    parallel_for(count, threads, [&] { return Exact{{}, make_worker()}; });
}

}  // namespace potluck::numerics
