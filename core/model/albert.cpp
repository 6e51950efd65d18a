#include "core/model/families.h"

#include <set>

#include "core/model/tensor_list.h"

namespace potluck::model {

namespace {

void add_linear_map(TensorList& list, const std::string& name, std::uint64_t in, std::uint64_t out, Role role) {
    list.add_affine(name, {out, in}, out, role);
}

/// The one layer that is applied again and again.
void add_albert_layer(TensorList& list, std::uint64_t c, std::uint64_t inner) {
    const std::string layer = "albert.encoder.albert_layer_groups.0.albert_layers.0.";
    const std::string attention = layer + "attention.";
    for (const char* part : {"query", "key", "value"}) list.add(attention + part + ".weight", {c, c}, Role::matrix);
    for (const char* part : {"query", "key", "value"}) list.add(attention + part + ".bias", {c}, Role::bias);
    add_linear_map(list, attention + "dense", c, c, Role::matrix);
    list.add_norm(attention + "LayerNorm", c);
    add_linear_map(list, layer + "ffn", c, inner, Role::matrix);
    add_linear_map(list, layer + "ffn_output", inner, c, Role::matrix);
    list.add_norm(layer + "full_layer_layer_norm", c);
}

std::uint64_t layer_parameters(const ModelSpec& spec) {
    const std::uint64_t c = spec.width, inner = spec.albert.inner;
    const std::uint64_t attention = 4 * c * c + 4 * c, norms = 4 * c;
    return attention + norms + c * inner + inner + inner * c + c;
}

}  // namespace

AlbertShape read_albert(Fields& fields, std::uint32_t vocabulary) {
    const auto count = [&](std::string_view name, std::uint64_t low, std::uint64_t high) {
        return static_cast<std::uint32_t>(fields.integer(name, low, high));
    };
    AlbertShape shape;
    shape.embedding = count("embedding", 8, 16'384);
    shape.inner = count("inner", 8, 131'072);
    shape.mask_share = fields.number("mask_share", 0.01, 0.5);
    shape.pad = count("pad", 0, vocabulary - 1);
    shape.cls = count("cls", 0, vocabulary - 1);
    shape.sep = count("sep", 0, vocabulary - 1);
    shape.mask = count("mask", 0, vocabulary - 1);
    if (fields.failed()) return shape;
    if (std::set<std::uint32_t>{shape.pad, shape.cls, shape.sep, shape.mask}.size() < 4) {
        fields.fail("pad, cls, sep and mask are not four tokens");
    }
    return shape;
}

void write_albert(const AlbertShape& shape, nlohmann::json& object) {
    object["embedding"] = shape.embedding;
    object["inner"] = shape.inner;
    object["mask_share"] = shape.mask_share;
    object["pad"] = shape.pad;
    object["cls"] = shape.cls;
    object["sep"] = shape.sep;
    object["mask"] = shape.mask;
}

std::uint64_t albert_parameters(const ModelSpec& spec) {
    const std::uint64_t c = spec.width, e = spec.albert.embedding;
    const std::uint64_t embeddings = (std::uint64_t{spec.vocabulary} + spec.context + albert_segments) * e + 2 * e;
    const std::uint64_t mapping = e * c + c;
    const std::uint64_t pooler = c * c + c, order = albert_orders * c + albert_orders;
    const std::uint64_t predictions = c * e + e + 2 * e + spec.vocabulary;
    return embeddings + mapping + layer_parameters(spec) + pooler + order + predictions;
}

std::uint64_t albert_applied_parameters(const ModelSpec& spec) {
    const std::uint64_t c = spec.width, e = spec.albert.embedding;
    const auto head = static_cast<double>(c * e + std::uint64_t{spec.vocabulary} * e) * spec.albert.mask_share;
    return spec.layers * layer_parameters(spec) + e * c + static_cast<std::uint64_t>(head);
}

std::vector<TensorSpec> albert_tensors(const ModelSpec& spec) {
    const std::uint64_t c = spec.width, e = spec.albert.embedding;
    const std::string embeddings = "albert.embeddings.";
    TensorList list;
    list.add(embeddings + "word_embeddings.weight", {spec.vocabulary, e}, Role::embedding);
    list.add(embeddings + "position_embeddings.weight", {spec.context, e}, Role::positions);
    list.add(embeddings + "token_type_embeddings.weight", {albert_segments, e}, Role::projection);
    list.add_norm(embeddings + "LayerNorm", e);
    add_linear_map(list, "albert.encoder.embedding_hidden_mapping_in", e, c, Role::projection);
    list.enter(0);
    add_albert_layer(list, c, spec.albert.inner);
    list.enter(std::nullopt);
    add_linear_map(list, "albert.pooler", c, c, Role::projection);
    add_linear_map(list, "sop_classifier.classifier", c, albert_orders, Role::projection);
    add_linear_map(list, "predictions.dense", c, e, Role::projection);
    list.add_norm("predictions.LayerNorm", e);
    list.add("predictions.bias", {spec.vocabulary}, Role::bias);
    return list.take();
}

}  // namespace potluck::model
