// GPT-2 (Radford et al. 2019): a decoder with learned positions and norms before attention and MLP. Names and shapes
// are those of Hugging Face's GPT2LMHeadModel, whose Conv1D weights are [in, out]. Also here is what OPT shares with
// it: the activation's names and what both have in a config.json.
//
// Sources: configuration_gpt2.py and modeling_gpt2.py of huggingface/transformers.
#include "core/model/families.h"
#include "core/model/hf_fields.h"
#include "core/model/tensor_list.h"

namespace potluck::model {

namespace {

/// Weights as [in, out], as GPT-2's Conv1D keeps them.
void add_conv1d(TensorList& list, const std::string& name, std::uint64_t in, std::uint64_t out,
                Role role = Role::matrix) {
    list.add_affine(name, {in, out}, out, role);
}
void add_gpt2_layer(TensorList& list, const std::string& prefix, std::uint64_t c) {
    list.add_norm(prefix + "ln_1", c);
    add_conv1d(list, prefix + "attn.c_attn", c, 3 * c);
    add_conv1d(list, prefix + "attn.c_proj", c, c, Role::output);
    list.add_norm(prefix + "ln_2", c);
    add_conv1d(list, prefix + "mlp.c_fc", c, 4 * c);
    add_conv1d(list, prefix + "mlp.c_proj", 4 * c, c, Role::output);
}

std::vector<TensorSpec> gpt2_tensors(const ModelSpec& spec) {
    TensorList list;
    list.add("wte.weight", {spec.vocabulary, spec.width}, Role::embedding);
    list.add("wpe.weight", {spec.context, spec.width}, Role::positions);
    for (std::uint32_t layer = 0; layer < spec.layers; ++layer) {
        list.enter(layer);
        add_gpt2_layer(list, "h." + std::to_string(layer) + ".", spec.width);
    }
    list.enter(std::nullopt);
    list.add_norm("ln_f", spec.width);
    return list.take();
}

std::uint64_t gpt2_parameters(const ModelSpec& spec) {
    const std::uint64_t c = spec.width;
    return (std::uint64_t{spec.vocabulary} + spec.context) * c + spec.layers * decoder_layer_parameters(c) + 2 * c;
}

/// The causal masks that old checkpoints carry: "h.<layer>.attn.bias" and "h.<layer>.attn.masked_bias".
bool is_gpt2_mask(std::string_view name) {
    return name.starts_with("h.") && (name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias"));
}

std::string canonical_gpt2(std::string_view name) {
    strip(name, "transformer.");
    return std::string(name);
}

Result<ModelSpec> parse_gpt2_config(const nlohmann::json& config) {
    const nlohmann::json known =
        picked(config, {"vocab_size", "n_positions", "n_embd", "n_layer", "n_head", "n_inner", "activation_function",
                        "layer_norm_epsilon", "scale_attn_weights", "scale_attn_by_inverse_layer_idx",
                        "add_cross_attention", "tie_word_embeddings"});
    Fields fields(known, "config.json");
    ModelSpec model;
    model.vocabulary = count(fields, "vocab_size");
    model.context = count(fields, "n_positions");
    model.layers = count(fields, "n_layer");
    model.heads = count(fields, "n_head");
    model.width = count(fields, "n_embd");
    read_hf_activation(fields, model, "gelu_new");
    const std::uint64_t inner = 4 * std::uint64_t{model.width};
    if (fields.integer_or("n_inner", 1, 4 * count_max, inner) != inner) {
        fields.fail("n_inner is not four times n_embd, which this version cannot train");
    }
    if (fields.number_or("layer_norm_epsilon", 0, 1, hf_norm_epsilon) != hf_norm_epsilon) {
        fields.fail("layer_norm_epsilon is not 1e-5, which this version cannot train");
    }
    expect(fields, "scale_attn_weights", true);
    expect(fields, "scale_attn_by_inverse_layer_idx", false);
    expect(fields, "add_cross_attention", false);
    expect(fields, "tie_word_embeddings", true);
    return checked(fields, model);
}

nlohmann::json gpt2_config(const ModelSpec& model) {
    nlohmann::json config = {{"architectures", {"GPT2LMHeadModel"}},
                             {"model_type", "gpt2"},
                             {"n_positions", model.context},
                             {"n_ctx", model.context},
                             {"n_embd", model.width},
                             {"n_layer", model.layers},
                             {"n_head", model.heads},
                             {"n_inner", 4 * model.width},
                             {"resid_pdrop", model.dropout},
                             {"embd_pdrop", model.dropout},
                             {"attn_pdrop", model.dropout},
                             {"layer_norm_epsilon", hf_norm_epsilon},
                             {"initializer_range", 0.02},
                             {"scale_attn_weights", true}};
    config.update(decoder_config(model));
    return config;
}

constexpr const char* gpt2_types[] = {"gpt2"};
// Those called tiny or small were chosen by measurement to learn something on two cores within minutes.
constexpr Preset gpt2_presets[] = {{"tiny", 256, 128, 4, 4, 128},
                                   {"small", 256, 256, 6, 6, 384},
                                   {"gpt2", 50'257, 1'024, 12, 12, 768},
                                   {"gpt2-medium", 50'257, 1'024, 24, 16, 1'024},
                                   {"gpt2-large", 50'257, 1'024, 36, 20, 1'280},
                                   {"gpt2-xl", 50'257, 1'024, 48, 25, 1'600}};

}  // namespace

const char* activation_name(Activation activation) {
    return activation == Activation::gelu_tanh ? "gelu_tanh" : "relu";
}

Activation read_activation(Fields& fields) {
    const std::string name = fields.text("activation", 16);
    for (const Activation activation : {Activation::gelu_tanh, Activation::relu}) {
        if (name == activation_name(activation)) return activation;
    }
    fields.fail("activation is not one this version knows (gelu_tanh, relu)");
    return Activation::gelu_tanh;
}

void read_hf_activation(Fields& fields, ModelSpec& model, std::string_view fallback) {
    const std::string name = fields.text_or("activation_function", 64, fallback);
    if (name == "relu") {
        model.activation = Activation::relu;
    } else if (name == "gelu_new" || name == "gelu_pytorch_tanh") {  // the same formula
        model.activation = Activation::gelu_tanh;
    } else {
        fields.fail("activation_function is not one this version trains (gelu_new, relu)");
    }
}

nlohmann::json decoder_config(const ModelSpec& model) {
    return {{"vocab_size", model.vocabulary},
            {"activation_function", model.activation == Activation::relu ? "relu" : "gelu_new"},
            {"tie_word_embeddings", true},
            {"use_cache", true},
            {"bos_token_id", nullptr},
            {"eos_token_id", nullptr},
            {"pad_token_id", nullptr},
            {"torch_dtype", "float32"}};
}

constinit const FamilyRow gpt2_row = {
    .family = Family::gpt2,
    .name = "gpt2",
    .title = [](const ModelSpec&) { return "GPT-2"; },
    .order = MatrixOrder::in_out,
    .read = [](Fields& fields, ModelSpec& spec) { spec.activation = read_activation(fields); },
    .write = [](const ModelSpec& spec,
                nlohmann::json& object) { object["activation"] = activation_name(spec.activation); },
    .parameters = gpt2_parameters,
    .tensors = gpt2_tensors,
    .widths = [](const ModelSpec& spec) { return even_widths(spec, 4 * std::uint64_t{spec.width}); },
    .initial = {[](const ModelSpec& spec, const TensorSpec& tensor) { return decoder_deviation(spec, tensor); }},
    .hugging_face = {.model_types = gpt2_types,
                     .parse = parse_gpt2_config,
                     .config = gpt2_config,
                     .canonical = canonical_gpt2,
                     .is_left_out = is_gpt2_mask},
    .presets = gpt2_presets,
    .takes_relu = true};

}  // namespace potluck::model
