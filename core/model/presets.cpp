// One table says what most presets are made of; what a family has besides follows from its name below. Sizes are their
// papers' or their published checkpoints', but for those called tiny, small or emoji, which were chosen by measurement
// to learn something on two cores within minutes.
//
// A preset is only a beginning: reshaped() and with_side() change it within what its family keeps in proportion, and
// ModelSpec::from_json has the last word on whether the result is a model.
#include "core/model/presets.h"

#include <algorithm>

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
    {"llama-tiny", Family::llama, 256, 128, 4, 4, 128},
    // SmolLM2's checkpoints take 8,192 tokens; 2,048 is what they were trained with for most of the time.
    {"smollm2-135m", Family::llama, 49'152, 2'048, 30, 9, 576},
    {"smollm2-360m", Family::llama, 49'152, 2'048, 32, 15, 960},
    {"albert-tiny", Family::albert, 260, 128, 12, 4, 256},
    {"albert-base", Family::albert, 30'000, 512, 12, 12, 768},
    {"albert-large", Family::albert, 30'000, 512, 24, 16, 1'024},
    {"sahajbert", Family::albert, 32'000, 512, 24, 16, 1'024},
    {"coder-small", Family::coder, coder_values, coder_context({}), 1, 1, 64},
    // Captions in bytes, codes of coder-small's 1,000 for pictures of 32 pixels.
    {"dalle-emoji", Family::dalle, 1'256, dalle_context({}), 16, 4, 256},
    // 32,100 pieces of T5's tokenizer and one for each place, 8,192 codes of pictures of 256 pixels.
    {"dalle-ttt", Family::dalle, 40'548, 1'280, 64, 16, 1'024},
    {"swav-tiny", Family::swav, coder_values, swav_context({}), 4, 1, 32},
    // Pictures whose shorter side is 256 pixels, in square, as ImageNet's are read.
    {"swav-resnet50", Family::swav, coder_values, swav_context({.side = 256}), 16, 1, 64},
};

/// As DeDLOC trained it: assignments sharper than the paper's, prototypes that stay at first, a queue at the end.
constexpr SwavShape swav_resnet50 = {.side = 256,
                                     .stem = SwavStem::large,
                                     .block = SwavBlock::bottleneck,
                                     .stages = {3, 4, 6, 3},
                                     .hidden = 2'048,
                                     .prototypes = 3'000,
                                     .large_side = 224,
                                     .small_side = 96,
                                     .small_crops = 6,
                                     .area_min = 0.05,
                                     .area_split = 0.14,
                                     .epsilon = 0.03,
                                     .queue = 3'840};

LlamaShape llama_shape(std::string_view name) {
    if (name == "smollm2-135m") return {.kv_heads = 3, .head_width = 64, .inner = 1'536, .rope_theta = 1e5};
    if (name == "smollm2-360m") return {.kv_heads = 5, .head_width = 64, .inner = 2'560, .rope_theta = 1e5};
    return {.kv_heads = 2, .head_width = 32, .inner = 384};
}

ModelSpec model_of(const Preset& preset) {
    ModelSpec model;
    model.family = preset.family;
    model.vocabulary = preset.vocabulary;
    model.context = preset.context;
    model.layers = preset.layers;
    model.heads = preset.heads;
    model.width = preset.width;
    if (preset.family == Family::opt) model.activation = Activation::relu;
    if (preset.family == Family::llama) {
        model.activation = Activation::silu_gated;
        model.llama = llama_shape(preset.name);
    }
    if (preset.family == Family::albert) {
        model.albert.inner = 4 * model.width;
        if (preset.vocabulary == 260)
            model.albert = {128, model.albert.inner, 0.15, 256, 257, 258, 259};  // behind bytes
    }
    if (std::string_view(preset.name) == "dalle-ttt")
        model.dalle = {.text = 256, .text_vocabulary = 32'356, .grid = 32, .blocks = 4};
    if (std::string_view(preset.name) == "swav-resnet50") model.swav = swav_resnet50;
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

ModelSpec reshaped(const ModelSpec& preset, const Reshaping& wanted) {
    ModelSpec model = preset;
    if (wanted.layers > 0) model.layers = wanted.layers;
    if (wanted.heads > 0) model.heads = wanted.heads;
    if (wanted.width > 0) model.width = wanted.width;
    if (model.family == Family::albert) model.albert.inner = preset.albert.inner / preset.width * model.width;
    if (model.family != Family::llama || (model.heads == preset.heads && model.width == preset.width)) return model;
    const std::uint32_t sharing = preset.heads / preset.llama.kv_heads;
    model.llama.kv_heads = model.heads % sharing == 0 ? model.heads / sharing : model.heads;
    model.llama.head_width = std::max(2U, model.width / model.heads / 2 * 2);
    const std::uint64_t inner = std::uint64_t{preset.llama.inner} * model.width / preset.width;
    model.llama.inner = static_cast<std::uint32_t>(std::max<std::uint64_t>(8, (inner + 7) / 8 * 8));
    return model;
}

ModelSpec with_side(const ModelSpec& preset, std::uint32_t side) {
    ModelSpec model = preset;
    side = std::min(side, swav_side_max + 1);  // so that squares stay in range
    if (is_coder(preset)) {
        model.coder.side = side;
        model.context = coder_context(model.coder);
    }
    if (is_embedder(preset)) {
        const SwavShape& shape = preset.swav;
        model.swav.side = side;
        model.swav.large_side = shape.large_side * side / shape.side;
        model.swav.small_side = shape.small_side * side / shape.side;
        model.context = swav_context(model.swav);
    }
    return model;
}

std::vector<std::string_view> model_presets() {
    std::vector<std::string_view> names;
    for (const Preset& preset : presets) names.emplace_back(preset.name);
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
