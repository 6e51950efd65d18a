// The coder, top to bottom. Tensor names end in their shape: B pictures, S side, P side of the code, C width, D numbers
// per place.
//
//   picture --conv, (blocks, conv of stride 2) x halvings, blocks--> C --conv--> D --whole numbers--> code
//   code --conv--> C --blocks, (doubled, conv, blocks) x halvings, conv--> picture
//   block(x) = x + conv(silu(norm(conv(silu(norm(x))))))
//
// A number of L levels: h = (L - 1)(1 + 1/1000) / 2, o = 1/2 where L is even, else 0; z' = tanh(z + atanh(o / h)) h -
// o, rounded, where the gradient passes as if it were not; the decoder reads it divided by floor(L / 2).
//
// The passes take their weights from the list of tensors in its order (core/model/coder.cpp), so a cursor is all that
// they need to know of it. Sources: Mentzer et al. 2023, section 3; the blocks are those of VQGAN's coders.
#include "core/training/picture/coder.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/base/check.h"
#include "core/training/compute/tensor_guard.h"
#include "core/training/picture/flat_views.h"
#include "core/training/picture/picture_values.h"

namespace potluck::training {

namespace {

using at::Tensor;

constexpr double norm_epsilon = 1e-5;

/// Weights in the order of the passes.
class Weights {
public:
    explicit Weights(const std::vector<Tensor>& tensors) : m_tensors(tensors) {}
    Tensor convolved(const Tensor& x, std::int64_t stride, std::int64_t padding) {
        const Tensor& w = take();
        return at::conv2d(x, w, take(), stride, padding);
    }
    Tensor normed(const Tensor& x_BCSS) {
        const Tensor& gain_C = take();
        return at::silu(at::group_norm(x_BCSS, model::coder_groups, gain_C, take(), norm_epsilon));
    }
    /// Those up to "decoder.in" (core/model/coder.cpp).
    void pass_encoder(const model::ModelSpec& spec) {
        const std::vector<model::TensorSpec> tensors = model::tensors_of(spec);
        const auto first = std::ranges::find(tensors, "decoder.in.weight", &model::TensorSpec::name);
        m_next = static_cast<std::size_t>(first - tensors.begin());
    }
    [[nodiscard]] bool all_taken() const { return m_next == m_tensors.size(); }

private:
    const Tensor& take() { return m_tensors.at(m_next++); }
    const std::vector<Tensor>& m_tensors;
    std::size_t m_next = 0;
};

/// Sums over pictures of what their losses are made of.
struct Parts {
    Tensor absolute, squares, steps;
};

Parts parts_of(const Tensor& drawn_B3SS, const Tensor& wanted_B3SS) {
    const Tensor apart_B3SS = wanted_B3SS - drawn_B3SS;
    const std::int64_t side = apart_B3SS.size(2);
    const double values = static_cast<double>(3 * side * side), pairs = static_cast<double>(6 * side * (side - 1));
    const auto steps_along = [&](std::int64_t axis) { return apart_B3SS.diff(1, axis).abs().sum(); };
    return {apart_B3SS.abs().sum() / values, apart_B3SS.square().sum() / values,
            (steps_along(2) + steps_along(3)) / pairs};
}

Tensor loss_of(const Parts& parts) {
    return model::coder_absolute_weight * parts.absolute + model::coder_squares_weight * parts.squares +
           model::coder_steps_weight * parts.steps;
}

}  // namespace

struct PictureCoder::Network {
    model::ModelSpec spec;
    ModelOptions options;
    at::Device device;
    Tensor flat;
    std::vector<Tensor> leaves;
    Tensor reach_D11, halves_D11, offsets_D11, turns_D11, steps_D11;  // of finite scalar quantisation

    Network(const model::ModelSpec& model, const ModelOptions& wanted);
    void bind(const FlatView& local);
    [[nodiscard]] Result<Tensor> pictures_of(std::span<const model::Token> records) const {
        return pictures_in(spec, records, device);
    }
    [[nodiscard]] Tensor blocks(Weights& weights, Tensor x_BCSS) const;
    [[nodiscard]] Tensor whole_numbers(const Tensor& z_BDPP) const;
    [[nodiscard]] Tensor encoded(Weights& weights, const Tensor& pictures_B3SS) const;
    [[nodiscard]] Tensor decoded(Weights& weights, const Tensor& numbers_BDPP) const;
    [[nodiscard]] Tensor joined(const Tensor& numbers_BDPP) const;
    [[nodiscard]] Tensor parted(std::span<const std::uint32_t> codes) const;
    [[nodiscard]] double add_gradient(const Tensor& pictures_B3SS, const FlatView& gradient, double scale);
};

PictureCoder::Network::Network(const model::ModelSpec& model, const ModelOptions& wanted)
    : spec(model), options(wanted), device(device_of(wanted.device)) {
    const std::vector<std::uint32_t>& levels = spec.coder.levels;
    const auto numbers = static_cast<std::int64_t>(levels.size());
    for (Tensor* one : {&reach_D11, &halves_D11, &offsets_D11, &turns_D11, &steps_D11})
        *one = at::empty({numbers, 1, 1}, at::kFloat);
    std::uint64_t step = 1;
    for (std::int64_t d = 0; d < numbers; ++d) {
        const std::uint32_t level = levels[static_cast<std::size_t>(d)];
        const double half = (level - 1) * (1 + 1e-3) / 2, offset = level % 2 == 0 ? 0.5 : 0.0;
        reach_D11[d].fill_(level / 2);
        halves_D11[d].fill_(half);
        offsets_D11[d].fill_(offset);
        turns_D11[d].fill_(std::atanh(offset / half));
        steps_D11[d].fill_(static_cast<double>(step));
        step *= level;
    }
    for (Tensor* one : {&reach_D11, &halves_D11, &offsets_D11, &turns_D11, &steps_D11}) *one = one->to(device);
}

void PictureCoder::Network::bind(const FlatView& local) { take_leaves(spec, local, device, flat, leaves); }

Tensor PictureCoder::Network::blocks(Weights& weights, Tensor x_BCSS) const {
    for (std::uint32_t i = 0; i < spec.layers; ++i) {
        const Tensor inner_BCSS = weights.convolved(weights.normed(x_BCSS), 1, 1);
        x_BCSS = x_BCSS + weights.convolved(weights.normed(inner_BCSS), 1, 1);
    }
    return x_BCSS;
}

Tensor PictureCoder::Network::whole_numbers(const Tensor& z_BDPP) const {
    const Tensor bounded_BDPP = at::tanh(z_BDPP + turns_D11) * halves_D11 - offsets_D11;
    return bounded_BDPP + at::detach(at::round(bounded_BDPP) - bounded_BDPP);
}

Tensor PictureCoder::Network::encoded(Weights& weights, const Tensor& pictures_B3SS) const {
    Tensor x_BCSS = weights.convolved(2 * pictures_B3SS - 1, 1, 1);
    for (std::uint32_t i = 0; i < spec.coder.halvings; ++i) x_BCSS = weights.convolved(blocks(weights, x_BCSS), 2, 1);
    x_BCSS = weights.normed(blocks(weights, x_BCSS));
    return whole_numbers(weights.convolved(x_BCSS, 1, 0));
}

Tensor PictureCoder::Network::decoded(Weights& weights, const Tensor& numbers_BDPP) const {
    Tensor x_BCSS = blocks(weights, weights.convolved(numbers_BDPP / reach_D11, 1, 0));
    for (std::uint32_t i = 0; i < spec.coder.halvings; ++i) {
        const std::int64_t side = 2 * x_BCSS.size(2);
        x_BCSS = blocks(weights, weights.convolved(at::upsample_nearest2d(x_BCSS, {side, side}), 1, 1));
    }
    const Tensor drawn_B3SS = weights.convolved(weights.normed(x_BCSS), 1, 1);
    POTLUCK_CHECK(weights.all_taken());
    return 0.5 * drawn_B3SS + 0.5;
}

Tensor PictureCoder::Network::joined(const Tensor& numbers_BDPP) const {
    return ((numbers_BDPP + reach_D11) * steps_D11).sum(1).round().to(at::kLong).to(at::kCPU).contiguous();
}

/// The numbers of one picture's codes: what joined() has made, taken apart.
Tensor PictureCoder::Network::parted(std::span<const std::uint32_t> codes) const {
    const std::int64_t places = spec.coder.side >> spec.coder.halvings;
    const std::vector<std::uint32_t>& levels = spec.coder.levels;
    const Tensor numbers_1DPP = at::empty({1, static_cast<std::int64_t>(levels.size()), places, places}, at::kFloat);
    float* to = numbers_1DPP.mutable_data_ptr<float>();
    std::uint32_t step = 1;
    for (const std::uint32_t level : levels) {
        for (const std::uint32_t code : codes)
            *to++ = static_cast<float>(code / step % level) - static_cast<float>(level / 2);
        step *= level;
    }
    return numbers_1DPP.to(device);
}

double PictureCoder::Network::add_gradient(const Tensor& pictures_B3SS, const FlatView& gradient, double scale) {
    return add_gradients(spec, flat, leaves, gradient, [&] {
        Weights weights(leaves);
        const Tensor numbers_BDPP = encoded(weights, pictures_B3SS);
        const Tensor loss = loss_of(parts_of(decoded(weights, numbers_BDPP), pictures_B3SS));
        const auto value = loss.item<double>();
        if (std::isfinite(value)) (loss * scale).backward();
        return value;
    });
}

PictureCoder::PictureCoder(const model::ModelSpec& spec, const ModelOptions& options)
    : m_network(std::make_unique<Network>(spec, options)) {}
PictureCoder::~PictureCoder() = default;

Status PictureCoder::use_parameters(const FlatView& local) {
    return guarded([&]() -> Status {
        m_network->bind(local);
        return {};
    });
}

Result<Model::Evaluation> PictureCoder::evaluate(std::span<const model::Token> records, std::uint64_t /*first*/) {
    return guarded([&]() -> Result<Evaluation> {
        const at::NoGradGuard nothing_kept;
        const Result<Tensor> pictures_B3SS = m_network->pictures_of(records);
        if (!pictures_B3SS.ok()) return pictures_B3SS.error();
        Weights weights(m_network->leaves);
        const Tensor numbers_BDPP = m_network->encoded(weights, *pictures_B3SS);
        const Tensor drawn_B3SS = m_network->decoded(weights, numbers_BDPP);
        const auto loss = loss_of(parts_of(drawn_B3SS, *pictures_B3SS)).item<double>();
        // What a screen shows: values within 0..1.
        const Tensor shown_B3SS = drawn_B3SS.clamp(0, 1);
        PictureSums sums{parts_of(shown_B3SS, *pictures_B3SS).squares.item<double>(), {}};
        const Tensor codes_BPP = m_network->joined(numbers_BDPP);
        const auto* codes = codes_BPP.const_data_ptr<std::int64_t>();
        sums.codes_used.resize(model::coder_codes(m_network->spec.coder));
        for (std::int64_t i = 0; i < codes_BPP.numel(); ++i) sums.codes_used[static_cast<std::size_t>(codes[i])] = true;
        return Evaluation{.loss_sum = loss * m_network->spec.context, .pictures = std::move(sums)};
    });
}

Result<double> PictureCoder::add_gradient(const BackwardRequest& request) {
    const double context = m_network->spec.context;
    return guarded([&]() -> Result<double> {
        const Result<Tensor> pictures_B3SS = m_network->pictures_of(request.records);
        if (!pictures_B3SS.ok()) return pictures_B3SS.error();
        return context * m_network->add_gradient(*pictures_B3SS, request.gradient, request.scale * context);
    });
}

Result<std::vector<float>> PictureCoder::next_logits(std::span<const std::uint32_t> tokens) {
    if (tokens.size() != m_network->spec.context) {
        return Error{ErrorCode::invalid_argument, "A picture coder goes on with no text; it codes pictures of " +
                                                      std::to_string(m_network->spec.context) + " values."};
    }
    std::vector<model::Token> record(tokens.begin(), tokens.end());
    record.push_back(0);
    return guarded([&]() -> Result<std::vector<float>> {
        const at::NoGradGuard nothing_kept;
        const Result<Tensor> picture_B3SS = m_network->pictures_of(record);
        if (!picture_B3SS.ok()) return picture_B3SS.error();
        Weights weights(m_network->leaves);
        const Tensor numbers_BDPP = m_network->encoded(weights, *picture_B3SS);
        return values_of(m_network->decoded(weights, numbers_BDPP));
    });
}

Result<std::vector<std::uint32_t>> PictureCoder::codes_of(std::span<const model::Token> records) {
    return guarded([&]() -> Result<std::vector<std::uint32_t>> {
        const at::NoGradGuard nothing_kept;
        const Result<Tensor> pictures_B3SS = m_network->pictures_of(records);
        if (!pictures_B3SS.ok()) return pictures_B3SS.error();
        Weights weights(m_network->leaves);
        const Tensor codes_BPP = m_network->joined(m_network->encoded(weights, *pictures_B3SS));
        const auto* codes = codes_BPP.const_data_ptr<std::int64_t>();
        return std::vector<std::uint32_t>(codes, codes + codes_BPP.numel());
    });
}

Result<std::vector<float>> PictureCoder::picture_of(std::span<const std::uint32_t> codes) {
    const model::CoderShape& shape = m_network->spec.coder;
    const std::size_t places = shape.side >> shape.halvings;
    const std::uint64_t known = model::coder_codes(shape);
    if (codes.size() != places * places || std::ranges::any_of(codes, [&](std::uint32_t one) { return one >= known; }))
        return Error{ErrorCode::invalid_argument, "These are not the codes of one picture of this coder's."};
    return guarded([&]() -> Result<std::vector<float>> {
        const at::NoGradGuard nothing_kept;
        // The decoder's weights follow the encoder's, so the cursor has to pass those.
        Weights weights(m_network->leaves);
        weights.pass_encoder(m_network->spec);
        return values_of(m_network->decoded(weights, m_network->parted(codes)));
    });
}

}  // namespace potluck::training
