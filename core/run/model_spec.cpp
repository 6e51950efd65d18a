#include "core/run/model_spec.h"

#include <utility>

#include "core/base/json.h"

namespace potluck::run {

namespace {

constexpr const char* activation_name(Activation activation) {
    return activation == Activation::gelu_tanh ? "gelu_tanh" : "relu";
}

/// Appends tensors one behind the other in the flat vector.
class TensorList {
public:
    void add(std::string name, std::vector<std::uint64_t> shape) {
        TensorSpec tensor{std::move(name), std::move(shape), m_next};
        m_next += tensor.elements();
        m_tensors.push_back(std::move(tensor));
    }
    /// "<name>.weight" of the given shape and "<name>.bias" as long as its last dimension.
    void add_affine(const std::string& name, std::vector<std::uint64_t> shape) {
        const std::uint64_t outputs = shape.back();
        add(name + ".weight", std::move(shape));
        add(name + ".bias", {outputs});
    }
    [[nodiscard]] std::vector<TensorSpec> take() { return std::move(m_tensors); }

private:
    std::vector<TensorSpec> m_tensors;
    std::uint64_t m_next = 0;
};

}  // namespace

std::uint64_t ModelSpec::parameters() const {
    const std::uint64_t c = width;
    const std::uint64_t gain_and_bias = 2 * c;
    const std::uint64_t attention = c * 3 * c + 3 * c + c * c + c;
    const std::uint64_t mlp = c * 4 * c + 4 * c + 4 * c * c + c;
    return (std::uint64_t{vocabulary} + context) * c + layers * (2 * gain_and_bias + attention + mlp) + gain_and_bias;
}

nlohmann::json ModelSpec::to_json() const {
    return {{"family", "gpt2"},   {"vocabulary", vocabulary}, {"context", context},
            {"layers", layers},   {"heads", heads},           {"width", width},
            {"activation", activation_name(activation)},      {"dropout", dropout}};
}

Result<ModelSpec> ModelSpec::from_json(const nlohmann::json& object) {
    Fields fields(object, "model");
    const auto count = [&](std::string_view name, std::uint64_t low, std::uint64_t high) {
        return static_cast<std::uint32_t>(fields.integer(name, low, high));
    };
    ModelSpec spec;
    if (fields.text("family", 16) != "gpt2") fields.fail("family is not one this version knows (gpt2)");
    spec.vocabulary = count("vocabulary", 2, 1'048'576);
    spec.context = count("context", 8, 16'384);
    spec.layers = count("layers", 1, 256);
    spec.heads = count("heads", 1, 16'384);
    spec.width = count("width", 8, 16'384);
    const std::string activation = fields.text("activation", 16);
    if (activation == activation_name(Activation::relu)) {
        spec.activation = Activation::relu;
    } else if (activation != activation_name(Activation::gelu_tanh)) {
        fields.fail("activation is not one this version knows (gelu_tanh, relu)");
    }
    spec.dropout = static_cast<float>(fields.number("dropout", 0.0, 0.9));
    if (spec.width % spec.heads != 0) fields.fail("heads does not divide width");
    if (spec.parameters() > parameters_most) fields.fail("it has more than 20,000,000,000 parameters");
    if (const Status status = fields.finish(); !status) return status.error();
    return spec;
}

std::uint64_t TensorSpec::elements() const {
    std::uint64_t product = 1;
    for (const std::uint64_t dimension : shape) product *= dimension;
    return product;
}

std::vector<TensorSpec> tensors_of(const ModelSpec& spec) {
    const std::uint64_t c = spec.width;
    TensorList list;
    list.add("wte.weight", {spec.vocabulary, c});
    list.add("wpe.weight", {spec.context, c});
    for (std::uint32_t layer = 0; layer < spec.layers; ++layer) {
        const std::string prefix = "h." + std::to_string(layer) + ".";
        list.add_affine(prefix + "ln_1", {c});
        list.add_affine(prefix + "attn.c_attn", {c, 3 * c});
        list.add_affine(prefix + "attn.c_proj", {c, c});
        list.add_affine(prefix + "ln_2", {c});
        list.add_affine(prefix + "mlp.c_fc", {c, 4 * c});
        list.add_affine(prefix + "mlp.c_proj", {4 * c, c});
    }
    list.add_affine("ln_f", {c});
    return list.take();
}

}  // namespace potluck::run
