// A config.json has dozens of fields, most of which are no business of the weights. Only those that decide how weights
// are used are picked out and read strictly; a field that is missing or null has the default of transformers'
// GPT2Config or OPTConfig, because that is what the program that wrote the file relied on.
//
// A switch which our models know in one position only (scaled scores, tied embeddings, biases) is read all the same and
// refused in the other: ignoring it would train a different model without a word. The result passes through
// ModelSpec::from_json, so that limits are checked in one place. Writing is the reverse: what was written is parsed to
// the same spec, except for dropout, which belongs to training.
#include "core/model/hf_config.h"

#include <string>

#include "core/base/json.h"
#include "core/model/hf_albert.h"
#include "core/model/hf_fields.h"
#include "core/model/hf_llama.h"
#include "core/model/hf_own.h"

namespace potluck::model {

namespace {

constexpr double norm_epsilon = 1e-5;

void read_activation(Fields& fields, ModelSpec& model, std::string_view fallback) {
    const std::string name = fields.text_or("activation_function", 64, fallback);
    if (name == "relu") {
        model.activation = Activation::relu;
    } else if (name == "gelu_new" || name == "gelu_pytorch_tanh") {  // the same formula
        model.activation = Activation::gelu_tanh;
    } else {
        fields.fail("activation_function is not one this version trains (gelu_new, relu)");
    }
}

Result<ModelSpec> read_gpt2(const nlohmann::json& config) {
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
    read_activation(fields, model, "gelu_new");
    const std::uint64_t inner = 4 * std::uint64_t{model.width};
    if (fields.integer_or("n_inner", 1, 4 * count_max, inner) != inner) {
        fields.fail("n_inner is not four times n_embd, which this version cannot train");
    }
    if (fields.number_or("layer_norm_epsilon", 0, 1, norm_epsilon) != norm_epsilon) {
        fields.fail("layer_norm_epsilon is not 1e-5, which this version cannot train");
    }
    expect(fields, "scale_attn_weights", true);
    expect(fields, "scale_attn_by_inverse_layer_idx", false);
    expect(fields, "add_cross_attention", false);
    expect(fields, "tie_word_embeddings", true);
    return checked(fields, model);
}

Result<ModelSpec> read_opt(const nlohmann::json& config) {
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
    read_activation(fields, model, "relu");
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

/// What stands in every config.json that we write.
nlohmann::json common_config(const ModelSpec& model) {
    return {{"vocab_size", model.vocabulary},
            {"activation_function", model.activation == Activation::relu ? "relu" : "gelu_new"},
            {"tie_word_embeddings", true},
            {"use_cache", true},
            {"bos_token_id", nullptr},
            {"eos_token_id", nullptr},
            {"pad_token_id", nullptr},
            {"torch_dtype", "float32"}};
}

nlohmann::json gpt2_config(const ModelSpec& model) {
    return {{"architectures", {"GPT2LMHeadModel"}},
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
            {"layer_norm_epsilon", norm_epsilon},
            {"initializer_range", 0.02},
            {"scale_attn_weights", true}};
}

nlohmann::json opt_config(const ModelSpec& model) {
    return {{"architectures", {"OPTForCausalLM"}},
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
}

}  // namespace

Result<ModelSpec> parse_hugging_face_config(ByteSpan text) {
    const Result<nlohmann::json> config = parse_json(as_text(text), hf_config_bytes_max);
    if (!config) return Error{config.error().code, "The config.json is unusable: " + config.error().message};
    if (config->is_object() && config->contains("_class_name") && (*config)["_class_name"] == book_class_name)
        return parse_book_config(*config);
    const nlohmann::json head = config->is_object() ? picked(*config, {"model_type", "quantization_config"}) : *config;
    Fields fields(head, "config.json");
    const std::string family = fields.text("model_type", 64);
    const std::optional<LlamaKind> llama = llama_kind_named(family);
    const bool coder = family == coder_model_type, dalle = family == dalle_model_type, swav = family == swav_model_type;
    if (family != "gpt2" && family != "opt" && family != "albert" && !llama && !coder && !dalle && !swav) {
        fields.fail(
            "model_type is not one this version trains (gpt2, opt, llama, qwen2, qwen3, albert, potluck_coder, "
            "potluck_dalle, potluck_swav)");
    }
    if (fields.has("quantization_config"))
        fields.fail("its weights are quantised; take the model in fp32, bf16 or fp16");
    if (const Status status = fields.finish(); !status) return status.error();
    if (llama) return parse_llama_config(*config, *llama);
    if (family == "albert") return parse_albert_config(*config);
    if (coder) return parse_coder_config(*config);
    if (dalle) return parse_dalle_config(*config);
    if (swav) return parse_swav_config(*config);
    return family == "gpt2" ? read_gpt2(*config) : read_opt(*config);
}

nlohmann::json hugging_face_config(const ModelSpec& model) {
    if (model.family == Family::llama) return llama_config(model);
    if (model.family == Family::albert) return albert_config(model);
    if (model.family == Family::coder) return coder_config(model);
    if (model.family == Family::dalle) return dalle_config(model);
    if (model.family == Family::swav) return swav_config(model);
    nlohmann::json config = model.family == Family::gpt2 ? gpt2_config(model) : opt_config(model);
    config.update(common_config(model));
    return config;
}

}  // namespace potluck::model
