// SwAV (Caron et al. 2020): a residual network that learns embeddings from pictures alone, by clusters.
//
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
#include <algorithm>
#include <cmath>
#include <string>

#include "core/model/families.h"
#include "core/model/hf_fields.h"
#include "core/model/tensor_list.h"

namespace potluck::model {

namespace {

constexpr std::uint64_t halved(std::uint64_t side) { return (side + 1) / 2; }

/// Calls `part` with the values that the stem, or a block, takes in, `convolution` with name, inputs, outputs, size and
/// the side that comes out, and `norm` with name and width, in the order of the passes, for a crop of `side`.
template <class Convolution, class Norm, class Part>
void each_swav_part(const ModelSpec& spec, std::uint64_t side, const Convolution& convolution, const Norm& norm,
                    const Part& part) {
    const SwavShape& shape = spec.swav;
    const bool bottleneck = shape.block == SwavBlock::bottleneck;
    const std::uint64_t expansion = swav_expansion(shape.block);
    const auto unit = [&](const std::string& name, const std::string& suffix, std::uint64_t in, std::uint64_t out,
                          std::uint64_t size) {
        convolution(name + "conv" + suffix, in, out, size, side);
        norm(name + "bn" + suffix, out);
    };
    const bool large = shape.stem == SwavStem::large;
    part(3 * side * side);
    if (large) side = halved(side);
    unit("", "1", 3, spec.width, large ? 7 : 3);
    if (large) side = halved(side);
    std::uint64_t in = spec.width;
    for (std::uint32_t stage = 0; stage < swav_stages; ++stage) {
        const std::uint64_t planes = std::uint64_t{spec.width} << stage, out = planes * expansion;
        for (std::uint32_t i = 0; i < shape.stages[stage]; ++i) {
            const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i) + ".";
            const bool halves = swav_stride(stage, i) == 2;
            part(in * side * side);
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

constexpr auto no_part = [](std::uint64_t) {};

std::uint64_t head_products(const ModelSpec& spec) {
    const SwavShape& shape = spec.swav;
    return std::uint64_t{shape.hidden} * (swav_features(spec) + shape.embedding) +
           std::uint64_t{shape.embedding} * shape.prototypes;
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
    shape.together = count("together", swav_together_min, swav_together_max);
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
    each_swav_part(
        spec, shape.large_side,
        [&](const std::string&, std::uint64_t in, std::uint64_t out, std::uint64_t size, std::uint64_t) {
            sum += in * out * size * size;
        },
        [&](const std::string&, std::uint64_t width) { sum += 2 * width; }, no_part);
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
    each_swav_part(
        spec, shape.large_side,
        [&](const std::string& name, std::uint64_t in, std::uint64_t out, std::uint64_t size, std::uint64_t) {
            list.add(name + ".weight", {out, in, size, size}, Role::projection);
        },
        [&](const std::string& name, std::uint64_t width) { list.add_norm(name, width); }, no_part);
    list.add_affine("projection_head.0", {shape.hidden, swav_features(spec)}, shape.hidden, Role::projection);
    list.add_norm("projection_head.1", shape.hidden);
    list.add_affine("projection_head.3", {shape.embedding, shape.hidden}, shape.embedding, Role::projection);
    list.add("prototypes.weight", {shape.prototypes, shape.embedding}, Role::projection);
    return list.take();
}

constexpr const char* swav_model_type = "potluck_swav";

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

/// What batch norms of torchvision remember of pictures that they saw: no parameters.
bool is_remembered(std::string_view name) {
    return name.ends_with(".running_mean") || name.ends_with(".running_var") || name.ends_with(".num_batches_tracked");
}

std::string canonical_swav(std::string_view name) {
    strip(name, "module.");
    return std::string(name);
}

/// A residual network keeps the size of what comes back: by what each of its inputs reaches (He et al. 2015).
double swav_deviation(const ModelSpec& spec, const TensorSpec& tensor) {
    if (tensor.shape.size() != 4) return decoder_deviation(spec, tensor);
    return std::sqrt(2 / static_cast<double>(tensor.elements() / tensor.shape[1]));
}

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

constexpr const char* swav_types[] = {swav_model_type};
constexpr Measure swav_measures[] = {{"clusters in use", "%", Measure::Better::higher},
                                     {"classes told by neighbours", "%", Measure::Better::higher}};
constexpr Preset swav_presets[] = {{"swav-tiny", coder_values, swav_context({}), 4, 1, 32},
                                   // Pictures whose shorter side is 256 pixels, in square, as ImageNet's are read.
                                   {"swav-resnet50", coder_values, swav_context({.side = 256}), 16, 1, 64,
                                    [](ModelSpec& model) { model.swav = swav_resnet50; }}};

}  // namespace

std::uint64_t swav_features(const ModelSpec& spec) {
    return (std::uint64_t{spec.width} << (swav_stages - 1)) * swav_expansion(spec.swav.block);
}

SwavWork swav_work(const ModelSpec& spec, std::uint32_t side) {
    SwavWork work;
    each_swav_part(
        spec, side,
        [&](const std::string&, std::uint64_t in, std::uint64_t out, std::uint64_t size, std::uint64_t outside) {
            const std::uint64_t values = out * outside * outside;
            work.products += in * size * size * values;
            work.values += values;
            work.largest = std::max(work.largest, values);
            work.parts.back().values += values;
        },
        [](const std::string&, std::uint64_t) {}, [&](std::uint64_t in) { work.parts.push_back({.in = in}); });
    work.products += head_products(spec);
    return work;
}

constinit const FamilyRow swav_row = {
    .family = Family::swav,
    .name = "swav",
    .title = [](const ModelSpec&) { return "SwAV"; },
    .data = DataKind::pictures,
    .baseline = Baseline::chance,
    .measures = swav_measures,
    .read =
        [](Fields& fields, ModelSpec& spec) {
            spec.swav = read_swav(fields, spec);
            if (spec.dropout != 0.0F) fields.fail("dropout is not 0; SwAV is trained without");
        },
    .write = [](const ModelSpec& spec, nlohmann::json& object) { write_swav(spec.swav, object); },
    .parameters = swav_parameters,
    .applied_parameters = swav_applied_parameters,
    .tensors = swav_tensors,
    .initial = {swav_deviation, true},
    .hugging_face = {.model_types = swav_types,
                     .parse = parse_swav_config,
                     .config = swav_config,
                     .canonical = canonical_swav,
                     .is_left_out = is_remembered},
    .presets = swav_presets,
    .records = {.side = [](const ModelSpec& spec) { return spec.swav.side; },
                .with_side =
                    [](const ModelSpec& preset, std::uint32_t side) {
                        const SwavShape& shape = preset.swav;
                        ModelSpec model = preset;
                        model.swav.side = side;
                        model.swav.large_side = shape.large_side * side / shape.side;
                        model.swav.small_side = shape.small_side * side / shape.side;
                        model.context = swav_context(model.swav);
                        return model;
                    },
                .clusters = [](const ModelSpec& spec) { return spec.swav.prototypes; },
                .set_clusters = [](ModelSpec& spec, std::uint32_t clusters) { spec.swav.prototypes = clusters; },
                .set_together = [](ModelSpec& spec, std::uint32_t records) { spec.swav.together = records; }}};

}  // namespace potluck::model
