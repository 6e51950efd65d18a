// Fields of a config.json become those of ModelSpec's JSON and pass through ModelSpec::from_json, where every limit is
// checked; writing is the reverse. Families of our own keep ModelSpec's names, so the two are nearly the same.
//
// diffusers' VQModel has names and defaults of its own and more kinds of blocks, activations and norms than are known
// here: each is read and refused where it is another, for ignoring it would draw other pictures without a word. Fields
// that do not bear on the weights' use (scaling_factor, force_upcast, lookup_from_codebook) are left out.
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

namespace {

/// A list of one name, which every side has: the only kind of block that is known.
void expect_blocks(Fields& fields, const nlohmann::json& config, const char* name, const char* kind) {
    const auto found = config.find(name);
    if (found == config.end()) return;
    for (const nlohmann::json& one : fields.array(name, coder_book_sides_max))
        if (one != kind) fields.fail(std::string(name) + " holds another kind than " + kind + ", which is not known");
}

void expect_word(Fields& fields, const char* name, const char* word) {
    if (fields.text_or(name, 64, word) != word)
        fields.fail(std::string(name) + " is not " + word + ", which is all that is known");
}

nlohmann::json book_config(const ModelSpec& model) {
    const CodeBook& book = model.coder.book;
    return {{"_class_name", book_class_name},
            {"in_channels", 3},
            {"out_channels", 3},
            {"down_block_types", std::vector<std::string>(book.widths.size(), "DownEncoderBlock2D")},
            {"up_block_types", std::vector<std::string>(book.widths.size(), "UpDecoderBlock2D")},
            {"block_out_channels", book.widths},
            {"layers_per_block", model.layers},
            {"act_fn", "silu"},
            {"latent_channels", book.latent},
            {"sample_size", model.coder.side},
            {"num_vq_embeddings", book.codes},
            {"norm_num_groups", book.groups},
            {"vq_embed_dim", book.width},
            {"norm_type", "group"},
            {"mid_block_add_attention", book.attention}};
}

}  // namespace

/// What is missing has the defaults of diffusers' VQModel, as the program that wrote the file relied on.
Result<ModelSpec> parse_book_config(const nlohmann::json& config) {
    const nlohmann::json known =
        picked(config, {"in_channels", "out_channels", "down_block_types", "up_block_types", "block_out_channels",
                        "layers_per_block", "act_fn", "latent_channels", "sample_size", "num_vq_embeddings",
                        "norm_num_groups", "vq_embed_dim", "norm_type", "mid_block_add_attention"});
    Fields fields(known, "config.json");
    if (fields.integer_or("in_channels", 1, count_max, 3) != 3 ||
        fields.integer_or("out_channels", 1, count_max, 3) != 3)
        fields.fail("in_channels or out_channels is not 3, red, green and blue");
    expect_blocks(fields, known, "down_block_types", "DownEncoderBlock2D");
    expect_blocks(fields, known, "up_block_types", "UpDecoderBlock2D");
    expect_word(fields, "act_fn", "silu");
    expect_word(fields, "norm_type", "group");
    const std::uint64_t latent = fields.integer_or("latent_channels", 1, count_max, 3);
    const std::uint64_t side = fields.integer_or("sample_size", 1, count_max, 32);
    nlohmann::json widths = nlohmann::json::array();
    if (fields.has("block_out_channels")) widths = fields.array("block_out_channels", coder_book_sides_max);
    const bool sides = widths.size() >= 2 && widths.front().is_number_unsigned();
    if (!sides) fields.fail("block_out_channels is no list of two to five widths");
    const nlohmann::json book = {{"codes", fields.integer_or("num_vq_embeddings", 1, count_max, 256)},
                                 {"width", fields.integer_or("vq_embed_dim", 1, count_max, latent)},
                                 {"latent", latent},
                                 {"groups", fields.integer_or("norm_num_groups", 1, count_max, 32)},
                                 {"attention", fields.flag_or("mid_block_add_attention", true)},
                                 {"widths", widths}};
    const std::uint64_t layers = fields.integer_or("layers_per_block", 1, count_max, 1);
    if (const Status status = fields.finish(); !status) return status.error();
    return ModelSpec::from_json({{"family", "coder"},
                                 {"vocabulary", coder_values},
                                 {"context", 3 * side * side},
                                 {"layers", layers},
                                 {"heads", 1},
                                 {"width", widths.front()},
                                 {"dropout", 0},
                                 {"side", side},
                                 {"halvings", widths.size() - 1},
                                 {"book", book}});
}

nlohmann::json coder_config(const ModelSpec& model) {
    if (has_code_book(model)) return book_config(model);
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
