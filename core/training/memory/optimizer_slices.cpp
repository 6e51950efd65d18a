#include "core/training/memory/optimizer_slices.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace potluck::training {

std::vector<numerics::ParameterSlice> optimizer_slices(const model::ModelSpec& model, const run::Recipe& recipe) {
    const bool muon = recipe.optimizer == run::Optimizer::muon;
    std::vector<numerics::ParameterSlice> slices;
    for (const model::TensorSpec& tensor : model::tensors_of(model)) {
        const float decay = tensor.decays() ? static_cast<float>(recipe.weight_decay) : 0.0F;
        const auto rule =
            muon && tensor.is_hidden_matrix() ? numerics::SliceRule::matrix : numerics::SliceRule::elementwise;
        slices.push_back({tensor.offset, tensor.offset + tensor.elements(), decay, rule});
    }
    return slices;
}

std::vector<HiddenMatrix> hidden_matrices(const model::ModelSpec& model) {
    const bool inputs_first = model::matrix_order(model.family) == model::MatrixOrder::in_out;
    const std::vector<model::TensorSpec> tensors = model::tensors_of(model);
    std::vector<HiddenMatrix> matrices;
    for (std::size_t slice = 0; slice < tensors.size(); ++slice) {
        const model::TensorSpec& tensor = tensors[slice];
        if (!tensor.is_hidden_matrix()) continue;
        HiddenMatrix matrix{.slice = slice, .rows = tensor.shape[0], .columns = tensor.shape[1]};
        if (std::string_view(tensor.name).ends_with("attn.c_attn.weight")) matrix.parts = 3;
        const std::uint64_t part_columns = matrix.columns / matrix.parts;
        const std::uint64_t outputs = inputs_first ? part_columns : matrix.rows;
        const std::uint64_t inputs = inputs_first ? matrix.rows : part_columns;
        matrix.scale = std::sqrt(std::max(1.0, static_cast<double>(outputs) / static_cast<double>(inputs)));
        matrices.push_back(matrix);
    }
    return matrices;
}

std::uint64_t largest_hidden_matrix(const model::ModelSpec& model) {
    std::uint64_t largest = 0;
    for (const HiddenMatrix& matrix : hidden_matrices(model)) largest = std::max(largest, matrix.rows * matrix.columns);
    return largest;
}

}  // namespace potluck::training
