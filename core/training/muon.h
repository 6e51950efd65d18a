// A step of Muon (Jordan 2024; arXiv 2505.23725): matrices between hidden layers move by their orthogonalised momentum,
// everything else by AdamW. For each matrix, with momentum M and outputs x inputs:
//
//   M = b1 M + (1 - b1) g;   p = p (1 - r wd) - r sqrt(max(1, outputs / inputs)) orthogonal(M),   r = 7 lr
//
// without Nesterov's look-ahead. State and parameters are in the computer's memory; the products may run on a GPU.
// Threads: the trainer's. Owns: room for one matrix.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/numerics/optimizer/optimizer.h"
#include "core/training/compute/flat_vector.h"
#include "core/training/compute/orthogonal.h"
#include "core/training/memory/optimizer_slices.h"

namespace potluck::training {

/// A matrix's learning rate over AdamW's, so that one rate serves both. An orthogonal update's entries have a root mean
/// square of 1/sqrt(width), far below AdamW's, which are near one; at widths of 128 to 768 seven makes the two
/// about equally sensitive to the rate.
inline constexpr double muon_rate_factor = 7;

class Muon {
public:
    /// `out_of_memory` if there is no room for the largest matrix.
    [[nodiscard]] static Result<Muon> create(const model::ModelSpec& model, const MatrixWork& work);

    /// Steps everything; `settings.kind` is muon. On failure a part of the matrices may have moved.
    [[nodiscard]] Status step(numerics::OptimizerState& moments, const FlatVector& parameters,
                              const FlatVector& gradient, const numerics::StepHyperparams& settings, unsigned threads);

private:
    Muon() = default;
    std::vector<HiddenMatrix> m_matrices;
    std::vector<float> m_momentum;  // of the matrix at hand
    MatrixWork m_work;
};

/// Steps slices [first, first + count), none of which is a matrix, whatever the two vectors are kept in. Both are in
/// the computer's memory.
void step_numbers(numerics::OptimizerState& moments, std::size_t first, std::size_t count, const FlatVector& parameters,
                  const FlatVector& gradient, const numerics::StepHyperparams& settings, unsigned threads);

}  // namespace potluck::training
