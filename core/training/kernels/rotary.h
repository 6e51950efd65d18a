// Rotary positions on a processor: the queries and keys of a projection are turned in place by angles that grow with
// their position (Su et al. 2021), in the arrangement of Llama, where entry k and entry k + D/2 of a head are a pair.
//
//   (x1, x2) -> (x1 cos a - x2 sin a, x2 cos a + x1 sin a),   a = position * theta^(-2k/D)
//
// The derivative is the turn back. Angles come as tables in fp32; numbers are computed in fp32.
// Threads: any, on separate rows.
#pragma once

#include <cstdint>
#include <vector>

#include "core/training/kernels/elementwise.h"

namespace potluck::training {

/// Cosines and sines of (time, D/2) angles, row-major.
struct RotaryTable {
    std::vector<float> cosines, sines;
};
[[nodiscard]] RotaryTable rotary_table(std::int64_t time, std::int64_t depth, double theta);

enum class Turn { forward, back };

/// The first `heads` heads of `depth` entries of each row are turned; row r of the tensor stands at position r % time.
struct RotaryRows {
    const float *cosines, *sines;
    std::int64_t time = 0, heads = 0, depth = 0;
    Turn turn = Turn::forward;
};
template <class Dtype>
void rotate_rows(const RowShape& shape, const RotaryRows& rotary, Dtype* x);

}  // namespace potluck::training
