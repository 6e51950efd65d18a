#include "core/model/presets.h"

#include <iterator>

namespace potluck::model {

namespace {

struct Preset {
    const char* name;
    Family family;
    std::uint32_t vocabulary, context, layers, heads, width;
};

constexpr Preset presets[] = {
    {"tiny", Family::gpt2, 256, 128, 4, 4, 128},
    {"small", Family::gpt2, 256, 256, 6, 6, 384},
    {"gpt2", Family::gpt2, 50'257, 1'024, 12, 12, 768},
    {"gpt2-medium", Family::gpt2, 50'257, 1'024, 24, 16, 1'024},
    {"gpt2-large", Family::gpt2, 50'257, 1'024, 36, 20, 1'280},
    {"gpt2-xl", Family::gpt2, 50'257, 1'024, 48, 25, 1'600},
    {"opt-125m", Family::opt, 50'272, 2'048, 12, 12, 768},
    {"opt-350m", Family::opt, 50'272, 2'048, 24, 16, 1'024},
    {"opt-1.3b", Family::opt, 50'272, 2'048, 24, 32, 2'048},
    {"opt-2.7b", Family::opt, 50'272, 2'048, 32, 32, 2'560},
    {"opt-6.7b", Family::opt, 50'272, 2'048, 32, 32, 4'096},
};

ModelSpec model_of(const Preset& preset) {
    ModelSpec model;
    model.family = preset.family;
    model.vocabulary = preset.vocabulary;
    model.context = preset.context;
    model.layers = preset.layers;
    model.heads = preset.heads;
    model.width = preset.width;
    if (preset.family == Family::opt) model.activation = Activation::relu;
    return model;
}

}  // namespace

Result<ModelSpec> model_preset(std::string_view name) {
    for (const Preset& preset : presets) {
        if (name != preset.name) continue;
        ModelSpec model = model_of(preset);
        if (name == "opt-350m") {  // the one OPT that differs in more than its size
            model.norm = NormPlace::after;
            model.embedding = 512;
        }
        return model;
    }
    return Error{ErrorCode::invalid_argument,
                 "There is no model preset of that name; use " + model_preset_names() + "."};
}

std::string model_preset_names() {
    std::string names;
    for (const Preset& preset : presets) {
        if (!names.empty()) names += &preset == std::end(presets) - 1 ? " or " : ", ";
        names += preset.name;
    }
    return names;
}

}  // namespace potluck::model
