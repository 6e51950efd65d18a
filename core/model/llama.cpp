#include "core/model/families.h"

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

/// Weights, then biases or gains: the three weights are one [Q, C] matrix, the three biases one vector of Q.
void add_attention(TensorList& list, const std::string& prefix, const ModelSpec& spec) {
    const LayerWidths widths = layer_widths(spec);
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

void add_layer(TensorList& list, const std::string& prefix, const ModelSpec& spec) {
    add_gain(list, prefix + "input_layernorm", spec.width);
    add_attention(list, prefix + "self_attn.", spec);
    add_gain(list, prefix + "post_attention_layernorm", spec.width);
    add_weight(list, prefix + "mlp.gate_proj", spec.width, spec.llama.inner);
    add_weight(list, prefix + "mlp.up_proj", spec.width, spec.llama.inner);
    add_weight(list, prefix + "mlp.down_proj", spec.llama.inner, spec.width, Role::output);
}

}  // namespace

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
    const LayerWidths widths = layer_widths(spec);
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
        add_layer(list, "model.layers." + std::to_string(layer) + ".", spec);
    }
    list.enter(std::nullopt);
    add_gain(list, "model.norm", spec.width);
    return list.take();
}

}  // namespace potluck::model
