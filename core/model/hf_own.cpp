#include "core/model/hf_own.h"

#include "core/model/hf_fields.h"

namespace potluck::model {

Result<ModelSpec> parse_coder_config(const nlohmann::json& config) {
    nlohmann::json known = picked(config, {"layers", "width", "side", "halvings", "levels"});
    CoderShape shape;
    const auto side = known.find("side");
    if (side != known.end() && side->is_number_unsigned() && *side <= coder_side_max) shape.side = *side;
    known["family"] = "coder";
    known["vocabulary"] = coder_values;
    known["context"] = coder_context(shape);
    known["heads"] = 1;
    known["dropout"] = 0;
    return ModelSpec::from_json(known);
}

nlohmann::json coder_config(const ModelSpec& model) {
    return {{"architectures", {"PotluckPictureCoder"}},
            {"model_type", coder_model_type},
            {"layers", model.layers},
            {"width", model.width},
            {"side", model.coder.side},
            {"halvings", model.coder.halvings},
            {"levels", model.coder.levels},
            {"torch_dtype", "float32"}};
}

Result<ModelSpec> parse_dalle_config(const nlohmann::json& config) {
    nlohmann::json known = picked(
        config, {"vocabulary", "context", "layers", "heads", "width", "text", "text_vocabulary", "grid", "blocks"});
    known["family"] = "dalle";
    known["dropout"] = 0;
    return ModelSpec::from_json(known);
}

nlohmann::json dalle_config(const ModelSpec& model) {
    return {{"architectures", {"PotluckDalle"}},
            {"model_type", dalle_model_type},
            {"vocabulary", model.vocabulary},
            {"context", model.context},
            {"layers", model.layers},
            {"heads", model.heads},
            {"width", model.width},
            {"text", model.dalle.text},
            {"text_vocabulary", model.dalle.text_vocabulary},
            {"grid", model.dalle.grid},
            {"blocks", model.dalle.blocks},
            {"torch_dtype", "float32"}};
}

Result<ModelSpec> parse_swav_config(const nlohmann::json& config) {
    nlohmann::json known =
        picked(config, {"vocabulary", "context",    "layers",      "heads",    "width",      "side",
                        "stem",       "block",      "stages",      "hidden",   "embedding",  "prototypes",
                        "large_side", "small_side", "small_crops", "area_min", "area_split", "temperature",
                        "epsilon",    "queue",      "queue_from",  "frozen",   "together"});
    known["family"] = "swav";
    known["dropout"] = 0;
    return ModelSpec::from_json(known);
}

nlohmann::json swav_config(const ModelSpec& model) {
    nlohmann::json config = model.to_json();
    config.erase("family");
    config.erase("dropout");
    config["architectures"] = {"PotluckSwav"};
    config["model_type"] = swav_model_type;
    config["torch_dtype"] = "float32";
    return config;
}

}  // namespace potluck::model
