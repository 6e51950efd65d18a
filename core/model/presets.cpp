// Each family's row lists its presets. Sizes are their papers' or their published checkpoints', but for those called
// tiny, small or emoji, which were chosen by measurement to learn something on two cores within minutes.
//
// A preset is only a beginning: reshaped() and with_side() change it within what its family keeps in proportion, and
// ModelSpec::from_json has the last word on whether the result is a model.
#include "core/model/presets.h"

#include <algorithm>

#include "core/model/families.h"

namespace potluck::model {

namespace {

ModelSpec model_of(Family family, const Preset& preset) {
    ModelSpec model;
    model.family = family;
    model.vocabulary = preset.vocabulary;
    model.context = preset.context;
    model.layers = preset.layers;
    model.heads = preset.heads;
    model.width = preset.width;
    if (preset.shape != nullptr) preset.shape(model);
    return model;
}

}  // namespace

Result<ModelSpec> model_preset(std::string_view name) {
    for (const FamilyRow* row : family_rows()) {
        for (const Preset& preset : row->presets)
            if (name == preset.name) return model_of(row->family, preset);
    }
    return Error{ErrorCode::invalid_argument,
                 "There is no model preset of that name; use " + model_preset_names() + "."};
}

ModelSpec reshaped(const ModelSpec& preset, const Reshaping& wanted) {
    ModelSpec model = preset;
    if (wanted.layers > 0) model.layers = wanted.layers;
    if (wanted.heads > 0) model.heads = wanted.heads;
    if (wanted.width > 0) model.width = wanted.width;
    if (const auto reshape = row_of(model.family).reshape; reshape != nullptr) reshape(preset, model);
    return model;
}

ModelSpec with_side(const ModelSpec& preset, std::uint32_t side) {
    const auto with = row_of(preset.family).records.with_side;
    side = std::min(side, swav_side_max + 1);  // so that squares stay in range
    return with != nullptr ? with(preset, side) : preset;
}

std::vector<std::string_view> model_presets() {
    std::vector<std::string_view> names;
    for (const FamilyRow* row : family_rows())
        for (const Preset& preset : row->presets) names.emplace_back(preset.name);
    return names;
}

std::string model_preset_names() {
    const std::vector<std::string_view> all = model_presets();
    std::string names;
    for (const std::string_view name : all) {
        if (!names.empty()) names += name == all.back() ? " or " : ", ";
        names += name;
    }
    return names;
}

}  // namespace potluck::model
