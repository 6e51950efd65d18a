#include "core/model/initial_state.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/model/families.h"

namespace potluck::model {

namespace {

double normal(Rng& rng) {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += rng.unit();
    return sum;
}

/// As torch.nn.Linear starts, weights and biases alike, even within one over the root of what an output reads; scales
/// of layers smaller the more layers there are before them (Touvron et al. 2021, section 2).
void fill_linear(const TensorSpec& tensor, std::uint64_t reads, Rng& rng, std::span<float> values) {
    if (tensor.role == Role::scale) {
        std::ranges::fill(values, *tensor.layer < 18 ? 0.1F : *tensor.layer < 24 ? 1e-5F : 1e-6F);
        return;
    }
    const double bound = 1 / std::sqrt(static_cast<double>(reads));
    for (float& value : values) value = static_cast<float>(bound * (2 * rng.unit() - 1));
}

}  // namespace

void fill_initial_state(const ModelSpec& spec, std::uint64_t seed, std::span<float> out) {
    POTLUCK_CHECK(out.size() == spec.parameters());
    const InitialWeights& initial = row_of(spec.family).initial;
    const std::optional<TextMarks> marks = text_marks(spec);
    std::uint64_t index = 0, reads = 0;  // what the last matrix' outputs read; 0 behind a gain
    for (const TensorSpec& tensor : tensors_of(spec)) {
        const std::span<float> values = out.subspan(tensor.offset, tensor.elements());
        Rng rng(mix64(seed) ^ mix64(++index));
        const bool is_gain = tensor.role == Role::gain, is_bias = tensor.role == Role::bias;
        reads = is_gain ? 0 : is_bias ? reads : tensor.shape.back();
        const bool convolution = tensor.shape.size() == 4;
        if (initial.linear && reads > 0 && !convolution) {
            fill_linear(tensor, reads, rng, values);
            continue;
        }
        const double deviation = initial.deviation(spec, tensor);
        for (float& value : values) {
            value = is_gain ? 1.0F : is_bias ? 0.0F : static_cast<float>(deviation * normal(rng));
        }
        if (marks && tensor.role == Role::embedding) {  // padding means nothing
            const std::uint64_t width = tensor.shape.back();
            std::ranges::fill(values.subspan(marks->pad * width, width), 0.0F);
        }
    }
}

}  // namespace potluck::model
