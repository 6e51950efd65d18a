// The models that people ask for by name, as their papers have them.
#pragma once

#include <string>
#include <string_view>

#include "core/model/model_spec.h"

namespace potluck::model {

/// "tiny", "small", "gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl", "opt-125m", "opt-350m", "opt-1.3b", "opt-2.7b" or
/// "opt-6.7b", without dropout. The vocabulary is the published tokenizer's (256 for tiny and small); a run with
/// another tokenizer replaces it.
[[nodiscard]] Result<ModelSpec> model_preset(std::string_view name);

/// All names in one line, for messages and help texts.
[[nodiscard]] std::string model_preset_names();

}  // namespace potluck::model
