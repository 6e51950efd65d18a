// The decoder, top to bottom. Tensor names end in their shape: B sequences, T time, N = B*T rows, C width, E width of
// the token embedding (C but for OPT-350M), V vocabulary. A residual stream x_NC passes through the layers:
//
//   x = tokens[id] (in) + positions     per layer: layer.h     logits = (out) norm_f(x) head^T: head.h
//
// The head is the token embedding unless the two are untied; Llama-shaped models have no positions here. Weights come
// from a ParameterStore and gradients go to a GradientStore, block by block.
#include "core/training/decoder/decoder.h"

#include <cmath>

#include "core/base/check.h"
#include "core/training/compute/operations.h"
#include "core/training/compute/products.h"
#include "core/training/compute/tensor_guard.h"
#include "core/training/compute/tensor_types.h"
#include "core/training/decoder/gradient_store.h"
#include "core/training/decoder/head.h"
#include "core/training/decoder/layer.h"
#include "core/training/decoder/parameter_store.h"

namespace potluck::training {

namespace {

using at::Tensor;

struct Targets {
    Tensor ids_N, targets_N;  // where the table of tokens lies, and where the model computes
    PassShape pass;
};

}  // namespace

struct Decoder::Network {
    model::ModelSpec spec;
    DecoderOptions options;
    Operations operations;
    LayerShape layer_shape;
    ParameterStore parameters;
    GradientStore gradients;

    Network(const model::ModelSpec& model, const DecoderOptions& wanted)
        : spec(model),
          options(wanted),
          operations(type_of(wanted.matmul), device_of(wanted.device), wanted.kernels),
          layer_shape(training::layer_shape(model, operations)),
          parameters(model, operations, wanted.weights_flow),
          gradients(model, operations) {}

    [[nodiscard]] Targets targets_of(std::span<const model::Token> records) const;
    [[nodiscard]] Drop embedding_drop(const PassShape& pass) const;
    [[nodiscard]] Tensor embed(const Targets& in);
    void embed_backward(const Tensor& dx_NC, const Targets& in);
    [[nodiscard]] Tensor through_layers(const Targets& in, std::vector<LayerCache>* caches);
    [[nodiscard]] Tensor back_through_layers(const Targets& in, Tensor d_NC, std::vector<LayerCache>& caches);
    [[nodiscard]] NormWeights final_norm_weights() const {
        const FinalNormWeights& w = parameters.final_norm();
        return {w.gain_C, w.bias_C, layer_shape.norm_epsilon};
    }
    [[nodiscard]] Tensor final_norm(const Tensor& x_NC, NormCache& cache) const;
    [[nodiscard]] Tensor final_norm_backward(const Tensor& dnormed_NC, const NormCache& cache);
    [[nodiscard]] Head head(const EmbeddingWeights& weights);

    [[nodiscard]] double loss(std::span<const model::Token> records);
    [[nodiscard]] double add_gradient(const Model::BackwardRequest& request);
    [[nodiscard]] std::vector<float> scores(std::span<const std::uint32_t> tokens, std::int64_t rows_wanted);
};

Targets Decoder::Network::targets_of(std::span<const model::Token> records) const {
    const std::int64_t time = spec.context;
    const std::int64_t batch = static_cast<std::int64_t>(records.size()) / (time + 1);
    POTLUCK_CHECK(batch > 0 && batch * (time + 1) == static_cast<std::int64_t>(records.size()));
    const Tensor all_BS = at::empty({batch, time + 1}, at::kLong);
    std::int64_t* ids = all_BS.data_ptr<std::int64_t>();
    for (std::size_t i = 0; i < records.size(); ++i) ids[i] = records[i];
    const Tensor ids_BT = all_BS.narrow(1, 0, time).contiguous(), targets_BT = all_BS.narrow(1, 1, time).contiguous();
    return {ids_BT.view(-1).to(parameters.home()), targets_BT.view(-1).to(operations.device()), {batch, time}};
}

/// gpt2 drops from the embedding, too; the others only from what is added to the stream.
Drop Decoder::Network::embedding_drop(const PassShape& pass) const {
    Drop drop = drop_of(pass, spec.layers, DropUse::embedding);
    if (spec.family != model::Family::gpt2) drop.rate = 0;
    return drop;
}

Tensor Decoder::Network::embed(const Targets& in) {
    Tensor x_NC = parameters.token_rows(in.ids_N);
    if (spec.embedding != 0) {
        x_NC = product(x_NC.to(operations.type()), parameters.head().in_EC).to(at::kFloat);
    }
    if (parameters.has_positions()) {
        x_NC.view({in.pass.batch, in.pass.time, spec.width}).add_(parameters.position_rows(in.pass.time));
    }
    return operations.dropped(x_NC, embedding_drop(in.pass));
}

void Decoder::Network::embed_backward(const Tensor& dx_NC, const Targets& in) {
    const Tensor d_NC = operations.dropped(dx_NC, embedding_drop(in.pass));
    if (parameters.has_positions()) {
        gradients.add_position_rows(d_NC.view({in.pass.batch, in.pass.time, spec.width}).sum(0));
    }
    if (spec.embedding == 0) return gradients.add_token_rows(in.ids_N, d_NC);
    const Tensor dt_NC = d_NC.to(operations.type());
    gradients.add_input_product(parameters.token_rows(in.ids_N).to(operations.type()), dt_NC);
    gradients.add_token_rows(in.ids_N, product(dt_NC, parameters.head().in_EC.t()).to(at::kFloat));
}

/// The stream behind the last layer. Without caches nothing is kept.
Tensor Decoder::Network::through_layers(const Targets& in, std::vector<LayerCache>* caches) {
    Tensor x_NC = embed(in);
    for (std::size_t i = 0; i < spec.layers; ++i) {
        const std::optional<std::size_t> next = i + 1 < spec.layers ? std::optional(i + 1) : std::nullopt;
        const DecoderLayer layer(layer_shape, operations, options.attention, in.pass, i);
        LayerCache cache;
        x_NC = layer.forward(parameters.layer(i, next), x_NC, cache);
        if (caches == nullptr) continue;
        DecoderLayer::trim(cache, options.checkpointing);
        caches->push_back(std::move(cache));
    }
    return x_NC;
}

Tensor Decoder::Network::back_through_layers(const Targets& in, Tensor d_NC, std::vector<LayerCache>& caches) {
    for (std::size_t i = spec.layers; i-- > 0;) {
        const std::optional<std::size_t> next = i > 0 ? std::optional(i - 1) : std::nullopt;
        const DecoderLayer layer(layer_shape, operations, options.attention, in.pass, i);
        const LayerWeights& weights = parameters.layer(i, next);
        layer.restore(weights, caches[i], options.checkpointing);
        d_NC = layer.backward(weights, gradients.layer(i), d_NC, caches[i]);
        gradients.finish_layer(i);
        caches.pop_back();
    }
    return d_NC;
}

Tensor Decoder::Network::final_norm(const Tensor& x_NC, NormCache& cache) const {
    const NormWeights w = final_norm_weights();
    if (!w.gain_C.defined()) return x_NC.to(operations.type());
    return operations.norm(x_NC, w, operations.type(), cache);
}

Tensor Decoder::Network::final_norm_backward(const Tensor& dnormed_NC, const NormCache& cache) {
    if (!cache.x_NC.defined()) return dnormed_NC.to(at::kFloat);
    const FinalNormWeights sums = gradients.final_norm();
    const Tensor d_NC = at::zeros_like(cache.x_NC);
    operations.norm_backward(dnormed_NC, cache, final_norm_weights(), {d_NC, sums.gain_C, sums.bias_C});
    gradients.finish_final_norm();
    return d_NC;
}

Head Decoder::Network::head(const EmbeddingWeights& weights) {
    return {operations, weights.head_VE, parameters.head_magnitude()};
}

double Decoder::Network::loss(std::span<const model::Token> records) {
    const Targets in = targets_of(records);
    NormCache cache;
    Tensor h_NE = final_norm(through_layers(in, nullptr), cache);
    cache = {};
    const EmbeddingWeights weights = parameters.head();
    if (weights.out_CE.defined()) h_NE = product(h_NE, weights.out_CE);
    return head(weights).loss(h_NE, in.targets_N);
}

double Decoder::Network::add_gradient(const BackwardRequest& request) {
    Targets in = targets_of(request.records);
    in.pass.dropout = static_cast<double>(spec.dropout);
    in.pass.seed = request.dropout_seed;
    std::vector<LayerCache> caches;
    NormCache norm_cache;
    Tensor normed_NC = final_norm(through_layers(in, &caches), norm_cache);

    gradients.begin(request.gradient);
    Tensor dnormed_NC, loss;
    {
        const EmbeddingWeights weights = parameters.head();
        const EmbeddingWeights sums = gradients.head();
        const bool transposed = weights.out_CE.defined();
        const Tensor h_NE = transposed ? product(normed_NC, weights.out_CE) : normed_NC;
        const Head::Gradient found = head(weights).gradient(h_NE, in.targets_N, sums.head_VE, request.scale);
        if (!found.dh_NE.defined()) return found.loss.item<double>();
        if (transposed) operations.add_product(sums.out_CE, normed_NC, found.dh_NE);
        dnormed_NC = transposed ? product(found.dh_NE, weights.out_CE.t()) : found.dh_NE;
        gradients.finish_head();
        normed_NC = Tensor();
        loss = found.loss;
    }
    Tensor d_NC = final_norm_backward(dnormed_NC, norm_cache);
    dnormed_NC = Tensor();
    norm_cache = {};
    d_NC = back_through_layers(in, d_NC, caches);
    embed_backward(d_NC, in);
    gradients.finish();
    return loss.item<double>();
}

/// Scores of the last `rows_wanted` positions of one sequence: (rows, V).
std::vector<float> Decoder::Network::scores(std::span<const std::uint32_t> tokens, std::int64_t rows_wanted) {
    const std::int64_t time = static_cast<std::int64_t>(tokens.size());
    const Tensor ids_N = at::empty({time}, at::kLong);
    for (std::size_t i = 0; i < tokens.size(); ++i) ids_N.data_ptr<std::int64_t>()[i] = tokens[i];
    const Tensor x_NC = through_layers({ids_N, {}, {1, time}}, nullptr);
    NormCache cache;
    Tensor h_RE = final_norm(x_NC.narrow(0, time - rows_wanted, rows_wanted), cache);
    const EmbeddingWeights weights = parameters.head();
    if (weights.out_CE.defined()) h_RE = product(h_RE, weights.out_CE);
    const Tensor scores_RV = product(h_RE, weights.head_VE.t()).to(at::kCPU, at::kFloat).contiguous();
    const float* values = scores_RV.const_data_ptr<float>();
    return {values, values + scores_RV.numel()};
}

Decoder::Decoder(const model::ModelSpec& spec, const DecoderOptions& options)
    : m_network(std::make_unique<Network>(spec, options)) {}
Decoder::~Decoder() = default;

Status Decoder::use_parameters(const FlatView& local) {
    return guarded([&]() -> Status {
        const c10::InferenceMode inference;
        m_network->parameters.bind(local);
        return {};
    });
}

Result<double> Decoder::loss_sum(std::span<const model::Token> records) {
    return guarded([&]() -> Result<double> {
        const c10::InferenceMode inference;
        return m_network->loss(records);
    });
}

Result<Model::Evaluation> Decoder::evaluate(std::span<const model::Token> records, std::uint64_t) {
    const Result<double> sum = loss_sum(records);
    if (!sum.ok()) return sum.error();
    return Evaluation{*sum};
}

Result<double> Decoder::add_gradient(const BackwardRequest& request) {
    return guarded([&]() -> Result<double> {
        const c10::InferenceMode inference;
        return m_network->add_gradient(request);
    });
}

Result<std::vector<float>> Decoder::logits(std::span<const std::uint32_t> tokens) {
    return guarded([&]() -> Result<std::vector<float>> {
        const c10::InferenceMode inference;
        return m_network->scores(tokens, static_cast<std::int64_t>(tokens.size()));
    });
}

Result<std::vector<float>> Decoder::next_logits(std::span<const std::uint32_t> tokens) {
    return guarded([&]() -> Result<std::vector<float>> {
        const c10::InferenceMode inference;
        return m_network->scores(tokens, 1);
    });
}

}  // namespace potluck::training
