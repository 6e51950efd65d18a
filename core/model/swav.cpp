// A residual network as torchvision names and shapes it, a projection head of two maps with a norm between them, and
// prototypes, the rows that embeddings are compared with. The walk over its parts is the one source: what it stores,
// what it computes for a crop and what autograd keeps of one are sums over it, and its order is that of the passes
// (core/training/picture/swav.cpp).
//
//   stem -> stage 1 -> stage 2 -> stage 3 -> stage 4 -> mean over places -> head -> unit length -> prototypes
//
// Each stage is twice as wide as the one before it and, but for the first, half as high. A bottleneck's stride is in
// its middle convolution. What running averages batch norms have is no parameter and is not stored here.
//
// Sources: Caron et al. 2020, arXiv 2006.09882; He et al. 2015; pytorch/vision, resnet.py; facebookresearch/swav.
#include <string>

#include "core/model/families.h"
#include "core/model/tensor_list.h"

namespace potluck::model {

namespace {

constexpr std::uint64_t halved(std::uint64_t side) { return (side + 1) / 2; }

/// Calls `convolution` with name, inputs, outputs, size and the side that comes out, and `norm` with name and width,
/// in the order of the passes, for a crop of `side`.
template <class Convolution, class Norm>
void each_part(const ModelSpec& spec, std::uint64_t side, const Convolution& convolution, const Norm& norm) {
    const SwavShape& shape = spec.swav;
    const bool bottleneck = shape.block == SwavBlock::bottleneck;
    const std::uint64_t expansion = swav_expansion(shape.block);
    const auto unit = [&](const std::string& name, const std::string& suffix, std::uint64_t in, std::uint64_t out,
                          std::uint64_t size) {
        convolution(name + "conv" + suffix, in, out, size, side);
        norm(name + "bn" + suffix, out);
    };
    const bool large = shape.stem == SwavStem::large;
    if (large) side = halved(side);
    unit("", "1", 3, spec.width, large ? 7 : 3);
    if (large) side = halved(side);
    std::uint64_t in = spec.width;
    for (std::uint32_t stage = 0; stage < swav_stages; ++stage) {
        const std::uint64_t planes = std::uint64_t{spec.width} << stage, out = planes * expansion;
        for (std::uint32_t i = 0; i < shape.stages[stage]; ++i) {
            const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i) + ".";
            const bool halves = swav_stride(stage, i) == 2;
            if (bottleneck) unit(name, "1", in, planes, 1);  // at the side that comes in
            if (halves) side = halved(side);
            unit(name, bottleneck ? "2" : "1", bottleneck ? planes : in, planes, 3);
            unit(name, bottleneck ? "3" : "2", planes, out, bottleneck ? 1 : 3);
            if (halves || in != out) {
                convolution(name + "downsample.0", in, out, 1, side);
                norm(name + "downsample.1", out);
            }
            in = out;
        }
    }
}

std::uint64_t head_products(const ModelSpec& spec) {
    const SwavShape& shape = spec.swav;
    return std::uint64_t{shape.hidden} * (swav_features(spec) + shape.embedding) +
           std::uint64_t{shape.embedding} * shape.prototypes;
}

}  // namespace

std::uint64_t swav_features(const ModelSpec& spec) {
    return (std::uint64_t{spec.width} << (swav_stages - 1)) * swav_expansion(spec.swav.block);
}

SwavWork swav_work(const ModelSpec& spec, std::uint32_t side) {
    SwavWork work;
    each_part(
        spec, side,
        [&](const std::string&, std::uint64_t in, std::uint64_t out, std::uint64_t size, std::uint64_t outside) {
            const std::uint64_t values = out * outside * outside;
            work.products += in * size * size * values;
            work.values += values;
            work.largest = std::max(work.largest, values);
        },
        [](const std::string&, std::uint64_t) {});
    work.products += head_products(spec);
    return work;
}

SwavShape read_swav(Fields& fields, const ModelSpec& spec) {
    const auto count = [&](std::string_view name, std::uint64_t low, std::uint64_t high) {
        return static_cast<std::uint32_t>(fields.integer(name, low, high));
    };
    SwavShape shape;
    shape.side = count("side", 8, swav_side_max);
    const std::string stem = fields.text("stem", 16), block = fields.text("block", 16);
    if (stem != "small" && stem != "large") fields.fail("stem is not one this version knows (small, large)");
    if (block != "basic" && block != "bottleneck")
        fields.fail("block is not one this version knows (basic, bottleneck)");
    shape.stem = stem == "large" ? SwavStem::large : SwavStem::small;
    shape.block = block == "bottleneck" ? SwavBlock::bottleneck : SwavBlock::basic;
    const nlohmann::json& stages = fields.array("stages", swav_stages);
    if (stages.size() != swav_stages) fields.fail("stages is not four numbers");
    std::uint32_t blocks = 0;
    for (std::size_t i = 0; i < swav_stages && !fields.failed(); ++i) {
        const auto* found = stages[i].get_ptr<const nlohmann::json::number_unsigned_t*>();
        if (found == nullptr || *found < 1 || *found > swav_blocks_max)
            fields.fail("stages holds something that is not a number from 1 to 64");
        else
            blocks += shape.stages[i] = static_cast<std::uint32_t>(*found);
    }
    shape.hidden = count("hidden", 8, 16'384);
    shape.embedding = count("embedding", 8, 4'096);
    shape.prototypes = count("prototypes", 2, swav_prototypes_max);
    shape.large_side = count("large_side", 8, swav_side_max);
    shape.small_side = count("small_side", 8, swav_side_max);
    shape.small_crops = count("small_crops", 0, swav_crops_max);
    shape.area_min = fields.number("area_min", 0.01, 1);
    shape.area_split = fields.number("area_split", 0.01, 1);
    shape.temperature = fields.number("temperature", 0.01, 10);
    shape.epsilon = fields.number("epsilon", 0.01, 10);
    shape.queue = count("queue", 0, swav_queue_max);
    shape.queue_from = count("queue_from", 0, swav_rounds_max);
    shape.frozen = count("frozen", 0, swav_rounds_max);
    shape.together = count("together", 2, swav_together_max);
    if (fields.failed()) return shape;
    if (spec.context != swav_context(shape)) fields.fail("context is not 3 times the square of side");
    if (spec.vocabulary != coder_values) fields.fail("vocabulary is not 256, the values of a colour");
    if (spec.heads != 1) fields.fail("heads is not 1; SwAV has none");
    if (spec.layers != blocks) fields.fail("layers is not the sum of stages");
    if (shape.area_min > shape.area_split) fields.fail("area_min is larger than area_split");
    return shape;
}

void write_swav(const SwavShape& shape, nlohmann::json& object) {
    object["side"] = shape.side;
    object["stem"] = shape.stem == SwavStem::large ? "large" : "small";
    object["block"] = shape.block == SwavBlock::bottleneck ? "bottleneck" : "basic";
    object["stages"] = shape.stages;
    object["hidden"] = shape.hidden;
    object["embedding"] = shape.embedding;
    object["prototypes"] = shape.prototypes;
    object["large_side"] = shape.large_side;
    object["small_side"] = shape.small_side;
    object["small_crops"] = shape.small_crops;
    object["area_min"] = shape.area_min;
    object["area_split"] = shape.area_split;
    object["temperature"] = shape.temperature;
    object["epsilon"] = shape.epsilon;
    object["queue"] = shape.queue;
    object["queue_from"] = shape.queue_from;
    object["frozen"] = shape.frozen;
    object["together"] = shape.together;
}

std::uint64_t swav_parameters(const ModelSpec& spec) {
    const SwavShape& shape = spec.swav;
    std::uint64_t sum = 0;
    each_part(
        spec, shape.large_side,
        [&](const std::string&, std::uint64_t in, std::uint64_t out, std::uint64_t size, std::uint64_t) {
            sum += in * out * size * size;
        },
        [&](const std::string&, std::uint64_t width) { sum += 2 * width; });
    return sum + head_products(spec) + 3 * std::uint64_t{shape.hidden} + shape.embedding;
}

std::uint64_t swav_applied_parameters(const ModelSpec& spec) {
    const SwavShape& shape = spec.swav;
    const std::uint64_t products = swav_large_crops * swav_work(spec, shape.large_side).products +
                                   shape.small_crops * swav_work(spec, shape.small_side).products;
    return products / spec.context;
}

std::vector<TensorSpec> swav_tensors(const ModelSpec& spec) {
    const SwavShape& shape = spec.swav;
    TensorList list;
    each_part(
        spec, shape.large_side,
        [&](const std::string& name, std::uint64_t in, std::uint64_t out, std::uint64_t size, std::uint64_t) {
            list.add(name + ".weight", {out, in, size, size}, Role::projection);
        },
        [&](const std::string& name, std::uint64_t width) { list.add_norm(name, width); });
    list.add_affine("projection_head.0", {shape.hidden, swav_features(spec)}, shape.hidden, Role::projection);
    list.add_norm("projection_head.1", shape.hidden);
    list.add_affine("projection_head.3", {shape.embedding, shape.hidden}, shape.embedding, Role::projection);
    list.add("prototypes.weight", {shape.prototypes, shape.embedding}, Role::projection);
    return list.take();
}

}  // namespace potluck::model
