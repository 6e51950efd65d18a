#include "core/model/sparse_model.h"

#include "core/base/check.h"
#include "core/numerics/sparse24.h"

namespace potluck::model {

PrunedModel prune_2_of_4(const ModelSpec& model, std::span<float> parameters) {
    POTLUCK_CHECK(parameters.size() == model.parameters());
    using numerics::InputsAlong;
    const bool inputs_first = matrix_order(model.family) == MatrixOrder::in_out;
    const InputsAlong inputs = inputs_first ? InputsAlong::rows : InputsAlong::columns;
    PrunedModel pruned;
    for (const TensorSpec& tensor : tensors_of(model)) {
        if (!tensor.is_hidden_matrix()) continue;
        const std::span<float> values = parameters.subspan(tensor.offset, tensor.elements());
        pruned.zeros += numerics::prune_2_of_4(values, {tensor.shape[0], tensor.shape[1]}, inputs);
        pruned.weights += tensor.elements();
    }
    return pruned;
}

}  // namespace potluck::model
