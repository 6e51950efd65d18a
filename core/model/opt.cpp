// OPT (Zhang et al. 2022): a decoder with learned positions, ReLU, and separate q, k and v. The weights of the three
// lie side by side in the flat vector, and so do their biases, so that each triple is one matrix or one vector.
// Positions begin at the third row, fairseq's padding offset. OPT-350M differs from the others in more than its size:
// its norms stand behind attention and MLP, and its token embedding has a width of its own with a projection on either
// side.
//
// Names and shapes are those of Hugging Face's OPTForCausalLM, whose Linear weights are [out, in].
//
// Sources: configuration_opt.py and modeling_opt.py of huggingface/transformers.
#include "core/model/families.h"
#include "core/model/hf_fields.h"
#include "core/model/tensor_list.h"

namespace potluck::model {

namespace {

constexpr const char* norm_name(NormPlace norm) { return norm == NormPlace::before ? "before" : "after"; }

/// OPT learns its positions from the third row on (Zhang et al. 2022, fairseq's padding offset).
constexpr std::uint64_t opt_position_offset = 2;

/// Weights as [out, in], as torch.nn.Linear keeps them.
void add_linear(TensorList& list, const std::string& name, std::uint64_t in, std::uint64_t out,
                Role role = Role::matrix) {
    list.add_affine(name, {out, in}, out, role);
}

/// The three weights, then the three biases, lie side by side: each triple is one [3C, C] matrix or [3C] vector.
void add_opt_attention(TensorList& list, const std::string& prefix, std::uint64_t c) {
    for (const char* part : {"q_proj", "k_proj", "v_proj"}) list.add(prefix + part + ".weight", {c, c}, Role::matrix);
    for (const char* part : {"q_proj", "k_proj", "v_proj"}) list.add(prefix + part + ".bias", {c}, Role::bias);
    add_linear(list, prefix + "out_proj", c, c, Role::output);
}

void add_opt_layer(TensorList& list, const std::string& prefix, std::uint64_t c) {
    list.add_norm(prefix + "self_attn_layer_norm", c);
    add_opt_attention(list, prefix + "self_attn.", c);
    list.add_norm(prefix + "final_layer_norm", c);
    add_linear(list, prefix + "fc1", c, 4 * c);
    add_linear(list, prefix + "fc2", 4 * c, c, Role::output);
}

std::vector<TensorSpec> opt_tensors(const ModelSpec& spec) {
    const std::string decoder = "model.decoder.";
    const std::uint64_t c = spec.width;
    const std::uint64_t e = spec.embedding == 0 ? c : spec.embedding;
    TensorList list;
    list.add(decoder + "embed_tokens.weight", {spec.vocabulary, e}, Role::embedding);
    list.add(decoder + "embed_positions.weight", {spec.context + opt_position_offset, c}, Role::positions);
    if (spec.embedding != 0) {
        list.add(decoder + "project_in.weight", {c, e}, Role::projection);
        list.add(decoder + "project_out.weight", {e, c}, Role::projection);
    }
    for (std::uint32_t layer = 0; layer < spec.layers; ++layer) {
        list.enter(layer);
        add_opt_layer(list, decoder + "layers." + std::to_string(layer) + ".", c);
    }
    list.enter(std::nullopt);
    if (spec.norm == NormPlace::before) list.add_norm(decoder + "final_layer_norm", c);
    return list.take();
}

void read_opt(Fields& fields, ModelSpec& spec) {
    spec.activation = read_activation(fields);
    const std::string norm = fields.text("norm", 16);
    if (norm == norm_name(NormPlace::after)) {
        spec.norm = NormPlace::after;
    } else if (norm != norm_name(NormPlace::before)) {
        fields.fail("norm is not one this version knows (before, after)");
    }
    spec.embedding = static_cast<std::uint32_t>(fields.integer("embedding", 0, 16'384));
    if (spec.embedding == spec.width) fields.fail("embedding is the width; it is 0 where the two are equal");
}

void write_opt(const ModelSpec& spec, nlohmann::json& object) {
    object["activation"] = activation_name(spec.activation);
    object["norm"] = norm_name(spec.norm);
    object["embedding"] = spec.embedding;
}

std::uint64_t opt_parameters(const ModelSpec& spec) {
    const std::uint64_t c = spec.width;
    const std::uint64_t last = spec.norm == NormPlace::before ? 2 * c : 0;
    const std::uint64_t body = spec.layers * decoder_layer_parameters(c);
    const std::uint64_t positions = (spec.context + opt_position_offset) * c;
    if (spec.embedding == 0) return spec.vocabulary * c + positions + body + last;
    return std::uint64_t{spec.vocabulary} * spec.embedding + positions + 2 * c * spec.embedding + body + last;
}

std::string canonical_opt(std::string_view name) {
    strip(name, "model.");
    strip(name, "decoder.");
    return "model.decoder." + std::string(name);
}

Result<ModelSpec> parse_opt_config(const nlohmann::json& config) {
    const nlohmann::json known = picked(
        config, {"vocab_size", "max_position_embeddings", "hidden_size", "num_hidden_layers", "num_attention_heads",
                 "ffn_dim", "word_embed_proj_dim", "do_layer_norm_before", "_remove_final_layer_norm",
                 "activation_function", "enable_bias", "layer_norm_elementwise_affine", "tie_word_embeddings"});
    Fields fields(known, "config.json");
    ModelSpec model;
    model.family = Family::opt;
    model.vocabulary = count(fields, "vocab_size");
    model.context = count(fields, "max_position_embeddings");
    model.layers = count(fields, "num_hidden_layers");
    model.heads = count(fields, "num_attention_heads");
    model.width = count(fields, "hidden_size");
    read_hf_activation(fields, model, "relu");
    if (count(fields, "ffn_dim") != 4 * std::uint64_t{model.width}) {
        fields.fail("ffn_dim is not four times hidden_size, which this version cannot train");
    }
    const std::uint64_t embedding = fields.integer_or("word_embed_proj_dim", 1, count_max, model.width);
    model.embedding = embedding == model.width ? 0 : static_cast<std::uint32_t>(embedding);
    model.norm = fields.flag_or("do_layer_norm_before", true) ? NormPlace::before : NormPlace::after;
    const bool no_last_norm = fields.flag_or("_remove_final_layer_norm", false);
    if (no_last_norm && model.norm == NormPlace::before) {
        fields.fail("_remove_final_layer_norm is true, which this version cannot train");
    }
    expect(fields, "enable_bias", true);
    expect(fields, "layer_norm_elementwise_affine", true);
    expect(fields, "tie_word_embeddings", true);
    return checked(fields, model);
}

nlohmann::json opt_config(const ModelSpec& model) {
    nlohmann::json config = {{"architectures", {"OPTForCausalLM"}},
                             {"model_type", "opt"},
                             {"max_position_embeddings", model.context},
                             {"hidden_size", model.width},
                             {"num_hidden_layers", model.layers},
                             {"num_attention_heads", model.heads},
                             {"ffn_dim", 4 * model.width},
                             {"word_embed_proj_dim", model.embedding == 0 ? model.width : model.embedding},
                             {"do_layer_norm_before", model.norm == NormPlace::before},
                             {"_remove_final_layer_norm", false},
                             {"dropout", model.dropout},
                             {"attention_dropout", model.dropout},
                             {"activation_dropout", 0.0},
                             {"layerdrop", 0.0},
                             {"init_std", 0.006},
                             {"enable_bias", true},
                             {"layer_norm_elementwise_affine", true}};
    config.update(decoder_config(model));
    return config;
}

void shape_opt(ModelSpec& model) { model.activation = Activation::relu; }

constexpr const char* opt_types[] = {"opt"};
constexpr Preset opt_presets[] = {{"opt-125m", 50'272, 2'048, 12, 12, 768, shape_opt},
                                  {"opt-350m", 50'272, 2'048, 24, 16, 1'024,
                                   [](ModelSpec& model) {  // the one that differs in more than its size
                                       shape_opt(model);
                                       model.norm = NormPlace::after;
                                       model.embedding = 512;
                                   }},
                                  {"opt-1.3b", 50'272, 2'048, 24, 32, 2'048, shape_opt},
                                  {"opt-2.7b", 50'272, 2'048, 32, 32, 2'560, shape_opt},
                                  {"opt-6.7b", 50'272, 2'048, 32, 32, 4'096, shape_opt}};

}  // namespace

constinit const FamilyRow opt_row = {
    .family = Family::opt,
    .name = "opt",
    .title = [](const ModelSpec&) { return "OPT"; },
    .read = read_opt,
    .write = write_opt,
    .parameters = opt_parameters,
    .tensors = opt_tensors,
    .widths = [](const ModelSpec& spec) { return even_widths(spec, 4 * std::uint64_t{spec.width}); },
    // Zhang et al. 2022, section 2.2.
    .initial = {[](const ModelSpec& spec, const TensorSpec& tensor) { return decoder_deviation(spec, tensor, 0.006); }},
    .hugging_face = {.model_types = opt_types,
                     .parse = parse_opt_config,
                     .config = opt_config,
                     .canonical = canonical_opt},
    .presets = opt_presets,
    .takes_relu = true};

}  // namespace potluck::model
