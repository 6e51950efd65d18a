// A few sets of weights, each attention and feed, are stored once and applied by many layers; what a layer has of its
// own are two norms and two scales. The head is the table of text and codes; a row that stands for text is scored
// against text alone, one that stands for a code against codes, so the two parts cost as if they were two heads.
//
// Source: learning-at-home/dalle, task.py, and DALLE-pytorch's branch "weight-sharing".
#include <string>

#include "core/model/families.h"
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

}  // namespace potluck::model
