// DALL-E, top to bottom. Tensor names end in their shape: B records, T rows, C width, H heads, D entries of a head, P
// codes of a picture.
//
//   x1 = x2 = table[token]
//   layer i:  y1 = x1 + scale attention(shift(norm(x2)))
//             y2 = x2 + scale feed(shift(norm(y1)))
//   logits = norm((x1 + x2) / 2) table^T + bias, of text in front of text, of codes in front of codes
//   loss = (mean over the caption + 7 mean over the codes) / 8
//
// Row 0 is the beginning, then the caption, then all codes but the last; each row predicts the next token. A row of
// text sees those before it; a code sees all text and what its layer's pattern lets it see of the codes up to itself
// (model::Sight). Nothing tells padding from text, as where this was trained first.
//
// What a layer adds to a stream follows from the other stream alone, so its inputs follow from its outputs: x2 = y2 -
// scale feed(shift(norm(y1))), then x1 = y1 - scale attention(shift(norm(x2))). With Checkpointing::reversed only the
// last streams wait for the backward pass, which undoes layer by layer what it takes gradients of (Gomez et al. 2017).
// Streams are fp32: each undoing rounds twice where the layer rounded twice.
//
// Shift: half of the channels of a row of text are those of the row before; of a code, a quarter are those of the code
// above, a quarter those of the code to the left. Rotary positions turn queries, keys and values, neighbouring entries
// in pairs, in three groups: the row's number (of a code 8,192), the row of the picture and its column (of text -10).
//
// Sources: learning-at-home/dalle, task.py; DALLE-pytorch's branch "weight-sharing", transformer.py and attention.py.
#include "core/training/picture/dalle.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/training/compute/tensor_guard.h"
#include "core/training/picture/flat_views.h"
#include "core/training/picture/sights.h"

namespace potluck::training {

namespace {

using at::Tensor;
using Streams = std::pair<Tensor, Tensor>;

constexpr double dalle_norm_epsilon = 1e-5;
/// Rotary positions: where codes stand for text, and text in a picture, whose own rows lie between -1 and 1.
constexpr double codes_position = 8'192, text_coordinate = -10;
constexpr double rotary_base = 10'000, pixel_frequency_max = 5;

struct NormAndScale {
    Tensor gain_C, bias_C, scale_C;
};
struct Block {
    Tensor qkv_w, out_w, out_bias_C, up_w, up_bias, down_w, down_bias_C;
};

/// What the tensors of model::tensors_of are, in their order.
struct DalleWeights {
    Tensor table_VC, bias_V, gain_C, bias_C;
    std::vector<Block> blocks;
    std::vector<std::array<NormAndScale, 2>> layers;  // of attention and of feed
};

DalleWeights weights_of(const model::ModelSpec& spec, const std::vector<Tensor>& tensors) {
    std::size_t next = 0;
    const auto take = [&]() -> const Tensor& { return tensors.at(next++); };
    DalleWeights weights;
    for (Tensor* one : {&weights.table_VC, &weights.bias_V, &weights.gain_C, &weights.bias_C}) *one = take();
    weights.blocks.resize(spec.dalle.blocks + 1);
    for (Block& b : weights.blocks)
        for (Tensor* one : {&b.qkv_w, &b.out_w, &b.out_bias_C, &b.up_w, &b.up_bias, &b.down_w, &b.down_bias_C})
            *one = take();
    weights.layers.resize(spec.layers);
    for (auto& layer : weights.layers)
        for (NormAndScale& half : layer)
            for (Tensor* one : {&half.gain_C, &half.bias_C, &half.scale_C}) *one = take();
    POTLUCK_CHECK(next == tensors.size());
    return weights;
}

/// By how much each pair of a head's entries is turned, row by row; pairs behind the three groups are not.
std::vector<double> angles_of(const model::ModelSpec& spec) {
    const model::DalleShape& shape = spec.dalle;
    const std::uint32_t head = spec.width / spec.heads, third = head / 3, pairs = third / 2;
    std::vector<double> angles(std::size_t{spec.context} * (head / 2), 0.0);
    for (std::uint32_t row = 0; row < spec.context; ++row) {
        const bool text = row <= shape.text;
        const std::uint32_t place = text ? 0 : row - shape.text - 1;
        const auto coordinate = [&](std::uint32_t along) { return -1 + 2.0 * along / (shape.grid - 1); };
        const double y = text ? text_coordinate : coordinate(place / shape.grid);
        const double x = text ? text_coordinate : coordinate(place % shape.grid);
        double* to = &angles[std::size_t{row} * (head / 2)];
        for (std::uint32_t k = 0; k < pairs; ++k) {
            const double slow = std::pow(rotary_base, -2.0 * k / third);
            const double pixel = std::numbers::pi * (1 + (pixel_frequency_max - 1) * k / (pairs - 1));
            to[k] = (text ? row : codes_position) * slow;
            to[pairs + k] = y * pixel;
            to[2 * pairs + k] = x * pixel;
        }
    }
    return angles;
}

/// LibTorch's kernel of fewer pairs runs on processors.
bool is_gathered(const ModelOptions& options) {
    return options.attention == AttentionKernel::blocked && options.device.kind == DeviceKind::cpu;
}

/// Each row becomes the row before it; the first, zeros.
Tensor row_before(const Tensor& x_BTC) {
    return at::constant_pad_nd(x_BTC.narrow(1, 0, x_BTC.size(1) - 1), {0, 0, 1, 0});
}

}  // namespace

struct Dalle::Network {
    model::ModelSpec spec;
    ModelOptions options;
    at::Device device;
    Tensor flat;
    std::vector<Tensor> leaves;
    DalleWeights weights;
    SightAttention attend;
    Tensor cosines_TD, sines_TD;  // of half a head

    Network(const model::ModelSpec& model, const ModelOptions& wanted);
    void bind(const FlatView& local);
    [[nodiscard]] Result<Tensor> ids_of(std::span<const model::Token> records) const;
    [[nodiscard]] Tensor shifted(const Tensor& x_BTC) const;
    [[nodiscard]] Tensor normed(const Tensor& x_BTC, const NormAndScale& own) const;
    [[nodiscard]] Tensor attention(const Tensor& x_BTC, std::uint32_t layer) const;
    [[nodiscard]] Tensor feed(const Tensor& x_BTC, std::uint32_t layer) const;
    [[nodiscard]] Streams layer(const Tensor& x1_BTC, const Tensor& x2_BTC, std::uint32_t i) const;
    [[nodiscard]] Tensor embedded(const Tensor& ids_BT) const { return at::embedding(weights.table_VC, ids_BT); }
    [[nodiscard]] Tensor last(const Tensor& x1_BTC, const Tensor& x2_BTC) const;
    [[nodiscard]] Tensor text_scores(const Tensor& rows) const;
    [[nodiscard]] Tensor code_scores(const Tensor& rows) const;
    /// Sums over records of the caption's mean and of the codes' mean.
    [[nodiscard]] std::pair<Tensor, Tensor> losses(const Tensor& x_BTC, const Tensor& ids_BR) const;
    [[nodiscard]] double backward(const Tensor& ids_BR, double scale) const;
    [[nodiscard]] std::pair<double, Streams> head_backward(const Streams& x_BTC, const Tensor& ids_BR,
                                                           double scale) const;
    template <class Before>
    [[nodiscard]] Streams last_streams(const Tensor& ids_BT, const Before& before) const;
    [[nodiscard]] double backward_again(const Tensor& ids_BR, double scale) const;
    void undo(Streams& x_BTC, Streams& d_BTC, std::uint32_t i) const;
    [[nodiscard]] double backward_reversed(const Tensor& ids_BR, double scale) const;
    [[nodiscard]] Tensor through(const Tensor& ids_BT) const;
};

Dalle::Network::Network(const model::ModelSpec& model, const ModelOptions& wanted)
    : spec(model),
      options(wanted),
      device(device_of(wanted.device)),
      attend(model, device, is_gathered(wanted) ? SightKernel::gathered : SightKernel::dense) {
    const std::vector<double> angles = angles_of(spec);
    const std::int64_t half = spec.width / spec.heads / 2;
    const Tensor angles_TD = at::empty({spec.context, half}, at::kDouble);
    std::ranges::copy(angles, angles_TD.mutable_data_ptr<double>());
    cosines_TD = angles_TD.cos().to(device, at::kFloat);
    sines_TD = angles_TD.sin().to(device, at::kFloat);
}

void Dalle::Network::bind(const FlatView& local) {
    weights = {};  // they hold an older copy
    take_leaves(spec, local, device, flat, leaves);
    weights = weights_of(spec, leaves);
}

/// Records of context + 1 tokens; `malformed` if one is not of the form above.
Result<Tensor> Dalle::Network::ids_of(std::span<const model::Token> records) const {
    const std::size_t size = spec.context + std::size_t{1};
    POTLUCK_CHECK(!records.empty() && records.size() % size == 0);
    Tensor ids_BR = at::empty({static_cast<std::int64_t>(records.size() / size), spec.context + 1}, at::kLong);
    auto* to = ids_BR.mutable_data_ptr<std::int64_t>();
    for (std::size_t begin = 0; begin < records.size(); begin += size) {
        if (!model::is_dalle_record(spec, records.subspan(begin, size)))
            return Error{ErrorCode::malformed, "A record is no caption with the codes of a picture behind it."};
    }
    std::ranges::copy(records, to);
    return ids_BR.to(device);
}

Tensor Dalle::Network::shifted(const Tensor& x_BTC) const {
    const std::int64_t rows = x_BTC.size(1), c = spec.width, grid = spec.dalle.grid;
    const std::int64_t text = std::min<std::int64_t>(rows, spec.dalle.text + 1), codes = rows - text;
    const Tensor text_BTC = x_BTC.narrow(1, 0, text);
    const Tensor moved_BTC =
        at::cat({row_before(text_BTC.narrow(2, 0, c / 2)), text_BTC.narrow(2, c / 2, c - c / 2)}, 2);
    if (codes == 0) return moved_BTC;
    const std::int64_t quarter = c / 4, lines = (codes + grid - 1) / grid;
    const Tensor codes_BPC = x_BTC.narrow(1, text, codes);
    const auto lined = [&](std::int64_t from) {  // whole lines, of which the last codes are nothing
        return at::constant_pad_nd(codes_BPC.narrow(2, from, quarter), {0, 0, 0, lines * grid - codes})
            .view({-1, lines, grid, quarter});
    };
    const auto flattened = [&](const Tensor& x) { return x.flatten(1, 2).narrow(1, 0, codes); };
    const Tensor above = at::constant_pad_nd(lined(0).narrow(1, 0, lines - 1), {0, 0, 0, 0, 1, 0});
    const Tensor left = at::constant_pad_nd(lined(quarter).narrow(2, 0, grid - 1), {0, 0, 1, 0});
    const Tensor moved_BPC =
        at::cat({flattened(above), flattened(left), codes_BPC.narrow(2, 2 * quarter, c - 2 * quarter)}, 2);
    return at::cat({moved_BTC, moved_BPC}, 1);
}

Tensor Dalle::Network::normed(const Tensor& x_BTC, const NormAndScale& own) const {
    return shifted(at::layer_norm(x_BTC, {x_BTC.size(2)}, own.gain_C, own.bias_C, dalle_norm_epsilon));
}

Tensor Dalle::Network::attention(const Tensor& x_BTC, std::uint32_t layer) const {
    const NormAndScale& own = weights.layers[layer][0];
    const Block& block = weights.blocks[model::dalle_block(spec, layer)];
    const std::int64_t batch = x_BTC.size(0), rows = x_BTC.size(1), heads = spec.heads, head = spec.width / heads;
    const Tensor qkv_3BHTD =
        at::linear(normed(x_BTC, own), block.qkv_w).view({batch, rows, 3, heads, head}).permute({2, 0, 3, 1, 4});
    const std::int64_t half = head / 2;
    const Tensor pairs = qkv_3BHTD.narrow(4, 0, 2 * half).unflatten(4, {half, 2});
    const Tensor first = pairs.select(5, 0), second = pairs.select(5, 1);
    const Tensor cosines = cosines_TD.narrow(0, 0, rows), sines = sines_TD.narrow(0, 0, rows);
    Tensor turned = at::stack({first * cosines - second * sines, second * cosines + first * sines}, 5).flatten(4, 5);
    if (head % 2 == 1) turned = at::cat({turned, qkv_3BHTD.narrow(4, head - 1, 1)}, 4);
    const Tensor seen_BTC = attend(turned, model::dalle_sight(spec, layer));
    return own.scale_C * at::linear(seen_BTC, block.out_w, block.out_bias_C);
}

Tensor Dalle::Network::feed(const Tensor& x_BTC, std::uint32_t layer) const {
    const NormAndScale& own = weights.layers[layer][1];
    const Block& block = weights.blocks[model::dalle_block(spec, layer)];
    const std::vector<Tensor> halves = at::linear(normed(x_BTC, own), block.up_w, block.up_bias).chunk(2, 2);
    return own.scale_C * at::linear(halves[0] * at::gelu(halves[1]), block.down_w, block.down_bias_C);
}

Streams Dalle::Network::layer(const Tensor& x1_BTC, const Tensor& x2_BTC, std::uint32_t i) const {
    Tensor y1_BTC = x1_BTC + attention(x2_BTC, i);
    Tensor y2_BTC = x2_BTC + feed(y1_BTC, i);
    return {std::move(y1_BTC), std::move(y2_BTC)};
}

Tensor Dalle::Network::last(const Tensor& x1_BTC, const Tensor& x2_BTC) const {
    return at::layer_norm((x1_BTC + x2_BTC) / 2, {spec.width}, weights.gain_C, weights.bias_C, dalle_norm_epsilon);
}

Tensor Dalle::Network::text_scores(const Tensor& rows) const {
    const std::int64_t text = spec.dalle.text_vocabulary;
    return at::linear(rows, weights.table_VC.narrow(0, 0, text), weights.bias_V.narrow(0, 0, text));
}

Tensor Dalle::Network::code_scores(const Tensor& rows) const {
    const std::int64_t text = spec.dalle.text_vocabulary, codes = spec.vocabulary - text;
    return at::linear(rows, weights.table_VC.narrow(0, text, codes), weights.bias_V.narrow(0, text, codes));
}

std::pair<Tensor, Tensor> Dalle::Network::losses(const Tensor& x_BTC, const Tensor& ids_BR) const {
    const std::int64_t text = spec.dalle.text, codes = spec.context - text;
    const auto mean_of = [](const Tensor& scores, const Tensor& wanted, std::int64_t count) {
        return at::cross_entropy_loss(scores.flatten(0, 1), wanted.flatten(), {}, at::Reduction::Sum) /
               static_cast<double>(count);
    };
    return {mean_of(text_scores(x_BTC.narrow(1, 0, text)), ids_BR.narrow(1, 1, text), text),
            mean_of(code_scores(x_BTC.narrow(1, text, codes)),
                    ids_BR.narrow(1, 1 + text, codes) - spec.dalle.text_vocabulary, codes)};
}

Tensor Dalle::Network::through(const Tensor& ids_BT) const {
    Streams x;
    x.first = x.second = embedded(ids_BT);
    for (std::uint32_t i = 0; i < spec.layers; ++i) x = layer(x.first, x.second, i);
    return last(x.first, x.second);
}

/// Adds to the leaves' gradients; with everything kept.
double Dalle::Network::backward(const Tensor& ids_BR, double scale) const {
    const auto [text, codes] = losses(through(ids_BR.narrow(1, 0, spec.context)), ids_BR);
    const Tensor loss = model::dalle_loss_of(text, codes);
    const auto value = loss.item<double>();
    if (std::isfinite(value)) (loss * scale).backward();
    return value;
}

/// Loss of the last streams, and its gradients of them: none where it is not finite. Adds the head's to the leaves'.
std::pair<double, Streams> Dalle::Network::head_backward(const Streams& x_BTC, const Tensor& ids_BR,
                                                         double scale) const {
    const Tensor x1_BTC = at::detach(x_BTC.first).set_requires_grad(true);
    const Tensor x2_BTC = at::detach(x_BTC.second).set_requires_grad(true);
    const auto [text, codes] = losses(last(x1_BTC, x2_BTC), ids_BR);
    const Tensor loss = model::dalle_loss_of(text, codes);
    const auto value = loss.item<double>();
    if (!std::isfinite(value)) return {value, {}};
    (loss * scale).backward();
    return {value, {x1_BTC.grad(), x2_BTC.grad()}};
}

/// The last streams, of which nothing before is kept; `before` takes what goes into each layer.
template <class Before>
Streams Dalle::Network::last_streams(const Tensor& ids_BT, const Before& before) const {
    const at::NoGradGuard nothing_kept;
    Streams x_BTC;
    x_BTC.first = embedded(ids_BT);
    x_BTC.second = x_BTC.first.clone();
    for (std::uint32_t i = 0; i < spec.layers; ++i) {
        before(x_BTC, i);
        x_BTC.first.add_(attention(x_BTC.second, i));
        x_BTC.second.add_(feed(x_BTC.first, i));
    }
    return x_BTC;
}

/// The same as `backward` with only the layers' inputs kept, in one piece: many would leave holes in the heap.
double Dalle::Network::backward_again(const Tensor& ids_BR, double scale) const {
    const Tensor ids_BT = ids_BR.narrow(1, 0, spec.context);
    const Tensor inputs_L2BTC = at::empty({spec.layers, 2, ids_BT.size(0), ids_BT.size(1), spec.width}, flat.options());
    const auto input = [&](std::uint32_t i, int stream) { return inputs_L2BTC[i][stream]; };
    auto [value, d_BTC] = head_backward(last_streams(ids_BT,
                                                     [&](const Streams& x_BTC, std::uint32_t i) {
                                                         input(i, 0).copy_(x_BTC.first);
                                                         input(i, 1).copy_(x_BTC.second);
                                                     }),
                                        ids_BR, scale);
    if (!std::isfinite(value)) return value;
    for (std::uint32_t i = spec.layers; i > 0; --i) {
        const Tensor x1_BTC = input(i - 1, 0).set_requires_grad(true);
        const Tensor x2_BTC = input(i - 1, 1).set_requires_grad(true);
        const auto [y1_BTC, y2_BTC] = layer(x1_BTC, x2_BTC, i - 1);
        torch::autograd::backward({y1_BTC, y2_BTC}, {d_BTC.first, d_BTC.second});
        d_BTC = {x1_BTC.grad(), x2_BTC.grad()};
    }
    torch::autograd::backward({embedded(ids_BT)}, {d_BTC.first + d_BTC.second});
    return value;
}

/// What a layer put out, and its gradients, become what it took in, and theirs: its halves are undone from the last,
/// each of which added to one stream what follows from the other alone.
void Dalle::Network::undo(Streams& x_BTC, Streams& d_BTC, std::uint32_t i) const {
    const auto undo_half = [](const Tensor& added_BTC, const Tensor& read_BTC, const Tensor& stream_BTC,
                              Tensor& dread_BTC, const Tensor& dstream_BTC) {
        torch::autograd::backward({added_BTC}, {dstream_BTC});
        const at::NoGradGuard not_recorded;
        dread_BTC = dread_BTC + read_BTC.grad();
        stream_BTC.sub_(added_BTC);
    };
    const Tensor y1_BTC = at::detach(x_BTC.first).set_requires_grad(true);
    undo_half(feed(y1_BTC, i), y1_BTC, x_BTC.second, d_BTC.first, d_BTC.second);
    const Tensor x2_BTC = at::detach(x_BTC.second).set_requires_grad(true);
    undo_half(attention(x2_BTC, i), x2_BTC, x_BTC.first, d_BTC.second, d_BTC.first);
}

/// The same as `backward_again` with only the last streams kept, from which all before them are computed backwards.
double Dalle::Network::backward_reversed(const Tensor& ids_BR, double scale) const {
    const Tensor ids_BT = ids_BR.narrow(1, 0, spec.context);
    Streams x_BTC = last_streams(ids_BT, [](const Streams&, std::uint32_t) {});
    auto [value, d_BTC] = head_backward(x_BTC, ids_BR, scale);
    if (!std::isfinite(value)) return value;
    for (std::uint32_t i = spec.layers; i > 0; --i) undo(x_BTC, d_BTC, i - 1);
    torch::autograd::backward({embedded(ids_BT)}, {d_BTC.first + d_BTC.second});
    return value;
}

Dalle::Dalle(const model::ModelSpec& spec, const ModelOptions& options)
    : m_network(std::make_unique<Network>(spec, options)) {}
Dalle::~Dalle() = default;

Status Dalle::use_parameters(const FlatView& local) {
    return guarded([&]() -> Status {
        m_network->bind(local);
        return {};
    });
}

Result<Model::Evaluation> Dalle::evaluate(std::span<const model::Token> records, std::uint64_t /*first*/) {
    return guarded([&]() -> Result<Evaluation> {
        const at::NoGradGuard nothing_kept;
        const Network& net = *m_network;
        const Result<Tensor> ids_BR = net.ids_of(records);
        if (!ids_BR.ok()) return ids_BR.error();
        const auto [text, codes] = net.losses(net.through(ids_BR->narrow(1, 0, net.spec.context)), *ids_BR);
        const CaptionSums sums{text.item<double>(), codes.item<double>()};
        return Evaluation{.loss_sum = model::dalle_loss_of(sums.text, sums.codes) * net.spec.context, .captions = sums};
    });
}

Result<double> Dalle::add_gradient(const BackwardRequest& request) {
    return guarded([&]() -> Result<double> {
        Network& net = *m_network;
        const double context = net.spec.context;
        const Result<Tensor> ids_BR = net.ids_of(request.records);
        if (!ids_BR.ok()) return ids_BR.error();
        return context * add_gradients(net.spec, net.flat, net.leaves, request.gradient, [&] {
                   const double scale = request.scale * context;
                   switch (net.options.checkpointing) {
                       case Checkpointing::full: return net.backward_again(*ids_BR, scale);
                       case Checkpointing::reversed: return net.backward_reversed(*ids_BR, scale);
                       default: return net.backward(*ids_BR, scale);
                   }
               });
    });
}

Result<std::vector<float>> Dalle::next_logits(std::span<const std::uint32_t> tokens) {
    const model::ModelSpec& spec = m_network->spec;
    const bool fine = !tokens.empty() && tokens.size() <= spec.context &&
                      std::ranges::all_of(tokens, [&](std::uint32_t token) { return token < spec.vocabulary; });
    if (!fine) return Error{ErrorCode::invalid_argument, "DALL-E goes on from a caption and the codes behind it."};
    return guarded([&]() -> Result<std::vector<float>> {
        const at::NoGradGuard nothing_kept;
        const auto rows = static_cast<std::int64_t>(tokens.size());
        const Tensor ids_1T = at::empty({1, rows}, at::kLong);
        std::ranges::copy(tokens, ids_1T.mutable_data_ptr<std::int64_t>());
        const Tensor row_1C = m_network->through(ids_1T.to(m_network->device)).select(1, rows - 1);
        const bool text = tokens.size() <= spec.dalle.text;
        const Tensor scores = (text ? m_network->text_scores(row_1C) : m_network->code_scores(row_1C)).to(at::kCPU);
        const Tensor scores_V = scores.view({-1}).contiguous();
        std::vector<float> logits(spec.vocabulary, -std::numeric_limits<float>::infinity());
        const float* values = scores_V.const_data_ptr<float>();
        std::copy_n(values, scores_V.numel(), logits.begin() + (text ? 0 : spec.dalle.text_vocabulary));
        return logits;
    });
}

}  // namespace potluck::training
