// config.json of AlbertForPreTraining, to and from a ModelSpec. Private to hf_config.cpp.
// Pure. Threads: any.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/base/result.h"
#include "core/model/model_spec.h"

namespace potluck::model {

[[nodiscard]] Result<ModelSpec> parse_albert_config(const nlohmann::json& config);
[[nodiscard]] nlohmann::json albert_config(const ModelSpec& model);

}  // namespace potluck::model
