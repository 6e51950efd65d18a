// The list of tensors is the one source: what a coder stores and what it computes are sums over it, so the order here
// is the order of the passes (core/training/picture/coder.cpp).
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

}  // namespace

CoderShape read_coder(Fields& fields, const ModelSpec& spec) {
    CoderShape shape;
    shape.side = static_cast<std::uint32_t>(fields.integer("side", 8, coder_side_max));
    shape.halvings = static_cast<std::uint32_t>(fields.integer("halvings", 1, 4));
    shape.levels.clear();
    std::uint64_t codes = 1;
    for (const nlohmann::json& item : fields.array("levels", coder_levels_max)) {
        const auto* level = item.get_ptr<const nlohmann::json::number_unsigned_t*>();
        const bool fine = level != nullptr && *level >= 2 && *level <= 64;
        if (!fine) fields.fail("levels holds something that is not a number from 2 to 64");
        shape.levels.push_back(fine ? static_cast<std::uint32_t>(*level) : 2);
        codes *= shape.levels.back();
        if (codes > coder_codes_max) fields.fail("levels come to more than 65,536 codes");
        if (fields.failed()) return shape;
    }
    if (shape.levels.empty()) fields.fail("levels is empty");
    if (fields.failed()) return shape;
    if (shape.side % (1U << shape.halvings) != 0 || shape.side >> shape.halvings < 2)
        fields.fail("side cannot be halved so often");
    if (spec.context != coder_context(shape)) fields.fail("context is not 3 times the square of side");
    if (spec.vocabulary != coder_values) fields.fail("vocabulary is not 256, the values of a colour");
    if (spec.heads != 1) fields.fail("heads is not 1; a coder has none");
    if (spec.width % coder_groups != 0) fields.fail("width is not a multiple of 8, the groups of its norms");
    return shape;
}

void write_coder(const CoderShape& shape, nlohmann::json& object) {
    object["side"] = shape.side;
    object["halvings"] = shape.halvings;
    object["levels"] = shape.levels;
}

std::uint64_t coder_parameters(const ModelSpec& spec) {
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
