// ALBERT (Lan et al. 2019): an encoder whose layers share one set of weights, with a head for masked tokens and one for
// the order of two texts. A layer counts as often as it is applied, the head of masked tokens for the share of tokens
// that is masked. Names and shapes are those of Hugging Face's AlbertForPreTraining.
//
// Sources: configuration_albert.py and modeling_albert.py of huggingface/transformers.
#include <set>

#include "core/model/families.h"
#include "core/model/hf_fields.h"
#include "core/model/tensor_list.h"

namespace potluck::model {

namespace {

void add_albert_map(TensorList& list, const std::string& name, std::uint64_t in, std::uint64_t out, Role role) {
    list.add_affine(name, {out, in}, out, role);
}

/// The one layer that is applied again and again.
void add_albert_layer(TensorList& list, std::uint64_t c, std::uint64_t inner) {
    const std::string layer = "albert.encoder.albert_layer_groups.0.albert_layers.0.";
    const std::string attention = layer + "attention.";
    for (const char* part : {"query", "key", "value"}) list.add(attention + part + ".weight", {c, c}, Role::matrix);
    for (const char* part : {"query", "key", "value"}) list.add(attention + part + ".bias", {c}, Role::bias);
    add_albert_map(list, attention + "dense", c, c, Role::matrix);
    list.add_norm(attention + "LayerNorm", c);
    add_albert_map(list, layer + "ffn", c, inner, Role::matrix);
    add_albert_map(list, layer + "ffn_output", inner, c, Role::matrix);
    list.add_norm(layer + "full_layer_layer_norm", c);
}

std::uint64_t albert_layer_parameters(const ModelSpec& spec) {
    const std::uint64_t c = spec.width, inner = spec.albert.inner;
    const std::uint64_t attention = 4 * c * c + 4 * c, norms = 4 * c;
    return attention + norms + c * inner + inner + inner * c + c;
}

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
    return embeddings + mapping + albert_layer_parameters(spec) + pooler + order + predictions;
}

std::uint64_t albert_applied_parameters(const ModelSpec& spec) {
    const std::uint64_t c = spec.width, e = spec.albert.embedding;
    const auto head = static_cast<double>(c * e + std::uint64_t{spec.vocabulary} * e) * spec.albert.mask_share;
    return spec.layers * albert_layer_parameters(spec) + e * c + static_cast<std::uint64_t>(head);
}

std::vector<TensorSpec> albert_tensors(const ModelSpec& spec) {
    const std::uint64_t c = spec.width, e = spec.albert.embedding;
    const std::string embeddings = "albert.embeddings.";
    TensorList list;
    list.add(embeddings + "word_embeddings.weight", {spec.vocabulary, e}, Role::embedding);
    list.add(embeddings + "position_embeddings.weight", {spec.context, e}, Role::positions);
    list.add(embeddings + "token_type_embeddings.weight", {albert_segments, e}, Role::projection);
    list.add_norm(embeddings + "LayerNorm", e);
    add_albert_map(list, "albert.encoder.embedding_hidden_mapping_in", e, c, Role::projection);
    list.enter(0);
    add_albert_layer(list, c, spec.albert.inner);
    list.enter(std::nullopt);
    add_albert_map(list, "albert.pooler", c, c, Role::projection);
    add_albert_map(list, "sop_classifier.classifier", c, albert_orders, Role::projection);
    add_albert_map(list, "predictions.dense", c, e, Role::projection);
    list.add_norm("predictions.LayerNorm", e);
    list.add("predictions.bias", {spec.vocabulary}, Role::bias);
    return list.take();
}

constexpr double albert_epsilon = 1e-12;
constexpr std::uint32_t albert_default_mask =
    4;  // of ALBERT's and sahajBERT's vocabularies; configurations do not name it

Result<ModelSpec> parse_albert_config(const nlohmann::json& config) {
    const nlohmann::json known =
        picked(config, {"vocab_size", "embedding_size", "hidden_size", "num_hidden_layers", "num_hidden_groups",
                        "inner_group_num", "num_attention_heads", "intermediate_size", "hidden_act",
                        "max_position_embeddings", "type_vocab_size", "layer_norm_eps", "position_embedding_type",
                        "pad_token_id", "bos_token_id", "eos_token_id", "mask_token_id", "tie_word_embeddings"});
    Fields fields(known, "config.json");
    const auto id = [&](const char* name, std::uint32_t usual) {
        return static_cast<std::uint32_t>(fields.integer_or(name, 0, count_max, usual));
    };
    ModelSpec model;
    model.family = Family::albert;
    model.vocabulary = count(fields, "vocab_size");
    model.context = count(fields, "max_position_embeddings");
    model.layers = count(fields, "num_hidden_layers");
    model.heads = count(fields, "num_attention_heads");
    model.width = count(fields, "hidden_size");
    model.albert.embedding = count(fields, "embedding_size");
    model.albert.inner = count(fields, "intermediate_size");
    model.albert.pad = id("pad_token_id", 0);
    model.albert.cls = id("bos_token_id", 2);
    model.albert.sep = id("eos_token_id", 3);
    model.albert.mask = id("mask_token_id", albert_default_mask);
    for (const char* name : {"num_hidden_groups", "inner_group_num"}) {
        if (fields.integer_or(name, 1, count_max, 1) != 1) {
            fields.fail(std::string(name) + " is not 1, which this version cannot train");
        }
    }
    if (fields.integer_or("type_vocab_size", 1, count_max, albert_segments) != albert_segments) {
        fields.fail("type_vocab_size is not 2, which this version cannot train");
    }
    if (fields.text_or("hidden_act", 64, "gelu_new") != "gelu_new") {
        fields.fail("hidden_act is not gelu_new, which is the one this version trains");
    }
    if (fields.text_or("position_embedding_type", 64, "absolute") != "absolute") {
        fields.fail("position_embedding_type is not absolute, which is the one this version trains");
    }
    if (fields.number_or("layer_norm_eps", 0, 1, albert_epsilon) != albert_epsilon) {
        fields.fail("layer_norm_eps is not 1e-12, which is the one this version trains");
    }
    expect(fields, "tie_word_embeddings", true);
    return checked(fields, model);
}

nlohmann::json albert_config(const ModelSpec& model) {
    const AlbertShape& shape = model.albert;
    return {{"architectures", {"AlbertForPreTraining"}},
            {"model_type", "albert"},
            {"vocab_size", model.vocabulary},
            {"embedding_size", shape.embedding},
            {"hidden_size", model.width},
            {"num_hidden_layers", model.layers},
            {"num_hidden_groups", 1},
            {"inner_group_num", 1},
            {"num_attention_heads", model.heads},
            {"intermediate_size", shape.inner},
            {"hidden_act", "gelu_new"},
            {"hidden_dropout_prob", 0.0},
            {"attention_probs_dropout_prob", 0.0},
            {"classifier_dropout_prob", 0.1},
            {"max_position_embeddings", model.context},
            {"type_vocab_size", albert_segments},
            {"initializer_range", 0.02},
            {"layer_norm_eps", albert_epsilon},
            {"tie_word_embeddings", true},
            {"pad_token_id", shape.pad},
            {"bos_token_id", shape.cls},
            {"eos_token_id", shape.sep},
            {"mask_token_id", shape.mask},
            {"torch_dtype", "float32"}};
}

std::string canonical_albert(std::string_view name) {
    return std::string(name == "predictions.decoder.weight" ? head_name : name);
}

/// The numbers from 0 on, and zeros, that checkpoints carry.
bool is_counter(std::string_view name) { return name.ends_with(".position_ids") || name.ends_with(".token_type_ids"); }

constexpr Measure albert_measures[] = {
    {"gap loss", "nats"}, {"order loss", "nats"}, {"orders predicted", "%", Measure::Better::higher}};
constexpr const char* albert_types[] = {"albert"};
constexpr auto shape_albert = [](ModelSpec& model) { model.albert.inner = 4 * model.width; };
constexpr Preset albert_presets[] = {{"albert-tiny", 260, 128, 12, 4, 256,
                                      [](ModelSpec& model) {  // marks behind bytes
                                          model.albert = {128, 4 * model.width, 0.15, 256, 257, 258, 259};
                                      }},
                                     {"albert-base", 30'000, 512, 12, 12, 768, shape_albert},
                                     {"albert-large", 30'000, 512, 24, 16, 1'024, shape_albert},
                                     {"sahajbert", 32'000, 512, 24, 16, 1'024, shape_albert}};

}  // namespace

constinit const FamilyRow albert_row = {
    .family = Family::albert,
    .name = "albert",
    .title = [](const ModelSpec&) { return "ALBERT"; },
    .data = DataKind::pairs,
    .baseline = Baseline::unigram,
    .measures = albert_measures,
    .read =
        [](Fields& fields, ModelSpec& spec) {
            spec.albert = read_albert(fields, spec.vocabulary);
            if (spec.dropout != 0.0F) fields.fail("dropout is not 0; ALBERT is trained without");
        },
    .write = [](const ModelSpec& spec, nlohmann::json& object) { write_albert(spec.albert, object); },
    .parameters = albert_parameters,
    .applied_parameters = albert_applied_parameters,
    .tensors = albert_tensors,
    .widths = [](const ModelSpec& spec) { return even_widths(spec, spec.albert.inner); },
    .initial = {[](const ModelSpec& spec, const TensorSpec& tensor) { return decoder_deviation(spec, tensor); }},
    .hugging_face = {.model_types = albert_types,
                     .parse = parse_albert_config,
                     .config = albert_config,
                     .canonical = canonical_albert,
                     .is_left_out = is_counter,
                     .twin_of_last = "predictions.decoder.bias"},
    .presets = albert_presets,
    .reshape = [](const ModelSpec& preset,
                  ModelSpec& model) { model.albert.inner = preset.albert.inner / preset.width * model.width; },
    .records = {.marks = [](const ModelSpec& spec) -> std::optional<TextMarks> {
                    const AlbertShape& shape = spec.albert;
                    return TextMarks{shape.pad, shape.cls, shape.sep, shape.mask};
                },
                .set_marks =
                    [](ModelSpec& spec, const TextMarks& marks) {
                        spec.albert.pad = marks.pad;
                        spec.albert.cls = marks.cls;
                        spec.albert.sep = marks.sep;
                        spec.albert.mask = marks.mask;
                    }}};

}  // namespace potluck::model
