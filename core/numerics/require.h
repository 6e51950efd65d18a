// A check of what only a caller's bug can break. This folder depends on nothing, so it has its own; what strangers
// send is a PayloadFault instead.
#pragma once

#include <cstdlib>

namespace potluck::numerics {

inline void require(bool holds) {
    if (!holds) std::abort();
}

}  // namespace potluck::numerics
