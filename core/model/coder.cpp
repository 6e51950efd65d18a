// What a picture coder stores and computes, and its fields in JSON, which are read strictly.
//
// The list of tensors is the one source: what a coder stores and what it computes are sums over it, so the order here
// is the order of the passes (core/training/picture/coder.cpp). A coder with a code book has another list, whose names
// are those of diffusers' VQModel, so that its files are read as they are (core/training/picture/book_coder.cpp).
#include "core/model/families.h"

#include <string>

#include "core/model/tensor_list.h"

namespace potluck::model {

namespace {

/// Calls `convolution` and `norm` for each in the order of the passes, with the side at which it is applied.
template <class Convolution, class Norm>
void each_part(const ModelSpec& spec, const Convolution& convolution, const Norm& norm) {
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

}  // namespace

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
    each_part(
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
    each_part(
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
    each_part(
        spec,
        [&](const std::string& name, std::uint64_t in, std::uint64_t out, std::uint64_t size, std::uint64_t) {
            list.add_affine(name, {out, in, size, size}, out, Role::projection);
        },
        [&](const std::string& name) { list.add_norm(name, spec.width); });
    return list.take();
}

}  // namespace potluck::model
