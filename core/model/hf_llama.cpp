// The three differ in little: Qwen2 has biases on q, k and v, Qwen3 norms over heads and a default head width of its
// own. Switches that our models know in one position only are read and refused in the other, as for GPT-2 and OPT.
//
// Theta stands in `rope_parameters` since version 5 of transformers and beside a `rope_scaling` before; both are read,
// and both are written, so that either version opens what we export. Where both are there, `rope_parameters` counts, as
// in transformers. Scaled angles (linear, dynamic, yarn, llama3) are refused: the weights were trained with other
// angles than ours.
//
// Source: configuration_llama.py, configuration_qwen2.py, configuration_qwen3.py and modeling_rope_utils.py of
// huggingface/transformers 5.
#include "core/model/hf_llama.h"

#include <algorithm>
#include <string>

#include "core/base/json.h"
#include "core/model/hf_fields.h"

namespace potluck::model {

namespace {

constexpr std::uint32_t context_max = 16'384;  // of a ModelSpec
constexpr double default_theta = 10'000;
constexpr double default_epsilon = 1e-6;
constexpr std::uint32_t qwen3_head_width = 128, qwen_kv_heads = 32;  // where the file does not say

struct Names {
    const char *model_type, *architecture;
};
constexpr Names names_of(LlamaKind kind) {
    if (kind == LlamaKind::qwen2) return {"qwen2", "Qwen2ForCausalLM"};
    if (kind == LlamaKind::qwen3) return {"qwen3", "Qwen3ForCausalLM"};
    return {"llama", "LlamaForCausalLM"};
}

/// One of the two places where angles are described.
void read_rope(Fields& fields, const nlohmann::json& config, const std::string& place, double& theta) {
    const auto found = config.find(place);
    if (found == config.end() || found->is_null()) return;
    if (!found->is_object()) return fields.fail(place + " is no object");
    const nlohmann::json known = picked(*found, {"rope_type", "type", "rope_theta", "partial_rotary_factor"});
    Fields rope(known, place);
    const std::string old_name = rope.text_or("type", 64, "default");
    if (rope.text_or("rope_type", 64, old_name) != "default") rope.fail("its type is not default");
    theta = rope.number_or("rope_theta", 1, 1e9, theta);
    if (rope.number_or("partial_rotary_factor", 0, 1, 1) != 1) rope.fail("partial_rotary_factor is not 1");
    if (const Status status = rope.finish(); !status) {
        fields.fail(place + " is not one this version can train: " + status.error().message);
    }
}

/// A window that slides is a choice of each layer since version 5.
void refuse_sliding_windows(Fields& fields, const nlohmann::json& config) {
    expect(fields, "use_sliding_window", false);
    const auto types = config.find("layer_types");
    if (types == config.end() || !types->is_array()) return;
    const bool full = std::ranges::all_of(*types, [](const nlohmann::json& type) { return type == "full_attention"; });
    if (!full) fields.fail("layer_types names attention that is not full, which this version cannot train");
}

std::uint32_t count_or(Fields& fields, std::string_view name, std::uint64_t fallback) {
    return static_cast<std::uint32_t>(fields.integer_or(name, 1, count_max, fallback));
}

LlamaShape read_shape(Fields& fields, const nlohmann::json& config, LlamaKind kind, const ModelSpec& model) {
    LlamaShape shape;
    const bool heads_by_default = kind == LlamaKind::llama || config.contains("num_key_value_heads");
    shape.kv_heads = count_or(fields, "num_key_value_heads", heads_by_default ? model.heads : qwen_kv_heads);
    const std::uint32_t even_share = std::max(1U, model.width / std::max(1U, model.heads));
    shape.head_width = count_or(fields, "head_dim", kind == LlamaKind::qwen3 ? qwen3_head_width : even_share);
    shape.inner = count(fields, "intermediate_size");
    shape.norm_epsilon = fields.number_or("rms_norm_eps", 0, 1, default_epsilon);
    shape.qkv_bias = kind == LlamaKind::qwen2;
    shape.qk_norm = kind == LlamaKind::qwen3;
    shape.tied = fields.flag_or("tie_word_embeddings", false);
    shape.rope_theta = fields.number_or("rope_theta", 1, 1e9, default_theta);
    read_rope(fields, config, "rope_scaling", shape.rope_theta);
    read_rope(fields, config, "rope_parameters", shape.rope_theta);
    return shape;
}

}  // namespace

std::optional<LlamaKind> llama_kind_named(std::string_view model_type) {
    for (const LlamaKind kind : {LlamaKind::llama, LlamaKind::qwen2, LlamaKind::qwen3}) {
        if (model_type == names_of(kind).model_type) return kind;
    }
    return std::nullopt;
}

Result<ModelSpec> parse_llama_config(const nlohmann::json& config, LlamaKind kind) {
    const nlohmann::json known = picked(
        config, {"vocab_size", "max_position_embeddings", "hidden_size", "num_hidden_layers", "num_attention_heads",
                 "num_key_value_heads", "head_dim", "intermediate_size", "hidden_act", "rms_norm_eps", "rope_theta",
                 "tie_word_embeddings", "attention_bias", "mlp_bias", "use_sliding_window"});
    Fields fields(known, "config.json");
    ModelSpec model;
    model.family = Family::llama;
    model.activation = Activation::silu_gated;
    model.vocabulary = count(fields, "vocab_size");
    model.context = std::min(context_max, count(fields, "max_position_embeddings"));
    model.layers = count(fields, "num_hidden_layers");
    model.heads = count(fields, "num_attention_heads");
    model.width = count(fields, "hidden_size");
    model.llama = read_shape(fields, config, kind, model);
    if (fields.text_or("hidden_act", 64, "silu") != "silu") {
        fields.fail("hidden_act is not silu, which is the one this version trains");
    }
    expect(fields, "attention_bias", false);
    expect(fields, "mlp_bias", false);
    refuse_sliding_windows(fields, config);
    return checked(fields, model);
}

nlohmann::json llama_config(const ModelSpec& model) {
    const LlamaShape& shape = model.llama;
    const LlamaKind kind = shape.qkv_bias ? LlamaKind::qwen2 : shape.qk_norm ? LlamaKind::qwen3 : LlamaKind::llama;
    nlohmann::json config = {{"architectures", {names_of(kind).architecture}},
                             {"model_type", names_of(kind).model_type},
                             {"vocab_size", model.vocabulary},
                             {"max_position_embeddings", model.context},
                             {"hidden_size", model.width},
                             {"num_hidden_layers", model.layers},
                             {"num_attention_heads", model.heads},
                             {"num_key_value_heads", shape.kv_heads},
                             {"head_dim", shape.head_width},
                             {"intermediate_size", shape.inner},
                             {"hidden_act", "silu"},
                             {"rms_norm_eps", shape.norm_epsilon},
                             {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", shape.rope_theta}}},
                             {"rope_theta", shape.rope_theta},
                             {"rope_scaling", nullptr},
                             {"attention_dropout", 0.0},
                             {"initializer_range", 0.02},
                             {"tie_word_embeddings", shape.tied},
                             {"use_cache", true},
                             {"bos_token_id", nullptr},
                             {"eos_token_id", nullptr},
                             {"pad_token_id", nullptr},
                             {"torch_dtype", "float32"}};
    if (kind != LlamaKind::qwen2) config["attention_bias"] = false;
    if (kind == LlamaKind::llama) config["mlp_bias"] = false;
    if (kind != LlamaKind::llama) config["use_sliding_window"] = false;
    return config;
}

}  // namespace potluck::model
