#include "app/node/cli/options/model_options.h"

#include <CLI/CLI.hpp>

#include "core/model/hf_config.h"
#include "core/model/presets.h"
#include "core/model/traits.h"

namespace potluck::node {

namespace {

Error refused(const std::string& sentence) { return {ErrorCode::invalid_argument, sentence}; }

Status take_pictures(model::ModelSpec& model, const ModelOptions& options) {
    if (!model::reads_pictures(model)) {
        if (options.side == 0) return {};
        return refused("--side is for a " + model::titles_of(model::reads_pictures) + "; choose --model " +
                       model::presets_of(model::reads_pictures) + ".");
    }
    if (options.context > 0) return refused("A picture's size is its side; give --side instead of --context.");
    if (options.side > 0) model = model::with_side(model, options.side);
    return {};
}

Status take_clusters(model::ModelSpec& model, const ModelOptions& options) {
    if (options.prototypes == 0 && options.together == 0) return {};
    if (!model::is_embedder(model))
        return refused(std::string(options.prototypes > 0 ? "--prototypes" : "--together") + " is for " +
                       model::titles_of(model::is_embedder) + "; choose --model " +
                       model::presets_of(model::is_embedder) + ".");
    if (options.prototypes > 0) model::set_clusters(model, options.prototypes);
    if (options.together > 0) model::set_records_together(model, options.together);
    return {};
}

Status take_caption(model::ModelSpec& model, const ModelOptions& options) {
    if (!model::is_drawer(model)) {
        if (options.caption == 0) return {};
        return refused("--caption is for " + model::titles_of(model::is_drawer) + "; choose --model " +
                       model::presets_of(model::is_drawer) + ".");
    }
    if (options.context > 0)
        return refused(std::string(model::family_title(model)) +
                       "'s context is a caption and a picture; give --caption instead of --context.");
    if (options.caption > 0) model::set_caption_tokens(model, options.caption);
    return {};
}

Status take_activation(model::ModelSpec& model, const ModelOptions& options) {
    if (!options.relu) return {};
    if (!model::takes_relu(model))
        return refused("--relu is for " + model::titles_of(model::takes_relu) + "; " + options.preset +
                       " has an activation of its own.");
    model.activation = model::Activation::relu;
    return {};
}

}  // namespace

void add_model_options(CLI::App& host, HostPlan& plan, ModelOptions& options) {
    host.option_defaults()->group("Model");
    CLI::Option* from = host.add_option(
        "--from", plan.from,
        "Go on from a checkpoint instead of a fresh model: a folder of transformers, or one that `export` made, with a "
        "model_type of " +
            model::hugging_face_types());
    for (CLI::Option* shape :
         {host.add_option("--model", options.preset, model::model_preset_names()),
          host.add_option("--layers", options.layers, "Layers, instead of the preset's"),
          host.add_option("--heads", options.heads, "Attention heads, instead of the preset's"),
          host.add_option("--width", options.width, "Width, instead of the preset's"),
          host.add_option("--side", options.side, "Side of pictures in pixels, instead of the preset's"),
          host.add_option("--caption", options.caption, "Tokens of captions, instead of the preset's")
              ->check(CLI::Range(1, 4'096)),
          host.add_option("--prototypes", options.prototypes,
                          "Clusters that pictures are sorted into, about ten for each kind of them, instead of the "
                          "preset's")
              ->check(CLI::Range(2U, model::clusters_max)),
          host.add_option("--together", options.together,
                          "Pictures whose crops are computed at once and sorted into clusters together, instead of the "
                          "preset's; the fewer, the less memory a volunteer needs")
              ->check(CLI::Range(model::records_together_min, model::records_together_max)),
          host.add_flag("--relu", options.relu, "ReLU instead of the preset's activation")}) {
        shape->excludes(from);
    }
    host.add_option("--context", options.context,
                    "Context in tokens, instead of the preset's; of a checkpoint at most its");
    host.add_option("--dropout", options.dropout, "Dropout");
}

Result<model::ModelSpec> model_of(const ModelOptions& options) {
    const auto preset = model::model_preset(options.preset);
    if (!preset) return preset.error();
    model::ModelSpec model =
        model::reshaped(*preset, {.layers = options.layers, .heads = options.heads, .width = options.width});
    model.dropout = options.dropout;
    if (options.context > 0 && !model::reads_pictures(model)) model.context = options.context;
    for (const auto take : {take_pictures, take_clusters, take_caption, take_activation})
        if (Status taken = take(model, options); !taken) return taken.error();
    return model;
}

}  // namespace potluck::node
