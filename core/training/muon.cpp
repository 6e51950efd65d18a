#include "core/training/muon.h"

#include <new>

#include "core/numerics/optimizer/momentum.h"
#include "core/training/memory/memory_error.h"

namespace potluck::training {

namespace {

/// Reinterprets bf16 bits as `Bf16`.
std::span<Bf16> as_bf16(std::span<std::uint16_t> bits) { return {reinterpret_cast<Bf16*>(bits.data()), bits.size()}; }

/// Calls `with` with the vector's numbers as they are kept.
template <class With>
void with_numbers(const FlatVector& vector, const With& with) {
    if (vector.view().dtype == Dtype::fp32) return with(vector.floats());
    with(as_bf16(vector.bf16_bits()));
}

}  // namespace

void step_numbers(numerics::OptimizerState& moments, std::size_t first, std::size_t count, const FlatVector& parameters,
                  const FlatVector& gradient, const numerics::StepHyperparams& settings, unsigned threads) {
    with_numbers(parameters, [&](auto values) {
        with_numbers(gradient, [&](auto gradients) {
            using Parameter = typename decltype(values)::element_type;
            using Gradient = typename decltype(gradients)::element_type;
            numerics::optimizer_step<Parameter, Gradient>(moments, first, count, values, gradients, settings, threads);
        });
    });
}

Result<Muon> Muon::create(const model::ModelSpec& model, const MatrixWork& work) {
    Muon made;
    made.m_matrices = hidden_matrices(model);
    made.m_work = work;
    try {
        made.m_momentum.resize(static_cast<std::size_t>(largest_hidden_matrix(model)));
    } catch (const std::bad_alloc&) {
        return out_of_memory_error();
    }
    return made;
}

Status Muon::step(numerics::OptimizerState& moments, const FlatVector& parameters, const FlatVector& gradient,
                  const numerics::StepHyperparams& settings, unsigned threads) {
    numerics::StepHyperparams matrix_settings = settings;
    matrix_settings.learning_rate *= muon_rate_factor;
    std::size_t next = 0;  // slice not yet stepped
    for (const HiddenMatrix& matrix : m_matrices) {
        step_numbers(moments, next, matrix.slice - next, parameters, gradient, settings, threads);
        next = matrix.slice + 1;
        const std::span momentum = std::span(m_momentum).first(static_cast<std::size_t>(matrix.rows * matrix.columns));
        with_numbers(gradient, [&](auto gradients) {
            using Gradient = typename decltype(gradients)::element_type;
            numerics::momentum_step<Gradient>(moments, matrix.slice, gradients, settings, momentum, threads);
        });
        const MatrixShape shape{matrix.rows, matrix.columns, matrix.parts};
        if (const Status made = orthogonalise(momentum, shape, matrix.scale, m_work); !made.ok()) return made;
        with_numbers(parameters, [&](auto values) {
            using Parameter = typename decltype(values)::element_type;
            const numerics::ParameterSlice& slice = moments.slices()[matrix.slice];
            numerics::update_step<Parameter>(slice, values, momentum, matrix_settings, threads);
        });
    }
    step_numbers(moments, next, moments.slices().size() - next, parameters, gradient, settings, threads);
    return {};
}

}  // namespace potluck::training
