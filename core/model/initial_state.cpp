#include "core/model/initial_state.h"

#include <cmath>
#include <string_view>

#include "core/base/check.h"
#include "core/base/rng.h"

namespace potluck::model {

namespace {

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// The output projections of attention and MLP.
bool writes_to_residual(std::string_view name) {
    return ends_with(name, "c_proj.weight") || ends_with(name, "out_proj.weight") || ends_with(name, "fc2.weight");
}

double normal(Rng& rng) {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += rng.unit();
    return sum;
}

}  // namespace

void fill_initial_state(const ModelSpec& spec, std::uint64_t seed, std::span<float> out) {
    POTLUCK_CHECK(out.size() == spec.parameters());
    const double usual = spec.family == Family::gpt2 ? 0.02 : 0.006;
    const double residual = usual / std::sqrt(2.0 * spec.layers);
    std::uint64_t index = 0;
    for (const TensorSpec& tensor : tensors_of(spec)) {
        const std::span<float> values = out.subspan(tensor.offset, tensor.elements());
        Rng rng(mix64(seed) ^ mix64(++index));
        const bool is_gain = tensor.shape.size() == 1 && ends_with(tensor.name, ".weight");
        const bool is_bias = ends_with(tensor.name, ".bias");
        const double deviation = writes_to_residual(tensor.name) ? residual : usual;
        for (float& value : values) {
            value = is_gain ? 1.0F : is_bias ? 0.0F : static_cast<float>(deviation * normal(rng));
        }
    }
}

}  // namespace potluck::model
