// DALL-E (Ramesh et al. 2021), as Training Transformers Together trained it: a decoder that goes on from a caption with
// the codes of a picture.
//
// A few sets of weights, each attention and feed, are stored once and applied by many layers; what a layer has of its
// own are two norms and two scales. The head is the table of text and codes; a row that stands for text is scored
// against text alone, one that stands for a code against codes, so the two parts cost as if they were two heads.
//
// Source: learning-at-home/dalle, task.py, and DALLE-pytorch's branch "weight-sharing".
#include <string>

#include "core/model/families.h"
#include "core/model/hf_fields.h"
#include "core/model/tensor_list.h"

namespace potluck::model {

namespace {

/// A feed is so many times as wide between its two maps.
constexpr std::uint64_t widening = 4;
/// Where what a row sees of its neighbours is shifted, channels are taken by the quarter.
constexpr std::uint32_t shifted_parts = 4;

/// What all layers that apply it share.
std::uint64_t block_parameters(std::uint64_t c) {
    const std::uint64_t attention = 3 * c * c + c * c + c;
    const std::uint64_t feed = 2 * widening * c * c + 2 * widening * c + widening * c * c + c;
    return attention + feed;
}

void add_block(TensorList& list, const std::string& name, std::uint64_t c) {
    list.add(name + ".attention.qkv.weight", {3 * c, c}, Role::matrix);
    list.add_affine(name + ".attention.out", {c, c}, c, Role::output);
    list.add_affine(name + ".feed.up", {2 * widening * c, c}, 2 * widening * c, Role::matrix);
    list.add_affine(name + ".feed.down", {c, widening * c}, c, Role::output);
}

DalleShape read_dalle(Fields& fields, const ModelSpec& spec) {
    const auto count = [&](std::string_view name, std::uint64_t low, std::uint64_t high) {
        return static_cast<std::uint32_t>(fields.integer(name, low, high));
    };
    DalleShape shape;
    shape.text = count("text", 1, 4'096);
    shape.text_vocabulary = count("text_vocabulary", 2, 65'536);
    shape.grid = count("grid", 2, 64);
    shape.blocks = count("blocks", 1, 255);
    if (fields.failed()) return shape;
    if (spec.context != dalle_context(shape)) fields.fail("context is not text and the square of grid");
    if (spec.vocabulary <= shape.text_vocabulary) fields.fail("text_vocabulary leaves no codes of the vocabulary");
    if (spec.layers <= shape.blocks) fields.fail("blocks is not smaller than layers");
    if (spec.width % shifted_parts != 0) fields.fail("width is not a multiple of 4");
    if (spec.width / spec.heads < dalle_head_width_min) fields.fail("heads leaves less than 12 of width to each");
    return shape;
}

void write_dalle(const DalleShape& shape, nlohmann::json& object) {
    object["text"] = shape.text;
    object["text_vocabulary"] = shape.text_vocabulary;
    object["grid"] = shape.grid;
    object["blocks"] = shape.blocks;
}

std::uint64_t dalle_parameters(const ModelSpec& spec) {
    const std::uint64_t c = spec.width, v = spec.vocabulary;
    const std::uint64_t own = 2 * (2 * c + c);
    return v * c + v + 2 * c + (std::uint64_t{spec.dalle.blocks} + 1) * block_parameters(c) + spec.layers * own;
}

std::uint64_t dalle_applied_parameters(const ModelSpec& spec) {
    const DalleShape& shape = spec.dalle;
    const std::uint64_t c = spec.width, places = spec.context - shape.text;
    const std::uint64_t scored =
        std::uint64_t{shape.text} * shape.text_vocabulary + places * (spec.vocabulary - shape.text_vocabulary);
    return spec.layers * block_parameters(c) + c * scored / spec.context;
}

std::vector<TensorSpec> dalle_tensors(const ModelSpec& spec) {
    const std::uint64_t c = spec.width;
    TensorList list;
    list.add("text_image_table.weight", {spec.vocabulary, c}, Role::embedding);
    list.add("text_image_table.bias", {spec.vocabulary}, Role::bias);
    list.add_norm("norm", c);
    for (std::uint32_t i = 0; i <= spec.dalle.blocks; ++i) {
        list.enter(i);
        add_block(list, "shared." + std::to_string(i), c);
    }
    for (std::uint32_t i = 0; i < spec.layers; ++i) {
        list.enter(i);
        for (const char* part : {".attention", ".feed"}) {
            const std::string name = "layers." + std::to_string(i) + part;
            list.add_norm(name + ".norm", c);
            list.add(name + ".scale", {c}, Role::scale);
        }
    }
    return list.take();
}

constexpr const char* dalle_model_type = "potluck_dalle";

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

constexpr const char* dalle_types[] = {dalle_model_type};
constexpr Measure dalle_measures[] = {{"caption loss", "nats"}, {code_loss_label, "nats"}};
constexpr Preset dalle_presets[] = {
    // Captions in bytes, codes of coder-small's 1,000 for pictures of 32 pixels.
    {"dalle-emoji", 1'256, dalle_context({}), 16, 4, 256},
    // 32,100 pieces of T5's tokenizer and one for each place, 8,192 codes of pictures of 256 pixels.
    {"dalle-ttt", 40'548, 1'280, 64, 16, 1'024,
     [](ModelSpec& model) { model.dalle = {.text = 256, .text_vocabulary = 32'356, .grid = 32, .blocks = 4}; }}};

}  // namespace

Sight dalle_sight(const ModelSpec& spec, std::uint32_t layer) {
    if (layer + 1 == spec.layers) return Sight::near;
    return layer % 4 == 1 ? Sight::column : Sight::row;
}

std::uint32_t dalle_block(const ModelSpec& spec, std::uint32_t layer) {
    return layer + 1 == spec.layers ? spec.dalle.blocks : layer % spec.dalle.blocks;
}

bool fits_drawer(const ModelSpec& coder, const ModelSpec& drawer) {
    return is_coder(coder) && is_drawer(drawer) && coder.coder.side >> coder.coder.halvings == drawer.dalle.grid &&
           coder_codes(coder.coder) == drawer.vocabulary - drawer.dalle.text_vocabulary;
}

ModelSpec drawer_with(const ModelSpec& preset, const ModelSpec& coder, std::uint32_t text_vocabulary) {
    ModelSpec drawer = preset;
    drawer.dalle.text_vocabulary = text_vocabulary;
    drawer.dalle.grid = coder.coder.side >> coder.coder.halvings;
    drawer.vocabulary = text_vocabulary + static_cast<std::uint32_t>(coder_codes(coder.coder));
    drawer.context = dalle_context(drawer.dalle);
    return drawer;
}

bool is_dalle_record(const ModelSpec& spec, std::span<const Token> record) {
    const std::size_t text = spec.dalle.text;
    if (record.size() != std::size_t{spec.context} + 1 || record[0] != dalle_begin) return false;
    for (std::size_t place = 1; place < record.size(); ++place) {
        if (record[place] >= spec.vocabulary) return false;
        if ((place <= text) != (record[place] < spec.dalle.text_vocabulary)) return false;
    }
    return true;
}

constinit const FamilyRow dalle_row = {
    .family = Family::dalle,
    .name = "dalle",
    .title = [](const ModelSpec&) { return "DALL-E"; },
    .data = DataKind::captions,
    .baseline = Baseline::unigram,
    .measures = dalle_measures,
    .read =
        [](Fields& fields, ModelSpec& spec) {
            spec.dalle = read_dalle(fields, spec);
            if (spec.dropout != 0.0F) fields.fail("dropout is not 0; DALL-E is trained without");
        },
    .write = [](const ModelSpec& spec, nlohmann::json& object) { write_dalle(spec.dalle, object); },
    .parameters = dalle_parameters,
    .applied_parameters = dalle_applied_parameters,
    .tensors = dalle_tensors,
    .widths =
        [](const ModelSpec& spec) {
            LayerWidths widths = even_widths(spec, widening * spec.width);
            widths.up *= 2;  // gated
            return widths;
        },
    .initial = {[](const ModelSpec& spec, const TensorSpec& tensor) { return decoder_deviation(spec, tensor); }, true},
    .hugging_face = {.model_types = dalle_types, .parse = parse_dalle_config, .config = dalle_config},
    .presets = dalle_presets,
    .records = {.captions =
                    [](const ModelSpec& spec) {
                        const DalleShape& shape = spec.dalle;
                        return CaptionShape{shape.text, shape.text_vocabulary, shape.grid};
                    },
                .set_caption = [](ModelSpec& spec, std::uint32_t tokens) { spec.dalle.text = tokens; }}};

}  // namespace potluck::model
