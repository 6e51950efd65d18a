// The slices of the flat vector that an optimizer steps, one per tensor, and which of them Muon steps as matrices.
// Muon is for matrices between hidden layers: embeddings (with the tied head), gains and biases are AdamW's
// (arXiv 2505.23725, section 3).
// Pure. Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/model_spec.h"
#include "core/numerics/optimizer/optimizer.h"
#include "core/run/recipe.h"

namespace potluck::training {

/// A slice per tensor, in their order; decay on matrices and embeddings, none on gains and biases.
[[nodiscard]] std::vector<numerics::ParameterSlice> optimizer_slices(const model::ModelSpec& model,
                                                                     const run::Recipe& recipe);

/// A slice of SliceRule::matrix: [rows, columns] row-major, whose columns are `parts` matrices side by side (GPT-2
/// keeps the weights of q, k and v in one), each of which is a map of its own and is orthogonalised alone.
struct HiddenMatrix {
    std::size_t slice = 0;
    std::uint64_t rows = 0, columns = 0;
    std::uint32_t parts = 1;
    double scale = 1;  // sqrt(max(1, outputs / inputs)) of a part: the update's length
};

/// Those of a run with Muon.
[[nodiscard]] std::vector<HiddenMatrix> hidden_matrices(const model::ModelSpec& model);

/// Numbers of the largest one.
[[nodiscard]] std::uint64_t largest_hidden_matrix(const model::ModelSpec& model);

}  // namespace potluck::training
