// The encoder, top to bottom. Tensor names end in their shape: B examples, T time, N = B T, C width, Q = 3 C, E width
// of the embeddings, F of the MLP, V vocabulary, R gaps of all examples.
//
//   x = LN(word + position + segment) in            the same layer, `layers` times; norms stand after the sums
//   gaps:  LN(gelu(x W)) word^T + bias              order: tanh(x[0] W) W'
//
// The layer's backward pass is written out and adds to the flat gradient, as often as the layer is applied; with full
// checkpointing only each application's input is kept, from which it is run again. What lies around the layers is a
// small part of the work and autograd's: those tensors are leaves of its graph, views of L, and their gradients views
// of the flat gradient, into which it adds in place. So is attention's core, whose graph waits in the layer's cache.
//
// Sources: Lan et al. 2019; modeling_albert.py of huggingface/transformers.
#include "core/training/encoder/encoder.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/check.h"
#include "core/training/compute/operations.h"
#include "core/training/compute/piecewise.h"
#include "core/training/compute/products.h"
#include "core/training/compute/tensor_guard.h"
#include "core/training/compute/tensor_types.h"
#include "core/training/encoder/masking.h"

namespace potluck::training {

namespace {

using at::Tensor;

constexpr double norm_epsilon = 1e-12;

struct Affine {
    Tensor w_OI, bias_O;
};
struct Norm {
    Tensor gain_C, bias_C;
    [[nodiscard]] NormWeights weights() const { return {gain_C, bias_C, norm_epsilon}; }
};
struct Weights {
    Tensor words_VE, positions_TE, segments_2E;
    Norm embedding_norm;
    Affine in;
    Affine qkv, attention_out;
    Norm attention_norm;
    Affine up, down;
    Norm last_norm;
    Affine pooler, order, gap;
    Norm gap_norm;
    Tensor gap_bias_V;
};

/// Views of one flat vector from its beginning on, in the order of model::tensors_of.
class Cursor {
public:
    explicit Cursor(Tensor flat) : m_flat(std::move(flat)) {}
    Tensor take(at::IntArrayRef shape) {
        const std::int64_t size = c10::multiply_integers(shape);
        const Tensor view = m_flat.narrow(0, m_next, size).view(shape);
        m_next += size;
        return view;
    }
    Affine affine(std::int64_t out, std::int64_t in) {
        Tensor w_OI = take({out, in});
        return {std::move(w_OI), take({out})};
    }
    Norm norm(std::int64_t width) {
        Tensor gain_C = take({width});
        return {std::move(gain_C), take({width})};
    }
    [[nodiscard]] std::int64_t taken() const { return m_next; }

private:
    Tensor m_flat;
    std::int64_t m_next = 0;
};

Weights views_of(const model::ModelSpec& spec, const Tensor& flat) {
    const std::int64_t c = spec.width, e = spec.albert.embedding, inner = spec.albert.inner;
    Cursor cursor(flat);
    Weights w;
    w.words_VE = cursor.take({spec.vocabulary, e});
    w.positions_TE = cursor.take({spec.context, e});
    w.segments_2E = cursor.take({model::albert_segments, e});
    w.embedding_norm = cursor.norm(e);
    w.in = cursor.affine(c, e);
    w.qkv = cursor.affine(3 * c, c);
    w.attention_out = cursor.affine(c, c);
    w.attention_norm = cursor.norm(c);
    w.up = cursor.affine(inner, c);
    w.down = cursor.affine(c, inner);
    w.last_norm = cursor.norm(c);
    w.pooler = cursor.affine(c, c);
    w.order = cursor.affine(model::albert_orders, c);
    w.gap = cursor.affine(e, c);
    w.gap_norm = cursor.norm(e);
    w.gap_bias_V = cursor.take({spec.vocabulary});
    POTLUCK_CHECK(cursor.taken() == flat.numel());
    return w;
}

template <class Use>
void each_tensor(Weights& w, const Use& use) {
    for (Affine* map : {&w.in, &w.qkv, &w.attention_out, &w.up, &w.down, &w.pooler, &w.order, &w.gap}) {
        use(map->w_OI);
        use(map->bias_O);
    }
    for (Norm* norm : {&w.embedding_norm, &w.attention_norm, &w.last_norm, &w.gap_norm}) {
        use(norm->gain_C);
        use(norm->bias_C);
    }
    for (Tensor* one : {&w.words_VE, &w.positions_TE, &w.segments_2E, &w.gap_bias_V}) use(*one);
}

/// The gradients beside the tensors, in the same order.
template <class Use>
void each_pair(Weights& a, Weights& b, const Use& use) {
    std::vector<Tensor*> first, second;
    each_tensor(a, [&](Tensor& one) { first.push_back(&one); });
    each_tensor(b, [&](Tensor& one) { second.push_back(&one); });
    for (std::size_t i = 0; i < first.size(); ++i) use(*first[i], *second[i]);
}

Tensor applied(const Affine& map, const Tensor& x) { return at::linear(x, map.w_OI, map.bias_O); }
Tensor normed(const Norm& norm, const Tensor& x) {
    return at::layer_norm(x, {norm.gain_C.size(0)}, norm.gain_C, norm.bias_C, norm_epsilon);
}

Tensor on_device(const std::vector<std::int64_t>& values, at::IntArrayRef shape, at::Device device) {
    Tensor made = at::empty(shape, at::kLong);
    std::copy(values.begin(), values.end(), made.mutable_data_ptr<std::int64_t>());
    return made.to(device);
}

/// What goes into the layers.
struct Inputs {
    Tensor ids_BT, segments_BT;
    Tensor hidden_B11T;  // minus infinity at padding; undefined where there is none
};
struct Questions {
    Tensor places_R, targets_R, weights_R, orders_B;
};
struct Losses {
    Tensor masked, order, right;  // sums over examples
};

/// What the backward pass of one application of the layer needs of its forward pass.
struct EncoderCache {
    Tensor x_NC;
    Tensor qkv_NQ, attended_NC;  // autograd's: a leaf, and what attention makes of it
    NormCache attention_norm, last_norm;
    Tensor middle_NC, up_NF, activated_NF;
};

}  // namespace

struct Encoder::Network {
    model::ModelSpec spec;
    ModelOptions options;
    at::Device device;
    Operations operations;
    Tensor flat;
    Weights weights;

    Network(const model::ModelSpec& model, const ModelOptions& wanted)
        : spec(model),
          options(wanted),
          device(device_of(wanted.device)),
          operations(at::kFloat, device, wanted.kernels) {}

    void bind(const FlatView& local);
    [[nodiscard]] Inputs inputs_of(const MaskedExamples& examples) const;
    [[nodiscard]] Questions questions_of(const MaskedExamples& examples) const;
    [[nodiscard]] Tensor embed(const Inputs& in) const;
    [[nodiscard]] Tensor attended(const Tensor& qkv_NQ, const Inputs& in) const;
    [[nodiscard]] Tensor layer(const Tensor& x_NC, const Inputs& in, EncoderCache& cache) const;
    [[nodiscard]] Tensor layer_backward(const Tensor& d_NC, EncoderCache& cache) const;
    [[nodiscard]] Tensor gap_scores(const Tensor& rows_RC) const;
    [[nodiscard]] Losses losses(const Tensor& x_BTC, const Questions& questions) const;
    [[nodiscard]] Tensor through_layers(Tensor x_BTC, const Inputs& in) const;
    [[nodiscard]] double backward(const MaskedExamples& examples, double scale) const;
    [[nodiscard]] double add_gradient(const MaskedExamples& examples, const FlatView& gradient, double scale);
};

void Encoder::Network::bind(const FlatView& local) {
    const auto kind = at::TensorOptions().dtype(type_of(local.dtype)).device(device_of(local.device));
    weights = {};  // an older copy makes room first
    flat = Tensor();
    flat = at::from_blob(local.data, {static_cast<std::int64_t>(local.size)}, kind).to(device, at::kFloat);
    weights = views_of(spec, flat);
    each_tensor(weights, [](Tensor& one) { one.set_requires_grad(true); });
}

Inputs Encoder::Network::inputs_of(const MaskedExamples& examples) const {
    const auto batch = static_cast<std::int64_t>(examples.lengths.size());
    const std::int64_t time = static_cast<std::int64_t>(examples.ids.size()) / batch;
    Inputs in{on_device(examples.ids, {batch, time}, device), on_device(examples.segments, {batch, time}, device), {}};
    const bool padded = std::ranges::any_of(examples.lengths, [&](std::int64_t length) { return length < time; });
    if (padded) {
        const Tensor lengths_B1 = on_device(examples.lengths, {batch, 1}, device);
        const Tensor padding_BT = at::arange(time, lengths_B1.options()).unsqueeze(0) >= lengths_B1;
        in.hidden_B11T = at::zeros({batch, time}, flat.options())
                             .masked_fill_(padding_BT, -std::numeric_limits<float>::infinity())
                             .view({batch, 1, 1, time});
    }
    return in;
}

Questions Encoder::Network::questions_of(const MaskedExamples& examples) const {
    const auto rows = static_cast<std::int64_t>(examples.places.size());
    const Tensor weights_R = at::empty({rows}, at::kFloat);
    std::copy(examples.weights.begin(), examples.weights.end(), weights_R.mutable_data_ptr<float>());
    return {on_device(examples.places, {rows}, device), on_device(examples.targets, {rows}, device),
            weights_R.to(device),
            on_device(examples.orders, {static_cast<std::int64_t>(examples.orders.size())}, device)};
}

Tensor Encoder::Network::embed(const Inputs& in) const {
    const Tensor words_BTE = at::embedding(weights.words_VE, in.ids_BT, spec.albert.pad);
    const Tensor segments_BTE = at::embedding(weights.segments_2E, in.segments_BT);
    const Tensor sum_BTE = words_BTE + segments_BTE + weights.positions_TE.narrow(0, 0, in.ids_BT.size(1));
    return applied(weights.in, normed(weights.embedding_norm, sum_BTE));
}

Tensor Encoder::Network::attended(const Tensor& qkv_NQ, const Inputs& in) const {
    const std::int64_t batch = in.ids_BT.size(0), time = in.ids_BT.size(1), heads = spec.heads;
    const Tensor qkv_3BHTD = qkv_NQ.view({batch, time, 3, heads, spec.width / heads}).permute({2, 0, 3, 1, 4});
    const std::optional<Tensor> hidden =
        in.hidden_B11T.defined() ? std::optional(in.hidden_B11T.expand({batch, heads, time, time})) : std::nullopt;
    return at::scaled_dot_product_attention(qkv_3BHTD[0], qkv_3BHTD[1], qkv_3BHTD[2], hidden, 0.0, false)
        .transpose(1, 2)
        .reshape({batch * time, spec.width});
}

Tensor Encoder::Network::layer(const Tensor& x_NC, const Inputs& in, EncoderCache& cache) const {
    cache.x_NC = x_NC;
    cache.qkv_NQ = product(x_NC, weights.qkv.w_OI.t(), weights.qkv.bias_O).set_requires_grad(true);
    {
        const at::AutoGradMode recorded(true);
        cache.attended_NC = attended(cache.qkv_NQ, in);
    }
    const Tensor out_NC =
        product(at::detach(cache.attended_NC), weights.attention_out.w_OI.t(), weights.attention_out.bias_O);
    cache.middle_NC = operations.norm(operations.add(x_NC, out_NC, {}), weights.attention_norm.weights(), at::kFloat,
                                      cache.attention_norm);
    cache.up_NF = product(cache.middle_NC, weights.up.w_OI.t(), weights.up.bias_O);
    cache.activated_NF = operations.activation(model::Activation::gelu_tanh, cache.up_NF);
    const Tensor down_NC = product(cache.activated_NF, weights.down.w_OI.t(), weights.down.bias_O);
    return operations.norm(operations.add(cache.middle_NC, down_NC, {}), weights.last_norm.weights(), at::kFloat,
                           cache.last_norm);
}

/// Gradient of the layer's input, from that of its output. Uses the cache up.
Tensor Encoder::Network::layer_backward(const Tensor& d_NC, EncoderCache& cache) const {
    const auto norm_backward = [&](const Tensor& dy_NC, const NormCache& kept, const Norm& norm) {
        Tensor dsum_NC = at::zeros_like(dy_NC);
        operations.norm_backward(dy_NC, kept, norm.weights(), {dsum_NC, norm.gain_C.grad(), norm.bias_C.grad()});
        return dsum_NC;
    };
    const auto add_product = [&](const Affine& map, const Tensor& dy, const Tensor& x) {
        operations.add_product(map.w_OI.grad(), dy, x);
    };
    const Tensor ddown_NC = norm_backward(d_NC, cache.last_norm, weights.last_norm);
    operations.add_column_sums(ddown_NC, weights.down.bias_O.grad());
    add_product(weights.down, ddown_NC, cache.activated_NF);
    cache.last_norm = {};
    cache.activated_NF = Tensor();
    const Tensor dup_NF = operations.activation_backward(
        model::Activation::gelu_tanh, cache.up_NF, product(ddown_NC, weights.down.w_OI), weights.up.bias_O.grad());
    add_product(weights.up, dup_NF, cache.middle_NC);
    cache.up_NF = cache.middle_NC = Tensor();
    const Tensor dmiddle_NC = operations.add(ddown_NC, product(dup_NF, weights.up.w_OI), {});
    const Tensor dout_NC = norm_backward(dmiddle_NC, cache.attention_norm, weights.attention_norm);
    operations.add_column_sums(dout_NC, weights.attention_out.bias_O.grad());
    add_product(weights.attention_out, dout_NC, at::detach(cache.attended_NC));
    torch::autograd::backward({cache.attended_NC}, {product(dout_NC, weights.attention_out.w_OI)});
    const Tensor dqkv_NQ = cache.qkv_NQ.grad();
    operations.add_column_sums(dqkv_NQ, weights.qkv.bias_O.grad());
    add_product(weights.qkv, dqkv_NQ, cache.x_NC);
    cache = {};
    return operations.add(dout_NC, product(dqkv_NQ, weights.qkv.w_OI), {});
}

Tensor Encoder::Network::gap_scores(const Tensor& rows_RC) const {
    const Tensor h_RE = normed(weights.gap_norm, at::gelu(applied(weights.gap, rows_RC), "tanh"));
    return at::linear(h_RE, weights.words_VE, weights.gap_bias_V);
}

Losses Encoder::Network::losses(const Tensor& x_BTC, const Questions& questions) const {
    const Tensor rows_RC = x_BTC.reshape({-1, spec.width}).index_select(0, questions.places_R);
    const Tensor each_R = at::cross_entropy_loss(gap_scores(rows_RC), questions.targets_R, {}, at::Reduction::None);
    const Tensor orders_B2 = applied(weights.order, at::tanh(applied(weights.pooler, x_BTC.select(1, 0))));
    return {(each_R * questions.weights_R).sum(),
            at::cross_entropy_loss(orders_B2, questions.orders_B, {}, at::Reduction::Sum),
            (orders_B2.argmax(1) == questions.orders_B).sum()};
}

Tensor Encoder::Network::through_layers(Tensor x_BTC, const Inputs& in) const {
    Tensor x_NC = x_BTC.flatten(0, 1);
    for (std::uint32_t i = 0; i < spec.layers; ++i) {
        EncoderCache cache;
        x_NC = layer(x_NC, in, cache);
    }
    return x_NC.view_as(x_BTC);
}

/// Adds to the tensors' gradients.
double Encoder::Network::backward(const MaskedExamples& examples, double scale) const {
    const bool again = options.checkpointing == Checkpointing::full;
    const Inputs in = inputs_of(examples);
    const Tensor first_BTC = embed(in);
    Tensor d_NC;
    std::vector<EncoderCache> caches(spec.layers);
    double value = 0;
    {
        Tensor x_NC = at::detach(first_BTC).flatten(0, 1);
        {
            const at::NoGradGuard written_out;
            for (EncoderCache& cache : caches) {
                const Tensor in_NC = x_NC;
                x_NC = layer(in_NC, in, cache);
                if (again) (cache = {}).x_NC = in_NC;
            }
        }
        const Tensor last_NC = x_NC.set_requires_grad(true);
        const Losses found = losses(last_NC.view(first_BTC.sizes()), questions_of(examples));
        const Tensor loss = found.masked + found.order;
        value = loss.item<double>();
        if (!std::isfinite(value)) return value;
        (loss * scale).backward();
        d_NC = last_NC.grad();
    }
    {
        const at::NoGradGuard written_out;
        while (!caches.empty()) {
            EncoderCache& cache = caches.back();
            if (again) (void)layer(Tensor(cache.x_NC), in, cache);
            d_NC = layer_backward(d_NC, cache);
            caches.pop_back();
        }
    }
    torch::autograd::backward({first_BTC}, {d_NC.view(first_BTC.sizes())});
    return value;
}

double Encoder::Network::add_gradient(const MaskedExamples& examples, const FlatView& gradient, double scale) {
    const auto kind = at::TensorOptions().dtype(type_of(gradient.dtype)).device(device_of(gradient.device));
    const Tensor target = at::from_blob(gradient.data, {static_cast<std::int64_t>(gradient.size)}, kind);
    const bool in_place = gradient.dtype == Dtype::fp32 && target.device() == device;
    const Tensor sums = in_place ? target : at::zeros_like(flat);
    Weights gradients = views_of(spec, sums);
    each_pair(weights, gradients, [](Tensor& one, Tensor& sum) { one.mutable_grad() = sum; });
    const double loss = backward(examples, scale);
    each_tensor(weights, [](Tensor& one) { one.mutable_grad() = Tensor(); });
    if (!in_place && std::isfinite(loss)) add_in_pieces(target, sums);
    return loss;
}

Encoder::Encoder(const model::ModelSpec& spec, const ModelOptions& options)
    : m_network(std::make_unique<Network>(spec, options)) {}
Encoder::~Encoder() = default;

Status Encoder::use_parameters(const FlatView& local) {
    return guarded([&]() -> Status {
        m_network->bind(local);
        return {};
    });
}

Result<Model::PairSums> Encoder::pair_sums(std::span<const model::Token> records, std::uint64_t seed,
                                           std::uint64_t first) {
    const Result<MaskedExamples> examples = mask_records(m_network->spec, records, seed, first);
    if (!examples.ok()) return examples.error();
    return guarded([&]() -> Result<PairSums> {
        const at::NoGradGuard nothing_kept;
        const Inputs in = m_network->inputs_of(*examples);
        const Tensor x_BTC = m_network->through_layers(m_network->embed(in), in);
        const Losses found = m_network->losses(x_BTC, m_network->questions_of(*examples));
        return PairSums{found.masked.item<double>(), found.order.item<double>(),
                        static_cast<std::uint64_t>(found.right.item<std::int64_t>())};
    });
}

Result<Model::Evaluation> Encoder::evaluate(std::span<const model::Token> records, std::uint64_t first) {
    const Result<PairSums> found = pair_sums(records, 0, first);
    if (!found.ok()) return found.error();
    return Evaluation{(found->gaps + found->order) * m_network->spec.context, *found};
}

Result<double> Encoder::add_gradient(const BackwardRequest& request) {
    const double context = m_network->spec.context;
    const Result<MaskedExamples> examples =
        mask_records(m_network->spec, request.records, request.record_seed, request.first);
    if (!examples.ok()) return examples.error();
    return guarded([&]() -> Result<double> {
        return context * m_network->add_gradient(*examples, request.gradient, request.scale * context);
    });
}

Result<std::vector<float>> Encoder::next_logits(std::span<const std::uint32_t> tokens) {
    const model::AlbertShape& shape = m_network->spec.albert;
    MaskedExamples example;
    example.ids.assign(tokens.begin(), tokens.end());
    const auto middle = std::ranges::find(tokens, shape.sep);
    example.segments.assign(tokens.size(), 1);
    std::fill_n(example.segments.begin(), std::min<std::ptrdiff_t>(middle - tokens.begin() + 1, std::ssize(tokens)), 0);
    example.lengths = {static_cast<std::int64_t>(tokens.size())};
    const auto gap = std::ranges::find(tokens, shape.mask);
    if (gap == tokens.end()) return Error{ErrorCode::invalid_argument, "There is no gap to fill in the text."};
    return guarded([&]() -> Result<std::vector<float>> {
        const at::NoGradGuard nothing_kept;
        const Inputs in = m_network->inputs_of(example);
        const Tensor x_BTC = m_network->through_layers(m_network->embed(in), in);
        const Tensor scores_1V =
            m_network->gap_scores(x_BTC.select(0, 0).narrow(0, gap - tokens.begin(), 1)).to(at::kCPU).contiguous();
        const float* values = scores_1V.const_data_ptr<float>();
        return std::vector<float>(values, values + scores_1V.numel());
    });
}

}  // namespace potluck::training
