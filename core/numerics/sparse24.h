// The 2:4 rule of structured sparsity (Mishra et al. 2021; the 1-D rule of NVIDIA's ASP): of every 4 consecutive
// weights along the input dimension the 2 stay whose magnitudes sum highest, the others become zero. Tensor cores skip
// them.
//
// Among equal sums the first pattern stays, in the order 1100, 1010, 1001, 0110, 0101, 0011; sums are taken in
// double. A last group of fewer than 4 counts as if zeros followed. A pure function of the weights, the same on every
// computer.
// Does not: know models. Threads: one.
#pragma once

#include <cstdint>
#include <span>

namespace potluck::numerics {

struct MatrixShape {
    std::uint64_t rows = 0, columns = 0;  // row-major
};

/// Which dimension of the matrix is the layer's input: columns of an [out, in] matrix, rows of an [in, out] one.
enum class InputsAlong { columns, rows };

/// Prunes in place. The number of weights that are zero afterwards.
std::uint64_t prune_2_of_4(std::span<float> weights, MatrixShape shape, InputsAlong inputs);

}  // namespace potluck::numerics
