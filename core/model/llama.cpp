// Llama-shaped decoders (Touvron et al. 2023): RMS norms, rotary positions, a gated MLP, no biases. Qwen2 has biases on
// q, k and v, Qwen3 norms over heads and a default head width of its own.
//
// Of a config.json, switches that our models know in one position only are read and refused in the other, as for GPT-2
// and OPT. Theta stands in `rope_parameters` since version 5 of transformers and beside a `rope_scaling` before; both
// are read, and both are written, so that either version opens what we export. Where both are there, `rope_parameters`
// counts, as in transformers. Scaled angles (linear, dynamic, yarn, llama3) are refused: the weights were trained with
// other angles than ours.
//
// Source: configuration_llama.py, configuration_qwen2.py, configuration_qwen3.py, modeling_llama.py, modeling_qwen2.py,
// modeling_qwen3.py and modeling_rope_utils.py of huggingface/transformers 5.
#include <algorithm>
#include <string>

#include "core/model/families.h"
#include "core/model/hf_fields.h"
#include "core/model/tensor_list.h"

namespace potluck::model {

namespace {

void add_weight(TensorList& list, const std::string& name, std::uint64_t in, std::uint64_t out,
                Role role = Role::matrix) {
    list.add(name + ".weight", {out, in}, role);
}
void add_gain(TensorList& list, const std::string& name, std::uint64_t width) {
    list.add(name + ".weight", {width}, Role::gain);
}

LayerWidths llama_widths(const ModelSpec& spec) {
    return {.heads = spec.heads,
            .kv_heads = spec.llama.kv_heads,
            .head_width = spec.llama.head_width,
            .inner = spec.llama.inner,
            .up = 2 * std::uint64_t{spec.llama.inner}};
}

/// Weights, then biases or gains: the three weights are one [Q, C] matrix, the three biases one vector of Q.
void add_attention(TensorList& list, const std::string& prefix, const ModelSpec& spec) {
    const LayerWidths widths = llama_widths(spec);
    const std::uint64_t queries = widths.attention(), keys = widths.kv_heads * widths.head_width;
    add_weight(list, prefix + "q_proj", spec.width, queries);
    add_weight(list, prefix + "k_proj", spec.width, keys);
    add_weight(list, prefix + "v_proj", spec.width, keys);
    if (spec.llama.qkv_bias) {
        list.add(prefix + "q_proj.bias", {queries}, Role::bias);
        list.add(prefix + "k_proj.bias", {keys}, Role::bias);
        list.add(prefix + "v_proj.bias", {keys}, Role::bias);
    }
    if (spec.llama.qk_norm) {
        add_gain(list, prefix + "q_norm", widths.head_width);
        add_gain(list, prefix + "k_norm", widths.head_width);
    }
    add_weight(list, prefix + "o_proj", queries, spec.width, Role::output);
}

void add_llama_layer(TensorList& list, const std::string& prefix, const ModelSpec& spec) {
    add_gain(list, prefix + "input_layernorm", spec.width);
    add_attention(list, prefix + "self_attn.", spec);
    add_gain(list, prefix + "post_attention_layernorm", spec.width);
    add_weight(list, prefix + "mlp.gate_proj", spec.width, spec.llama.inner);
    add_weight(list, prefix + "mlp.up_proj", spec.width, spec.llama.inner);
    add_weight(list, prefix + "mlp.down_proj", spec.llama.inner, spec.width, Role::output);
}

LlamaShape read_llama(Fields& fields, std::uint32_t heads) {
    const auto count = [&](std::string_view name, std::uint64_t low, std::uint64_t high) {
        return static_cast<std::uint32_t>(fields.integer(name, low, high));
    };
    LlamaShape shape;
    shape.kv_heads = count("kv_heads", 1, 16'384);
    shape.head_width = count("head_width", 2, 512);
    shape.inner = count("inner", 8, 131'072);
    shape.rope_theta = fields.number("rope_theta", 1, 1e9);
    shape.norm_epsilon = fields.number("norm_epsilon", 1e-12, 1e-2);
    shape.qkv_bias = fields.flag("qkv_bias");
    shape.qk_norm = fields.flag("qk_norm");
    shape.tied = fields.flag("tied");
    if (fields.failed()) return shape;
    if (heads % shape.kv_heads != 0) fields.fail("kv_heads does not divide heads");
    if (shape.head_width % 2 != 0) fields.fail("head_width is odd; rotary positions turn pairs");
    if (shape.qkv_bias && shape.qk_norm) fields.fail("qkv_bias and qk_norm exclude each other");
    return shape;
}

void write_llama(const LlamaShape& shape, nlohmann::json& object) {
    object["kv_heads"] = shape.kv_heads;
    object["head_width"] = shape.head_width;
    object["inner"] = shape.inner;
    object["rope_theta"] = shape.rope_theta;
    object["norm_epsilon"] = shape.norm_epsilon;
    object["qkv_bias"] = shape.qkv_bias;
    object["qk_norm"] = shape.qk_norm;
    object["tied"] = shape.tied;
}

std::uint64_t llama_parameters(const ModelSpec& spec) {
    const LayerWidths widths = llama_widths(spec);
    const std::uint64_t c = spec.width;
    const std::uint64_t bias = spec.llama.qkv_bias ? widths.joined() : 0;
    const std::uint64_t head_gains = spec.llama.qk_norm ? 2 * widths.head_width : 0;
    const std::uint64_t attention = c * widths.joined() + bias + head_gains + widths.attention() * c;
    const std::uint64_t layer = 2 * c + attention + 3 * c * widths.inner;
    const std::uint64_t embeddings = spec.llama.tied ? 1 : 2;
    return embeddings * spec.vocabulary * c + spec.layers * layer + c;
}

std::vector<TensorSpec> llama_tensors(const ModelSpec& spec) {
    TensorList list;
    list.add("model.embed_tokens.weight", {spec.vocabulary, spec.width}, Role::embedding);
    if (!spec.llama.tied) list.add("lm_head.weight", {spec.vocabulary, spec.width}, Role::head);
    for (std::uint32_t layer = 0; layer < spec.layers; ++layer) {
        list.enter(layer);
        add_llama_layer(list, "model.layers." + std::to_string(layer) + ".", spec);
    }
    list.enter(std::nullopt);
    add_gain(list, "model.norm", spec.width);
    return list.take();
}

enum class LlamaKind { llama, qwen2, qwen3 };

constexpr std::uint32_t context_max = 16'384;  // of a ModelSpec
constexpr double llama_theta = 10'000;
constexpr double llama_epsilon = 1e-6;
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

LlamaShape read_llama_shape(Fields& fields, const nlohmann::json& config, LlamaKind kind, const ModelSpec& model) {
    LlamaShape shape;
    const bool heads_by_default = kind == LlamaKind::llama || config.contains("num_key_value_heads");
    shape.kv_heads = count_or(fields, "num_key_value_heads", heads_by_default ? model.heads : qwen_kv_heads);
    const std::uint32_t even_share = std::max(1U, model.width / std::max(1U, model.heads));
    shape.head_width = count_or(fields, "head_dim", kind == LlamaKind::qwen3 ? qwen3_head_width : even_share);
    shape.inner = count(fields, "intermediate_size");
    shape.norm_epsilon = fields.number_or("rms_norm_eps", 0, 1, llama_epsilon);
    shape.qkv_bias = kind == LlamaKind::qwen2;
    shape.qk_norm = kind == LlamaKind::qwen3;
    shape.tied = fields.flag_or("tie_word_embeddings", false);
    shape.rope_theta = fields.number_or("rope_theta", 1, 1e9, llama_theta);
    read_rope(fields, config, "rope_scaling", shape.rope_theta);
    read_rope(fields, config, "rope_parameters", shape.rope_theta);
    return shape;
}

LlamaKind llama_kind_of(const nlohmann::json& config) {
    for (const LlamaKind kind : {LlamaKind::qwen2, LlamaKind::qwen3}) {
        if (config.at("model_type") == names_of(kind).model_type) return kind;
    }
    return LlamaKind::llama;
}

Result<ModelSpec> parse_llama_config(const nlohmann::json& config) {
    const LlamaKind kind = llama_kind_of(config);
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
    model.llama = read_llama_shape(fields, config, kind, model);
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

std::string canonical_llama(std::string_view name) {
    strip(name, "model.");
    return "model." + std::string(name);
}

/// The frequencies of rotary positions that old checkpoints carry; they follow from theta.
bool is_frequencies(std::string_view name) { return name.ends_with(".rotary_emb.inv_freq"); }

/// Head width times heads is the width, and kv heads and inner width are in the same ratio as before, as far as they
/// divide.
void reshape_llama(const ModelSpec& preset, ModelSpec& model) {
    if (model.heads == preset.heads && model.width == preset.width) return;
    const std::uint32_t sharing = preset.heads / preset.llama.kv_heads;
    model.llama.kv_heads = model.heads % sharing == 0 ? model.heads / sharing : model.heads;
    model.llama.head_width = std::max(2U, model.width / model.heads / 2 * 2);
    const std::uint64_t inner = std::uint64_t{preset.llama.inner} * model.width / preset.width;
    model.llama.inner = static_cast<std::uint32_t>(std::max<std::uint64_t>(8, (inner + 7) / 8 * 8));
}

void shape_llama(ModelSpec& model, const LlamaShape& shape) {
    model.activation = Activation::silu_gated;
    model.llama = shape;
}

constexpr const char* llama_types[] = {"llama", "qwen2", "qwen3"};
constexpr Preset llama_presets[] = {
    {"llama-tiny", 256, 128, 4, 4, 128,
     [](ModelSpec& model) { shape_llama(model, {.kv_heads = 2, .head_width = 32, .inner = 384}); }},
    // SmolLM2's checkpoints take 8,192 tokens; 2,048 is what they were trained with for most of the time.
    {"smollm2-135m", 49'152, 2'048, 30, 9, 576,
     [](ModelSpec& model) {
         shape_llama(model, {.kv_heads = 3, .head_width = 64, .inner = 1'536, .rope_theta = 1e5});
     }},
    {"smollm2-360m", 49'152, 2'048, 32, 15, 960, [](ModelSpec& model) {
         shape_llama(model, {.kv_heads = 5, .head_width = 64, .inner = 2'560, .rope_theta = 1e5});
     }}};

}  // namespace

constinit const FamilyRow llama_row = {
    .family = Family::llama,
    .name = "llama",
    .title =
        [](const ModelSpec& spec) { return spec.llama.qkv_bias  ? "Qwen2"
                                           : spec.llama.qk_norm ? "Qwen3"
                                                                : "Llama"; },
    .read =
        [](Fields& fields, ModelSpec& spec) {
            spec.activation = Activation::silu_gated;
            spec.llama = read_llama(fields, spec.heads);
        },
    .write = [](const ModelSpec& spec, nlohmann::json& object) { write_llama(spec.llama, object); },
    .parameters = llama_parameters,
    .applied_parameters =
        [](const ModelSpec& spec) {
            const bool looked_up_only = !spec.llama.tied;
            return llama_parameters(spec) - (looked_up_only ? std::uint64_t{spec.vocabulary} * spec.width : 0);
        },
    .tensors = llama_tensors,
    .widths = llama_widths,
    .initial = {[](const ModelSpec& spec, const TensorSpec& tensor) { return decoder_deviation(spec, tensor); }},
    .hugging_face = {.model_types = llama_types,
                     .parse = parse_llama_config,
                     .config = llama_config,
                     .canonical = canonical_llama,
                     .is_left_out = is_frequencies},
    .presets = llama_presets,
    .reshape = reshape_llama};

}  // namespace potluck::model
