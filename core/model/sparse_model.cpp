#include "core/model/sparse_model.h"

#include "core/base/check.h"
#include "core/numerics/sparse24.h"

namespace potluck::model {

namespace {

/// The matrices within layers, and no others.
bool is_layer_matrix(const TensorSpec& tensor) {
    const bool in_layer = tensor.name.starts_with("h.") || tensor.name.starts_with("model.decoder.layers.");
    return in_layer && tensor.shape.size() == 2;
}

}  // namespace

PrunedModel prune_2_of_4(const ModelSpec& model, std::span<float> parameters) {
    POTLUCK_CHECK(parameters.size() == model.parameters());
    using numerics::InputsAlong;
    const InputsAlong inputs = model.family == Family::gpt2 ? InputsAlong::rows : InputsAlong::columns;
    PrunedModel pruned;
    for (const TensorSpec& tensor : tensors_of(model)) {
        if (!is_layer_matrix(tensor)) continue;
        const std::span<float> values = parameters.subspan(tensor.offset, tensor.elements());
        pruned.zeros += numerics::prune_2_of_4(values, {tensor.shape[0], tensor.shape[1]}, inputs);
        pruned.weights += tensor.elements();
    }
    return pruned;
}

}  // namespace potluck::model
