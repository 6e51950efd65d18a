// The models that people ask for by name, as their papers have them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model_spec.h"

namespace potluck::model {

/// "tiny", "small", "gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl", "opt-125m", "opt-350m", "opt-1.3b", "opt-2.7b",
/// "opt-6.7b", "llama-tiny", "smollm2-135m", "smollm2-360m", "albert-tiny" to "albert-large", "sahajbert",
/// "coder-small", "dalle-emoji", "dalle-ttt", "swav-tiny" or "swav-resnet50", without dropout. The vocabulary is the
/// published tokenizer's (256 for tiny, small and llama-tiny); a run with another tokenizer replaces it.
[[nodiscard]] Result<ModelSpec> model_preset(std::string_view name);

/// What a preset is made with instead; 0: as the preset has it.
struct Reshaping {
    std::uint32_t layers = 0, heads = 0, width = 0;
};
/// A Llama-shaped model keeps its proportions: head width times heads is the width, and kv heads and inner width are
/// in the same ratio as before, as far as they divide.
[[nodiscard]] ModelSpec reshaped(const ModelSpec& preset, const Reshaping& wanted);

/// A picture coder or SwAV of pictures with another side, in pixels; SwAV's crops keep their share of it. What is out
/// of range stays so, for ModelSpec::from_json to refuse.
[[nodiscard]] ModelSpec with_side(const ModelSpec& preset, std::uint32_t side);

[[nodiscard]] std::vector<std::string_view> model_presets();
/// Their names in one line, for messages and help texts.
[[nodiscard]] std::string model_preset_names();

}  // namespace potluck::model
