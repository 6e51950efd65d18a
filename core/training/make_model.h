// The model of a spec: the only switch over families in this room.
// Threads: any.
#pragma once

#include <functional>
#include <memory>

#include "core/model/model_spec.h"
#include "core/training/compute/model.h"

namespace potluck::training {

[[nodiscard]] std::unique_ptr<Model> make_model(const model::ModelSpec& spec, const ModelOptions& options);

using ModelMaker = std::function<std::unique_ptr<Model>(const model::ModelSpec&, const ModelOptions&)>;

}  // namespace potluck::training
