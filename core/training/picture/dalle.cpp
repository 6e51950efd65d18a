// DALL-E, top to bottom. Tensor names end in their shape: B records, T rows of each, N = B T, C width, H heads, D
// entries of a head, Q = 3 C of queries, keys and values, A = C of their heads' outputs, U = 8 C and F = 4 C of a feed.
//
//   x1 = x2 = table[token]
//   layer i:  y1 = x1 + scale attention(shift(norm(x2)))
//             y2 = x2 + scale feed(shift(norm(y1)))
//   logits = norm((x1 + x2) / 2) table^T + bias, of text in front of text, of codes in front of codes
//   loss = (mean over the caption + 7 mean over the codes) / 8
//
// Row 0 is the beginning, then the caption, then all codes but the last; each row predicts the next token. A row of
// text sees those before it; a code sees all text and what its layer's pattern lets it see of the codes up to itself
// (model::Sight). Nothing tells padding from text, as where this was trained first. Shift and rotary positions are in
// dalle_operations.h.
//
// The backward pass is written out. What a half of a layer adds to a stream follows from the other stream alone, and so
// do its gradients; the gradient of the stream that it is added to passes it by.
//
//   kept       each half keeps what its backward pass needs
//   again      the streams in front of each layer are kept, and its halves run once more
//   reversed   only the last streams are kept: x2 = y2 - scale feed(shift(norm(y1))), then x1 = y1 - scale
//              attention(shift(norm(x2))), so that layer by layer is undone (Gomez et al. 2017). Each undoing rounds
//              twice where the layer rounded twice.
//
// Sources: learning-at-home/dalle, task.py; DALLE-pytorch's branch "weight-sharing", transformer.py and attention.py.
#include "core/training/picture/dalle.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/training/compute/products.h"
#include "core/training/compute/tensor_guard.h"
#include "core/training/picture/dalle_operations.h"
#include "core/training/picture/flat_views.h"
#include "core/training/picture/sights.h"

namespace potluck::training {

namespace {

using at::Tensor;
using Streams = std::pair<Tensor, Tensor>;

constexpr double dalle_norm_epsilon = 1e-5;

/// Weights and scales of one application of a half, attention or feed: `in` makes qkv or up, `out` what is added.
struct Half {
    Tensor gain_C, bias_C, scale_C;
    Tensor in_OI, in_bias_O;  // attention's has no bias
    Tensor out_OI, out_bias_O;

    [[nodiscard]] NormWeights norm() const { return {gain_C, bias_C, dalle_norm_epsilon}; }
};

/// What the tensors of model::tensors_of are, in their order; or their gradients.
struct DalleWeights {
    Tensor table_VC, bias_V, gain_C, bias_C;
    struct Block {
        Tensor qkv_QC, out_CA, out_bias_C, up_UC, up_bias_U, down_CF, down_bias_C;
    };
    struct NormAndScale {
        Tensor gain_C, bias_C, scale_C;
    };
    std::vector<Block> blocks;
    std::vector<std::pair<NormAndScale, NormAndScale>> layers;  // of attention and of feed

    [[nodiscard]] NormWeights last_norm() const { return {gain_C, bias_C, dalle_norm_epsilon}; }
    [[nodiscard]] Half attention(const model::ModelSpec& spec, std::uint32_t layer) const {
        const Block& b = blocks[model::dalle_block(spec, layer)];
        const NormAndScale& own = layers[layer].first;
        return {own.gain_C, own.bias_C, own.scale_C, b.qkv_QC, {}, b.out_CA, b.out_bias_C};
    }
    [[nodiscard]] Half feed(const model::ModelSpec& spec, std::uint32_t layer) const {
        const Block& b = blocks[model::dalle_block(spec, layer)];
        const NormAndScale& own = layers[layer].second;
        return {own.gain_C, own.bias_C, own.scale_C, b.up_UC, b.up_bias_U, b.down_CF, b.down_bias_C};
    }
};

DalleWeights weights_of(const model::ModelSpec& spec, const std::vector<Tensor>& tensors) {
    std::size_t next = 0;
    const auto take = [&]() -> const Tensor& { return tensors.at(next++); };
    DalleWeights weights;
    for (Tensor* one : {&weights.table_VC, &weights.bias_V, &weights.gain_C, &weights.bias_C}) *one = take();
    weights.blocks.resize(spec.dalle.blocks + 1);
    for (DalleWeights::Block& b : weights.blocks)
        for (Tensor* one : {&b.qkv_QC, &b.out_CA, &b.out_bias_C, &b.up_UC, &b.up_bias_U, &b.down_CF, &b.down_bias_C})
            *one = take();
    weights.layers.resize(spec.layers);
    for (auto& [attention, feed] : weights.layers)
        for (DalleWeights::NormAndScale* half : {&attention, &feed})
            for (Tensor* one : {&half->gain_C, &half->bias_C, &half->scale_C}) *one = take();
    POTLUCK_CHECK(next == tensors.size());
    return weights;
}

/// What one half of a layer keeps from its forward to its backward pass.
struct HalfCache {
    NormCache norm;
    Tensor moved_NC;   // what `in` reads
    Tensor wide_NO;    // queries, keys and values as attention reads them; or up
    Tensor inner_NI;   // what `out` reads
    SightCache sight;  // attention's alone
    Tensor out_NC;     // in front of the scale
};

}  // namespace

struct Dalle::Network {
    model::ModelSpec spec;
    ModelOptions options;
    at::Device device;
    DalleOperations operations;
    SightAttention attend;
    Tensor flat;
    std::vector<Tensor> tensors;
    DalleWeights weights;

    Network(const model::ModelSpec& model, const ModelOptions& wanted);
    void bind(const FlatView& local);
    [[nodiscard]] Result<Tensor> ids_of(std::span<const model::Token> records) const;

    [[nodiscard]] Tensor attention(const Tensor& x_NC, std::int64_t time, std::uint32_t layer, HalfCache& cache) const;
    [[nodiscard]] Tensor feed(const Tensor& x_NC, std::int64_t time, std::uint32_t layer, HalfCache& cache) const;
    void attention_backward(const Tensor& dadded_NC, const Tensor& dread_NC, std::uint32_t layer, HalfCache& cache,
                            const DalleWeights& sums) const;
    void feed_backward(const Tensor& dadded_NC, const Tensor& dread_NC, std::uint32_t layer, HalfCache& cache,
                       const DalleWeights& sums) const;
    [[nodiscard]] Tensor begin_backward(const Half& w, const Half& sums, const Tensor& dadded_NC,
                                        HalfCache& cache) const;
    void end_backward(const Half& w, const Half& sums, const Tensor& dwide_NO, const Tensor& dread_NC,
                      HalfCache& cache) const;

    [[nodiscard]] Streams embedded(const Tensor& ids_BT) const;
    template <class Before>
    [[nodiscard]] Streams last_streams(const Tensor& ids_BT, const Before& before) const;
    [[nodiscard]] Tensor last(const Streams& x_NC, NormCache& cache) const;
    [[nodiscard]] Tensor text_scores(const Tensor& rows) const;
    [[nodiscard]] Tensor code_scores(const Tensor& rows) const;

    /// What of the normed rows predicts text or codes, and what they are to predict, from 0 on.
    struct Kind {
        Tensor rows_nC, targets_n;
    };
    [[nodiscard]] std::pair<Kind, Kind> kinds(const Tensor& h_NC, const Tensor& ids_BR) const;
    /// Sums over records of the caption's mean and of the codes' mean.
    [[nodiscard]] Model::CaptionSums losses(const Tensor& h_NC, const Tensor& ids_BR) const;
    [[nodiscard]] std::pair<double, Streams> head_backward(const Streams& x_NC, const Tensor& ids_BR, double scale,
                                                           const DalleWeights& sums) const;

    [[nodiscard]] double backward(const Tensor& ids_BR, double scale, const DalleWeights& sums) const;
    [[nodiscard]] double backward_kept(const Tensor& ids_BR, double scale, const DalleWeights& sums) const;
    [[nodiscard]] double backward_again(const Tensor& ids_BR, double scale, const DalleWeights& sums) const;
    [[nodiscard]] double backward_reversed(const Tensor& ids_BR, double scale, const DalleWeights& sums) const;
    void embed_backward(const Streams& d_NC, const Tensor& ids_BT, const DalleWeights& sums) const;
    [[nodiscard]] Tensor through(const Tensor& ids_BT) const;
};

Dalle::Network::Network(const model::ModelSpec& model, const ModelOptions& wanted)
    : spec(model),
      options(wanted),
      device(device_of(wanted.device)),
      operations(model, device, wanted.kernels),
      attend(model, device, wanted.attention == AttentionKernel::blocked ? SightKernel::gathered : SightKernel::dense) {
}

void Dalle::Network::bind(const FlatView& local) {
    weights = {};  // they hold an older copy
    take_tensors(spec, local, device, flat, tensors);
    weights = weights_of(spec, tensors);
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

/// What attention adds to its stream, in front of the scale.
Tensor Dalle::Network::attention(const Tensor& x_NC, std::int64_t time, std::uint32_t layer, HalfCache& cache) const {
    const Half w = weights.attention(spec, layer);
    cache.moved_NC = operations.shifted_norm(x_NC, w.norm(), time, cache.norm);
    cache.wide_NO = product(cache.moved_NC, w.in_OI.t());
    operations.turn(cache.wide_NO, time, Operations::Turn::forward);
    cache.inner_NI = attend.forward(cache.wide_NO, time, model::dalle_sight(spec, layer), cache.sight);
    cache.out_NC = product(cache.inner_NI, w.out_OI.t(), w.out_bias_O);
    return cache.out_NC;
}

Tensor Dalle::Network::feed(const Tensor& x_NC, std::int64_t time, std::uint32_t layer, HalfCache& cache) const {
    const Half w = weights.feed(spec, layer);
    cache.moved_NC = operations.shifted_norm(x_NC, w.norm(), time, cache.norm);
    cache.wide_NO = product(cache.moved_NC, w.in_OI.t(), w.in_bias_O);
    cache.inner_NI = operations.gated(cache.wide_NO);
    cache.out_NC = product(cache.inner_NI, w.out_OI.t(), w.out_bias_O);
    return cache.out_NC;
}

/// Gradient of what `out` reads, from that of the stream that the half was added to.
Tensor Dalle::Network::begin_backward(const Half& w, const Half& sums, const Tensor& dadded_NC,
                                      HalfCache& cache) const {
    const Tensor dout_NC =
        operations.branch_backward(dadded_NC, {cache.out_NC, w.scale_C, sums.scale_C, sums.out_bias_O});
    cache.out_NC = Tensor();
    operations.common().add_product(sums.out_OI, dout_NC, cache.inner_NI);
    cache.inner_NI = Tensor();
    return product(dout_NC, w.out_OI);
}

/// Adds to the gradient of the stream that the half read.
void Dalle::Network::end_backward(const Half& w, const Half& sums, const Tensor& dwide_NO, const Tensor& dread_NC,
                                  HalfCache& cache) const {
    operations.common().add_product(sums.in_OI, dwide_NO, cache.moved_NC);
    operations.shifted_norm_backward(product(dwide_NO, w.in_OI), cache.norm, w.norm(), spec.context,
                                     {dread_NC, sums.gain_C, sums.bias_C});
    cache = {};
}

void Dalle::Network::attention_backward(const Tensor& dadded_NC, const Tensor& dread_NC, std::uint32_t layer,
                                        HalfCache& cache, const DalleWeights& sums) const {
    const Half w = weights.attention(spec, layer), own = sums.attention(spec, layer);
    const Tensor dseen_NA = begin_backward(w, own, dadded_NC, cache);
    const Tensor dqkv_NQ =
        attend.backward(dseen_NA, cache.wide_NO, spec.context, model::dalle_sight(spec, layer), cache.sight);
    operations.turn(dqkv_NQ, spec.context, Operations::Turn::back);
    end_backward(w, own, dqkv_NQ, dread_NC, cache);
}

void Dalle::Network::feed_backward(const Tensor& dadded_NC, const Tensor& dread_NC, std::uint32_t layer,
                                   HalfCache& cache, const DalleWeights& sums) const {
    const Half w = weights.feed(spec, layer), own = sums.feed(spec, layer);
    const Tensor dgated_NF = begin_backward(w, own, dadded_NC, cache);
    end_backward(w, own, operations.gated_backward(cache.wide_NO, dgated_NF, own.in_bias_O), dread_NC, cache);
}

Streams Dalle::Network::embedded(const Tensor& ids_BT) const {
    const Tensor x_NC = at::embedding(weights.table_VC, ids_BT.reshape(-1));
    return {x_NC, x_NC.clone()};
}

/// The last streams, of which nothing before is kept; `before` takes what goes into each layer.
template <class Before>
Streams Dalle::Network::last_streams(const Tensor& ids_BT, const Before& before) const {
    const std::int64_t time = ids_BT.size(1);
    Streams x_NC = embedded(ids_BT);
    for (std::uint32_t i = 0; i < spec.layers; ++i) {
        before(x_NC, i);
        HalfCache first, second;
        x_NC.first.addcmul_(attention(x_NC.second, time, i, first), weights.layers[i].first.scale_C);
        first = {};
        x_NC.second.addcmul_(feed(x_NC.first, time, i, second), weights.layers[i].second.scale_C);
    }
    return x_NC;
}

Tensor Dalle::Network::last(const Streams& x_NC, NormCache& cache) const {
    return operations.common().norm((x_NC.first + x_NC.second).mul_(0.5), weights.last_norm(), at::kFloat, cache);
}

Tensor Dalle::Network::text_scores(const Tensor& rows) const {
    const std::int64_t text = spec.dalle.text_vocabulary;
    return product(rows, weights.table_VC.narrow(0, 0, text).t(), weights.bias_V.narrow(0, 0, text));
}

Tensor Dalle::Network::code_scores(const Tensor& rows) const {
    const std::int64_t text = spec.dalle.text_vocabulary, codes = spec.vocabulary - text;
    return product(rows, weights.table_VC.narrow(0, text, codes).t(), weights.bias_V.narrow(0, text, codes));
}

std::pair<Dalle::Network::Kind, Dalle::Network::Kind> Dalle::Network::kinds(const Tensor& h_NC,
                                                                            const Tensor& ids_BR) const {
    const std::int64_t text = spec.dalle.text, codes = spec.context - text;
    const Tensor h_BTC = h_NC.view({-1, spec.context, spec.width});
    const auto kind = [&](std::int64_t from, std::int64_t count, std::int64_t first_token) {
        return Kind{h_BTC.narrow(1, from, count).reshape({-1, spec.width}),
                    (ids_BR.narrow(1, 1 + from, count) - first_token).reshape(-1).to(at::kCPU)};
    };
    return {kind(0, text, 0), kind(text, codes, spec.dalle.text_vocabulary)};
}

Model::CaptionSums Dalle::Network::losses(const Tensor& h_NC, const Tensor& ids_BR) const {
    const auto [text, codes] = kinds(h_NC, ids_BR);
    Tensor of_text = text_scores(text.rows_nC), of_codes = code_scores(codes.rows_nC);
    return {operations.common().cross_entropy(of_text, text.targets_n, 0) / spec.dalle.text,
            operations.common().cross_entropy(of_codes, codes.targets_n, 0) / (spec.context - spec.dalle.text)};
}

/// Loss of the last streams, and its gradients of them: none where it is not finite. Adds the head's to `sums`.
std::pair<double, Streams> Dalle::Network::head_backward(const Streams& x_NC, const Tensor& ids_BR, double scale,
                                                         const DalleWeights& sums) const {
    const Operations& common = operations.common();
    const double text_rows = spec.dalle.text, code_rows = spec.context - spec.dalle.text;
    NormCache cache;
    const Tensor h_NC = last(x_NC, cache);
    const auto [text, codes] = kinds(h_NC, ids_BR);
    Tensor dtext_nV = text_scores(text.rows_nC), dcodes_nV = code_scores(codes.rows_nC);
    const double of_text =
        common.cross_entropy(dtext_nV, text.targets_n, scale * model::dalle_loss_of(1 / text_rows, 0.0));
    const double of_codes =
        common.cross_entropy(dcodes_nV, codes.targets_n, scale * model::dalle_loss_of(0.0, 1 / code_rows));
    const double value = model::dalle_loss_of(of_text / text_rows, of_codes / code_rows);
    if (!std::isfinite(value)) return {value, {}};
    const Tensor dh_NC = at::empty_like(h_NC);
    const Tensor dh_BTC = dh_NC.view({-1, spec.context, spec.width});
    const auto spread = [&](const Tensor& d_nV, const Kind& kind, std::int64_t from, std::int64_t first_token) {
        const std::int64_t size = d_nV.size(1), rows = d_nV.size(0) / dh_BTC.size(0);
        common.add_product(sums.table_VC.narrow(0, first_token, size), d_nV, kind.rows_nC);
        common.add_column_sums(d_nV, sums.bias_V.narrow(0, first_token, size));
        dh_BTC.narrow(1, from, rows)
            .copy_(product(d_nV, weights.table_VC.narrow(0, first_token, size)).view({-1, rows, spec.width}));
    };
    spread(dtext_nV, text, 0, 0);
    spread(dcodes_nV, codes, spec.dalle.text, spec.dalle.text_vocabulary);
    Tensor d_NC = at::zeros_like(h_NC);
    common.norm_backward(dh_NC, cache, weights.last_norm(), {d_NC, sums.gain_C, sums.bias_C});
    d_NC.mul_(0.5);
    return {value, {d_NC, d_NC.clone()}};
}

void Dalle::Network::embed_backward(const Streams& d_NC, const Tensor& ids_BT, const DalleWeights& sums) const {
    Tensor(sums.table_VC).index_add_(0, ids_BT.reshape(-1), d_NC.first + d_NC.second);
}

Tensor Dalle::Network::through(const Tensor& ids_BT) const {
    NormCache cache;
    return last(last_streams(ids_BT, [](const Streams&, std::uint32_t) {}), cache);
}

/// Adds to `sums`; with everything kept.
double Dalle::Network::backward_kept(const Tensor& ids_BR, double scale, const DalleWeights& sums) const {
    const Tensor ids_BT = ids_BR.narrow(1, 0, spec.context);
    const std::int64_t time = spec.context;
    std::vector<std::pair<HalfCache, HalfCache>> caches(spec.layers);
    Streams x_NC = embedded(ids_BT);
    for (std::uint32_t i = 0; i < spec.layers; ++i) {
        auto& [first, second] = caches[i];
        x_NC.first = at::addcmul(x_NC.first, attention(x_NC.second, time, i, first), weights.layers[i].first.scale_C);
        x_NC.second = at::addcmul(x_NC.second, feed(x_NC.first, time, i, second), weights.layers[i].second.scale_C);
    }
    const auto [value, d_NC] = head_backward(x_NC, ids_BR, scale, sums);
    if (!std::isfinite(value)) return value;
    x_NC = {};
    for (std::uint32_t i = spec.layers; i-- > 0;) {
        feed_backward(d_NC.second, d_NC.first, i, caches[i].second, sums);
        attention_backward(d_NC.first, d_NC.second, i, caches[i].first, sums);
    }
    embed_backward(d_NC, ids_BT, sums);
    return value;
}

/// The same with only the layers' inputs kept, in one piece: many would leave holes in the heap.
double Dalle::Network::backward_again(const Tensor& ids_BR, double scale, const DalleWeights& sums) const {
    const Tensor ids_BT = ids_BR.narrow(1, 0, spec.context);
    const Tensor inputs_L2NC = at::empty({spec.layers, 2, ids_BT.numel(), spec.width}, flat.options());
    const auto [value, d_NC] = head_backward(last_streams(ids_BT,
                                                          [&](const Streams& x_NC, std::uint32_t i) {
                                                              inputs_L2NC[i][0].copy_(x_NC.first);
                                                              inputs_L2NC[i][1].copy_(x_NC.second);
                                                          }),
                                             ids_BR, scale, sums);
    if (!std::isfinite(value)) return value;
    for (std::uint32_t i = spec.layers; i-- > 0;) {
        HalfCache first, second;
        const Tensor y1_NC = at::addcmul(inputs_L2NC[i][0], attention(inputs_L2NC[i][1], spec.context, i, first),
                                         weights.layers[i].first.scale_C);
        (void)feed(y1_NC, spec.context, i, second);
        feed_backward(d_NC.second, d_NC.first, i, second, sums);
        attention_backward(d_NC.first, d_NC.second, i, first, sums);
    }
    embed_backward(d_NC, ids_BT, sums);
    return value;
}

/// The same with only the last streams kept, from which all before them are computed backwards.
double Dalle::Network::backward_reversed(const Tensor& ids_BR, double scale, const DalleWeights& sums) const {
    const Tensor ids_BT = ids_BR.narrow(1, 0, spec.context);
    const Streams x_NC = last_streams(ids_BT, [](const Streams&, std::uint32_t) {});
    const auto [value, d_NC] = head_backward(x_NC, ids_BR, scale, sums);
    if (!std::isfinite(value)) return value;
    for (std::uint32_t i = spec.layers; i-- > 0;) {
        HalfCache cache;
        x_NC.second.addcmul_(feed(x_NC.first, spec.context, i, cache), weights.layers[i].second.scale_C, -1);
        feed_backward(d_NC.second, d_NC.first, i, cache, sums);
        x_NC.first.addcmul_(attention(x_NC.second, spec.context, i, cache), weights.layers[i].first.scale_C, -1);
        attention_backward(d_NC.first, d_NC.second, i, cache, sums);
    }
    embed_backward(d_NC, ids_BT, sums);
    return value;
}

double Dalle::Network::backward(const Tensor& ids_BR, double scale, const DalleWeights& sums) const {
    switch (options.checkpointing) {
        case Checkpointing::full: return backward_again(ids_BR, scale, sums);
        case Checkpointing::reversed: return backward_reversed(ids_BR, scale, sums);
        default: return backward_kept(ids_BR, scale, sums);
    }
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
        const CaptionSums sums = net.losses(net.through(ids_BR->narrow(1, 0, net.spec.context)), *ids_BR);
        return Evaluation{.loss_sum = model::dalle_loss_of(sums.text, sums.codes) * net.spec.context, .captions = sums};
    });
}

Result<double> Dalle::add_gradient(const BackwardRequest& request) {
    return guarded([&]() -> Result<double> {
        const at::NoGradGuard nothing_kept;
        const Network& net = *m_network;
        const double context = net.spec.context;
        const Result<Tensor> ids_BR = net.ids_of(request.records);
        if (!ids_BR.ok()) return ids_BR.error();
        return context * add_sums(net.flat, request.gradient, [&](const Tensor& sums) {
                   const DalleWeights views = weights_of(net.spec, tensor_views(net.spec, sums));
                   return net.backward(*ids_BR, request.scale * context, views);
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
        const Tensor row_1C = m_network->through(ids_1T.to(m_network->device)).narrow(0, rows - 1, 1);
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
