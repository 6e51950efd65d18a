// The two halves of a matrix's step that go number by number (Muon: Jordan 2024; Liu et al., arXiv 2502.16982): the
// momentum before the matrix is orthogonalised, and the parameters after. The orthogonalisation itself is matrix
// products, and belongs to the owner of the matrix.
//
//   momentum_step   m = b1 m + (1 - b1) g gradient_scale;  fp32 for the caller, the state's bits for the state
//   update_step     p = p (1 - lr wd) - lr u;              bf16 is rounded stochastically, as in optimizer.h
//
// A gradient that is not finite leaves its number's momentum as it is. Bytes do not depend on the number of threads.
//
// Does not: know matrices' shapes.
// Threads: one caller at a time per state.
#pragma once

#include "core/numerics/optimizer/optimizer.h"

namespace potluck::numerics {

/// Steps the momentum of one slice with SliceRule::matrix. `gradient` is the whole flat vector, `momentum` has the
/// slice's length.
template <class Gradient>  // float or Bf16
void momentum_step(OptimizerState& state, std::size_t slice, std::span<const Gradient> gradient,
                   const StepHyperparams& settings, std::span<float> momentum, unsigned threads);

/// Moves the slice's parameters; `parameters` is the whole flat vector, `update` has the slice's length.
template <class Parameter>  // float or Bf16
void update_step(const ParameterSlice& slice, std::span<Parameter> parameters, std::span<const float> update,
                 const StepHyperparams& settings, unsigned threads);

}  // namespace potluck::numerics
