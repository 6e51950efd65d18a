// A picture coder: an encoder that turns a square picture into a few hundred whole numbers by convolutions, and a
// decoder that turns them into the picture again (Mentzer et al. 2023).
//
// The list of tensors is the one source: what a coder stores and what it computes are sums over it, so the order here
// is the order of the passes (core/training/picture/coder.cpp). A coder with a code book has another list, whose names
// are those of diffusers' VQModel, so that its files are read as they are (core/training/picture/book_coder.cpp).
//
// Of a config.json, a family of our own keeps ModelSpec's names, below a model_type of our own. diffusers' VQModel has
// names and defaults of its own and more kinds of blocks, activations and norms than are known here: each is read and
// refused where it is another, for ignoring it would draw other pictures without a word. Fields that do not bear on the
// weights' use (scaling_factor, force_upcast, lookup_from_codebook) are left out.
#include <algorithm>
#include <cmath>
#include <string>

#include "core/model/families.h"
#include "core/model/hf_fields.h"
#include "core/model/tensor_list.h"

namespace potluck::model {

namespace {

/// Calls `convolution` and `norm` for each in the order of the passes, with the side at which it is applied.
template <class Convolution, class Norm>
void each_coder_part(const ModelSpec& spec, const Convolution& convolution, const Norm& norm) {
    const CoderShape& shape = spec.coder;
    const std::uint64_t c = spec.width, d = shape.levels.size();
    std::uint64_t side = shape.side;
    const auto blocks = [&](const std::string& prefix) {
        for (std::uint32_t j = 0; j < spec.layers; ++j) {
            const std::string block = prefix + "block." + std::to_string(j) + ".";
            norm(block + "norm1");
            convolution(block + "conv1", c, c, 3, side);
            norm(block + "norm2");
            convolution(block + "conv2", c, c, 3, side);
        }
    };
    convolution("encoder.in", 3, c, 3, side);
    for (std::uint32_t i = 0; i < shape.halvings; ++i) {
        const std::string level = "encoder.level." + std::to_string(i) + ".";
        blocks(level);
        side /= 2;
        convolution(level + "down", c, c, 4, side);
    }
    blocks("encoder.middle.");
    norm("encoder.norm");
    convolution("encoder.code", c, d, 1, side);
    convolution("decoder.in", d, c, 1, side);
    blocks("decoder.middle.");
    for (std::uint32_t i = 0; i < shape.halvings; ++i) {
        const std::string level = "decoder.level." + std::to_string(i) + ".";
        side *= 2;
        convolution(level + "up", c, c, 3, side);
        blocks(level);
    }
    norm("decoder.norm");
    convolution("decoder.out", c, 3, 3, side);
}

/// The same of a coder with a code book; `linear` is each map between places of a so large grid.
template <class Convolution, class Norm, class Linear, class Table>
void each_book_part(const ModelSpec& spec, const Convolution& convolution, const Norm& norm, const Linear& linear,
                    const Table& table) {
    const CodeBook& book = spec.coder.book;
    const std::size_t last = book.widths.size() - 1;
    std::uint64_t side = spec.coder.side, c = book.widths.front();
    const auto block = [&](const std::string& name, std::uint64_t out) {
        norm(name + ".norm1", c);
        convolution(name + ".conv1", c, out, 3, side);
        norm(name + ".norm2", out);
        convolution(name + ".conv2", out, out, 3, side);
        if (c != out) convolution(name + ".conv_shortcut", c, out, 1, side);
        c = out;
    };
    const auto middle = [&](const std::string& name) {
        block(name + ".resnets.0", c);
        if (book.attention) {
            norm(name + ".attentions.0.group_norm", c);
            for (const char* map : {"to_q", "to_k", "to_v", "to_out.0"}) linear(name + ".attentions.0." + map, c, side);
        }
        block(name + ".resnets.1", c);
    };
    const auto level = [&](const std::string& name, std::uint32_t blocks, std::uint64_t out) {
        for (std::uint32_t j = 0; j < blocks; ++j) block(name + ".resnets." + std::to_string(j), out);
    };
    convolution("encoder.conv_in", 3, c, 3, side);
    for (std::size_t i = 0; i <= last; ++i) {
        const std::string name = "encoder.down_blocks." + std::to_string(i);
        level(name, spec.layers, book.widths[i]);
        if (i == last) break;
        side /= 2;
        convolution(name + ".downsamplers.0.conv", c, c, 3, side);
    }
    middle("encoder.mid_block");
    norm("encoder.conv_norm_out", c);
    convolution("encoder.conv_out", c, book.latent, 3, side);
    convolution("quant_conv", book.latent, book.width, 1, side);
    table("quantize.embedding.weight", side);
    convolution("post_quant_conv", book.width, book.latent, 1, side);
    convolution("decoder.conv_in", book.latent, c, 3, side);
    middle("decoder.mid_block");
    for (std::size_t i = 0; i <= last; ++i) {
        const std::string name = "decoder.up_blocks." + std::to_string(i);
        level(name, spec.layers + 1, book.widths[last - i]);
        if (i == last) break;
        side *= 2;
        convolution(name + ".upsamplers.0.conv", c, c, 3, side);
    }
    norm("decoder.conv_norm_out", c);
    convolution("decoder.conv_out", c, 3, 3, side);
}

std::uint64_t book_parameters(const ModelSpec& spec) {
    std::uint64_t sum = 0;
    each_book_part(
        spec,
        [&](const std::string&, std::uint64_t in, std::uint64_t out, std::uint64_t size, std::uint64_t) {
            sum += in * out * size * size + out;
        },
        [&](const std::string&, std::uint64_t width) { sum += 2 * width; },
        [&](const std::string&, std::uint64_t width, std::uint64_t) { sum += width * width + width; },
        [&](const std::string&, std::uint64_t) {
            sum += std::uint64_t{spec.coder.book.codes} * spec.coder.book.width;
        });
    return sum;
}

std::uint64_t book_applied_parameters(const ModelSpec& spec) {
    std::uint64_t products = 0;
    each_book_part(
        spec,
        [&](const std::string&, std::uint64_t in, std::uint64_t out, std::uint64_t size, std::uint64_t side) {
            products += in * out * size * size * side * side;
        },
        [](const std::string&, std::uint64_t) {},
        [&](const std::string&, std::uint64_t width, std::uint64_t side) { products += width * width * side * side; },
        [&](const std::string&, std::uint64_t side) {
            products += std::uint64_t{spec.coder.book.codes} * spec.coder.book.width * side * side;
        });
    return products / spec.context;
}

std::vector<TensorSpec> book_tensors(const ModelSpec& spec) {
    const CodeBook& book = spec.coder.book;
    TensorList list;
    each_book_part(
        spec,
        [&](const std::string& name, std::uint64_t in, std::uint64_t out, std::uint64_t size, std::uint64_t) {
            list.add_affine(name, {out, in, size, size}, out, Role::projection);
        },
        [&](const std::string& name, std::uint64_t width) { list.add_norm(name, width); },
        [&](const std::string& name, std::uint64_t width, std::uint64_t) {
            list.add_affine(name, {width, width}, width, Role::projection);
        },
        [&](const std::string& name, std::uint64_t) {
            list.add(name, {book.codes, book.width}, Role::embedding);
        });
    return list.take();
}

CodeBook read_book(const nlohmann::json& object, Fields& parent) {
    Fields fields(object, "code book");
    const auto count = [&](std::string_view name, std::uint64_t low, std::uint64_t high) {
        return static_cast<std::uint32_t>(fields.integer(name, low, high));
    };
    CodeBook book{.codes = count("codes", 2, coder_codes_max),
                  .width = count("width", 1, 1'024),
                  .latent = count("latent", 1, 1'024),
                  .groups = count("groups", 1, 256),
                  .attention = fields.flag("attention"),
                  .widths = {}};
    for (const nlohmann::json& item : fields.array("widths", coder_book_sides_max)) {
        const auto* width = item.get_ptr<const nlohmann::json::number_unsigned_t*>();
        const bool fine = width != nullptr && *width >= 1 && *width <= 2'048 && *width % book.groups == 0;
        if (!fine) fields.fail("widths holds something that is not a number up to 2,048 that groups divides");
        if (fields.failed()) break;
        book.widths.push_back(static_cast<std::uint32_t>(*width));
    }
    if (book.widths.size() < 2) fields.fail("widths has less than two sides");
    const Status status = fields.finish();
    if (status.ok()) return book;
    parent.fail(status.error().message);
    return {};  // none of it is used: its widths may be missing
}

std::vector<std::uint32_t> read_levels(Fields& fields) {
    std::vector<std::uint32_t> levels;
    std::uint64_t codes = 1;
    for (const nlohmann::json& item : fields.array("levels", coder_levels_max)) {
        const auto* level = item.get_ptr<const nlohmann::json::number_unsigned_t*>();
        const bool fine = level != nullptr && *level >= 2 && *level <= 64;
        if (!fine) fields.fail("levels holds something that is not a number from 2 to 64");
        levels.push_back(fine ? static_cast<std::uint32_t>(*level) : 2);
        codes *= levels.back();
        if (codes > coder_codes_max) fields.fail("levels come to more than 65,536 codes");
        if (fields.failed()) return levels;
    }
    if (levels.empty()) fields.fail("levels is empty");
    return levels;
}

CoderShape read_coder(Fields& fields, const ModelSpec& spec) {
    CoderShape shape;
    const bool book = fields.has("book");
    shape.side = static_cast<std::uint32_t>(fields.integer("side", 8, book ? coder_book_side_max : coder_side_max));
    shape.halvings = static_cast<std::uint32_t>(fields.integer("halvings", 1, 4));
    shape.levels.clear();
    if (book) {
        shape.book = read_book(fields.object("book"), fields);
        if (!fields.failed() && shape.book.widths.size() != shape.halvings + 1)
            fields.fail("book does not have a width for each side");
        if (!fields.failed() && shape.book.widths.front() != spec.width) fields.fail("width is not the book's first");
    } else {
        shape.levels = read_levels(fields);
    }
    if (fields.failed()) return shape;
    if (shape.side % (1U << shape.halvings) != 0 || shape.side >> shape.halvings < 2)
        fields.fail("side cannot be halved so often");
    if (spec.context != coder_context(shape)) fields.fail("context is not 3 times the square of side");
    if (spec.vocabulary != coder_values) fields.fail("vocabulary is not 256, the values of a colour");
    if (spec.heads != 1) fields.fail("heads is not 1; a coder has none");
    if (!book && spec.width % coder_groups != 0) fields.fail("width is not a multiple of 8, the groups of its norms");
    return shape;
}
void write_coder(const CoderShape& shape, nlohmann::json& object) {
    object["side"] = shape.side;
    object["halvings"] = shape.halvings;
    const CodeBook& book = shape.book;
    if (book.codes == 0) {
        object["levels"] = shape.levels;
        return;
    }
    object["book"] = {{"codes", book.codes},   {"width", book.width},         {"latent", book.latent},
                      {"groups", book.groups}, {"attention", book.attention}, {"widths", book.widths}};
}

std::uint64_t coder_parameters(const ModelSpec& spec) {
    if (has_code_book(spec)) return book_parameters(spec);
    std::uint64_t sum = 0;
    each_coder_part(
        spec,
        [&](const std::string&, std::uint64_t in, std::uint64_t out, std::uint64_t size, std::uint64_t) {
            sum += in * out * size * size + out;
        },
        [&](const std::string&) { sum += 2 * std::uint64_t{spec.width}; });
    return sum;
}

std::uint64_t coder_applied_parameters(const ModelSpec& spec) {
    if (has_code_book(spec)) return book_applied_parameters(spec);
    std::uint64_t products = 0;
    each_coder_part(
        spec,
        [&](const std::string&, std::uint64_t in, std::uint64_t out, std::uint64_t size, std::uint64_t side) {
            products += in * out * size * size * side * side;
        },
        [](const std::string&) {});
    return products / spec.context;
}

std::vector<TensorSpec> coder_tensors(const ModelSpec& spec) {
    if (has_code_book(spec)) return book_tensors(spec);
    TensorList list;
    each_coder_part(
        spec,
        [&](const std::string& name, std::uint64_t in, std::uint64_t out, std::uint64_t size, std::uint64_t) {
            list.add_affine(name, {out, in, size, size}, out, Role::projection);
        },
        [&](const std::string& name) { list.add_norm(name, spec.width); });
    return list.take();
}

constexpr const char* coder_model_type = "potluck_coder";
constexpr const char* book_class_name = "VQModel";

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

constexpr const char* coder_types[] = {coder_model_type};
constexpr Preset coder_presets[] = {{"coder-small", coder_values, coder_context({}), 1, 1, 64}};
constexpr Measure coder_measures[] = {{"PSNR", "dB", Measure::Better::higher},
                                      {"codes used", "%", Measure::Better::higher}};

}  // namespace

std::uint64_t coder_codes(const CoderShape& shape) {
    if (shape.book.codes > 0) return shape.book.codes;
    std::uint64_t codes = 1;
    for (const std::uint32_t level : shape.levels) codes *= level;
    return codes;
}

constinit const FamilyRow coder_row = {
    .family = Family::coder,
    .name = "coder",
    .title = [](const ModelSpec&) { return "picture coder"; },
    .data = DataKind::pictures,
    .baseline = Baseline::mean_colour,
    .measures = coder_measures,
    .read =
        [](Fields& fields, ModelSpec& spec) {
            spec.coder = read_coder(fields, spec);
            if (spec.dropout != 0.0F) fields.fail("dropout is not 0; a picture coder is trained without");
        },
    .write = [](const ModelSpec& spec, nlohmann::json& object) { write_coder(spec.coder, object); },
    .parameters = coder_parameters,
    .applied_parameters = coder_applied_parameters,
    .tensors = coder_tensors,
    // A convolution keeps the size of what goes in: one over the root of what each of its outputs reads.
    .initial = {[](const ModelSpec&, const TensorSpec& tensor) {
        return 1 / std::sqrt(static_cast<double>(tensor.elements() / tensor.shape.front()));
    }},
    .hugging_face = {.model_types = coder_types,
                     .parse = parse_coder_config,
                     .config = coder_config,
                     .class_name = book_class_name,
                     .parse_class = parse_book_config},
    .presets = coder_presets,
    .records = {.side = [](const ModelSpec& spec) { return spec.coder.side; },
                .with_side =
                    [](const ModelSpec& preset, std::uint32_t side) {
                        ModelSpec model = preset;
                        model.coder.side = side;
                        model.context = coder_context(model.coder);
                        return model;
                    }}};

}  // namespace potluck::model
