// From a spec follow the names, shapes and order of its tensors, and from their order the flat parameter vector. That
// order is part of the protocol: the digest of a state, the chunks of a payload and the slices of the optimizer all
// count along it, so it may never change for a family that is in use.
//
// parameters() is the closed form of what tensors_of() adds up; it is asked of a stranger's spec before any list is
// made of it, and the fields' ranges keep it within 64 bits. A test holds the two together. Names and shapes are those
// of Hugging Face's GPT2LMHeadModel (Conv1D weights, [in, out]) and OPTForCausalLM (Linear weights, [out, in]);
// Llama-shaped ones are in llama.cpp, ALBERT's in albert.cpp, a picture coder's in coder.cpp, DALL-E's in dalle.cpp,
// SwAV's in swav.cpp.
//
// Sources: Radford et al. 2019; Zhang et al. 2022.
#include "core/model/model_spec.h"

#include <utility>

#include "core/base/json.h"
#include "core/model/families.h"
#include "core/model/tensor_list.h"

namespace potluck::model {

namespace {

constexpr const char* activation_name(Activation activation) {
    return activation == Activation::gelu_tanh ? "gelu_tanh" : "relu";
}
constexpr const char* norm_name(NormPlace norm) { return norm == NormPlace::before ? "before" : "after"; }

/// OPT learns its positions from the third row on (Zhang et al. 2022, fairseq's padding offset).
constexpr std::uint64_t opt_position_offset = 2;

/// Weights as [in, out], as GPT-2's Conv1D keeps them.
void add_conv1d(TensorList& list, const std::string& name, std::uint64_t in, std::uint64_t out,
                Role role = Role::matrix) {
    list.add_affine(name, {in, out}, out, role);
}
/// Weights as [out, in], as torch.nn.Linear keeps them.
void add_linear(TensorList& list, const std::string& name, std::uint64_t in, std::uint64_t out,
                Role role = Role::matrix) {
    list.add_affine(name, {out, in}, out, role);
}

void add_gpt2_layer(TensorList& list, const std::string& prefix, std::uint64_t c) {
    list.add_norm(prefix + "ln_1", c);
    add_conv1d(list, prefix + "attn.c_attn", c, 3 * c);
    add_conv1d(list, prefix + "attn.c_proj", c, c, Role::output);
    list.add_norm(prefix + "ln_2", c);
    add_conv1d(list, prefix + "mlp.c_fc", c, 4 * c);
    add_conv1d(list, prefix + "mlp.c_proj", 4 * c, c, Role::output);
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

constexpr const char* family_name(Family family) {
    switch (family) {
        case Family::gpt2: return "gpt2";
        case Family::opt: return "opt";
        case Family::llama: return "llama";
        case Family::albert: return "albert";
        case Family::coder: return "coder";
        case Family::dalle: return "dalle";
        case Family::swav: break;
    }
    return "swav";
}

Family read_family(Fields& fields) {
    const std::string name = fields.text("family", 16);
    for (const Family family :
         {Family::gpt2, Family::opt, Family::llama, Family::albert, Family::coder, Family::dalle, Family::swav}) {
        if (name == family_name(family)) return family;
    }
    fields.fail("family is not one this version knows (gpt2, opt, llama, albert, coder, dalle, swav)");
    return Family::gpt2;
}

Activation read_activation(Fields& fields) {
    const std::string name = fields.text("activation", 16);
    for (const Activation activation : {Activation::gelu_tanh, Activation::relu}) {
        if (name == activation_name(activation)) return activation;
    }
    fields.fail("activation is not one this version knows (gelu_tanh, relu)");
    return Activation::gelu_tanh;
}

void read_opt(Fields& fields, ModelSpec& spec) {
    const std::string norm = fields.text("norm", 16);
    if (norm == norm_name(NormPlace::after)) {
        spec.norm = NormPlace::after;
    } else if (norm != norm_name(NormPlace::before)) {
        fields.fail("norm is not one this version knows (before, after)");
    }
    spec.embedding = static_cast<std::uint32_t>(fields.integer("embedding", 0, 16'384));
    if (spec.embedding == spec.width) fields.fail("embedding is the width; it is 0 where the two are equal");
}

}  // namespace

std::uint64_t ModelSpec::parameters() const {
    if (family == Family::llama) return llama_parameters(*this);
    if (family == Family::albert) return albert_parameters(*this);
    if (family == Family::coder) return coder_parameters(*this);
    if (family == Family::dalle) return dalle_parameters(*this);
    if (family == Family::swav) return swav_parameters(*this);
    const std::uint64_t c = width;
    const std::uint64_t norm_size = 2 * c;
    const std::uint64_t attention = 3 * c * c + 3 * c + c * c + c;
    const std::uint64_t mlp = 4 * c * c + 4 * c + 4 * c * c + c;
    const std::uint64_t body = layers * (2 * norm_size + attention + mlp);
    const std::uint64_t last = norm == NormPlace::before ? norm_size : 0;
    if (family == Family::gpt2) return (std::uint64_t{vocabulary} + context) * c + body + last;
    const std::uint64_t positions = (context + opt_position_offset) * c;
    if (embedding == 0) return vocabulary * c + positions + body + last;
    return std::uint64_t{vocabulary} * embedding + positions + 2 * c * embedding + body + last;
}

std::uint64_t ModelSpec::applied_parameters() const {
    if (family == Family::albert) return albert_applied_parameters(*this);
    if (family == Family::coder) return coder_applied_parameters(*this);
    if (family == Family::dalle) return dalle_applied_parameters(*this);
    if (family == Family::swav) return swav_applied_parameters(*this);
    const bool looked_up_only = family == Family::llama && !llama.tied;
    return parameters() - (looked_up_only ? std::uint64_t{vocabulary} * width : 0);
}

nlohmann::json ModelSpec::to_json() const {
    nlohmann::json object = {{"family", family_name(family)},
                             {"vocabulary", vocabulary},
                             {"context", context},
                             {"layers", layers},
                             {"heads", heads},
                             {"width", width},
                             {"dropout", dropout}};
    if (family == Family::llama) {
        write_llama(llama, object);
    } else if (family == Family::albert) {
        write_albert(albert, object);
    } else if (family == Family::coder) {
        write_coder(coder, object);
    } else if (family == Family::dalle) {
        write_dalle(dalle, object);
    } else if (family == Family::swav) {
        write_swav(swav, object);
    } else {
        object["activation"] = activation_name(activation);
    }
    if (family == Family::opt) {
        object["norm"] = norm_name(norm);
        object["embedding"] = embedding;
    }
    return object;
}

Result<ModelSpec> ModelSpec::from_json(const nlohmann::json& object) {
    Fields fields(object, "model");
    const auto count = [&](std::string_view name, std::uint64_t low, std::uint64_t high) {
        return static_cast<std::uint32_t>(fields.integer(name, low, high));
    };
    ModelSpec spec;
    spec.family = read_family(fields);
    spec.vocabulary = count("vocabulary", 2, 1'048'576);
    const bool pictures = spec.family == Family::swav || spec.family == Family::coder;
    spec.context = count("context", 8, pictures ? swav_context({.side = swav_side_max}) : 16'384);
    spec.layers = count("layers", 1, 256);
    spec.heads = count("heads", 1, 16'384);
    spec.width = count("width", 8, 16'384);
    spec.dropout = static_cast<float>(fields.number("dropout", 0.0, 0.9));
    if (spec.family == Family::llama) {
        spec.activation = Activation::silu_gated;
        spec.llama = read_llama(fields, spec.heads);
    } else if (spec.family == Family::albert) {
        spec.albert = read_albert(fields, spec.vocabulary);
        if (spec.dropout != 0.0F) fields.fail("dropout is not 0; ALBERT is trained without");
    } else if (spec.family == Family::coder) {
        spec.coder = read_coder(fields, spec);
        if (spec.dropout != 0.0F) fields.fail("dropout is not 0; a picture coder is trained without");
    } else if (spec.family == Family::dalle) {
        spec.dalle = read_dalle(fields, spec);
        if (spec.dropout != 0.0F) fields.fail("dropout is not 0; DALL-E is trained without");
    } else if (spec.family == Family::swav) {
        spec.swav = read_swav(fields, spec);
        if (spec.dropout != 0.0F) fields.fail("dropout is not 0; SwAV is trained without");
    } else {
        spec.activation = read_activation(fields);
        if (spec.family == Family::opt) read_opt(fields, spec);
    }
    if (spec.width % spec.heads != 0) fields.fail("heads does not divide width");
    if (spec.parameters() > parameters_max) fields.fail("it has more than 20,000,000,000 parameters");
    if (const Status status = fields.finish(); !status) return status.error();
    return spec;
}

std::uint64_t coder_codes(const CoderShape& shape) {
    if (shape.book.codes > 0) return shape.book.codes;
    std::uint64_t codes = 1;
    for (const std::uint32_t level : shape.levels) codes *= level;
    return codes;
}

std::uint64_t TensorSpec::elements() const {
    std::uint64_t product = 1;
    for (const std::uint64_t dimension : shape) product *= dimension;
    return product;
}

std::vector<TensorSpec> tensors_of(const ModelSpec& spec) {
    if (spec.family == Family::llama) return llama_tensors(spec);
    if (spec.family == Family::albert) return albert_tensors(spec);
    if (spec.family == Family::coder) return coder_tensors(spec);
    if (spec.family == Family::dalle) return dalle_tensors(spec);
    if (spec.family == Family::swav) return swav_tensors(spec);
    return spec.family == Family::gpt2 ? gpt2_tensors(spec) : opt_tensors(spec);
}

LayerWidths layer_widths(const ModelSpec& spec) {
    if (reads_pictures(spec)) return {};  // it has no attention
    if (spec.family == Family::llama) {
        return {.heads = spec.heads,
                .kv_heads = spec.llama.kv_heads,
                .head_width = spec.llama.head_width,
                .inner = spec.llama.inner,
                .up = 2 * std::uint64_t{spec.llama.inner}};
    }
    const std::uint64_t inner = spec.family == Family::albert ? spec.albert.inner : 4 * std::uint64_t{spec.width};
    const std::uint64_t halves = spec.family == Family::dalle ? 2 : 1;
    return {.heads = spec.heads,
            .kv_heads = spec.heads,
            .head_width = spec.width / spec.heads,
            .inner = inner,
            .up = halves * inner};
}

const char* family_title(const ModelSpec& spec) {
    if (spec.family == Family::gpt2) return "GPT-2";
    if (spec.family == Family::opt) return "OPT";
    if (spec.family == Family::albert) return "ALBERT";
    if (spec.family == Family::coder) return "picture coder";
    if (spec.family == Family::dalle) return "DALL-E";
    if (spec.family == Family::swav) return "SwAV";
    return spec.llama.qkv_bias ? "Qwen2" : spec.llama.qk_norm ? "Qwen3" : "Llama";
}

Baseline baseline_of(Family family) {
    if (family == Family::coder) return Baseline::mean_colour;
    if (family == Family::swav) return Baseline::chance;
    return family == Family::albert || family == Family::dalle ? Baseline::unigram : Baseline::bigram;
}

const char* title_of(Baseline baseline) {
    switch (baseline) {
        case Baseline::bigram: return "bigram";
        case Baseline::unigram: return "unigram";
        case Baseline::mean_colour: return "mean colour";
        case Baseline::chance: break;
    }
    return "chance";
}

const char* loss_title(Baseline baseline) {
    const bool of_picture = baseline == Baseline::mean_colour || baseline == Baseline::chance;
    return of_picture ? "Loss of a picture" : "Loss in nats per token";
}

MatrixOrder matrix_order(Family family) { return family == Family::gpt2 ? MatrixOrder::in_out : MatrixOrder::out_in; }

}  // namespace potluck::model
