// SwAV, top to bottom. Tensor names end in their shape: B pictures, V crops of each, R = V B of them crop by crop, S
// side of a crop, F features, E embedding, K prototypes, Q the queue.
//
//   crops --residual network, mean over places--> F --map, norm, relu, map, unit length--> z_RE
//   scores_RK = z_RE (C / |C|)^T
//   q_i = balanced assignments of the queue's and crop i's scores, for each large crop i; no gradient
//   loss = mean over i and over the other crops v of  - sum_k q_i log softmax(scores_v / temperature)
//
// Large and small crops pass the network one after the other, since their sides differ, and have norms' statistics of
// their own; the head sees all of them at once. Prototypes are brought to unit length within the pass, with its
// gradient: what is shared is any vector, and nothing changes it but the optimizer.
//
// The network is a list of parts, the stem and the blocks. With full checkpointing the forward pass keeps only what
// each part takes in, and the backward pass runs part by part again: first of the small crops, while what is kept of
// the large ones is whole, then of the large ones. A part computes the same twice, norms' statistics included.
//
// The passes take their weights from the list of tensors in its order (core/model/swav.cpp), so a cursor is all that
// they need to know of it. In 16 bits each application of a weight casts it for itself, so that the gradients of both
// sizes are summed in fp32. Source: facebookresearch/swav, main_swav.py and resnet50.py.
#include "core/training/picture/swav.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/training/compute/tensor_guard.h"
#include "core/training/picture/crops.h"
#include "core/training/picture/flat_views.h"
#include "core/training/picture/neighbours.h"
#include "core/training/picture/sinkhorn.h"

namespace potluck::training {

namespace {

using at::Tensor;

constexpr double batch_norm_epsilon = 1e-5, length_epsilon = 1e-12;
/// Held-out records are drawn for by this, so that their loss can be computed again.
constexpr std::uint64_t evaluation_seed = 0;

/// Where norms take their statistics from: what passes, or what was computed before; and whether they are noted.
struct Norms {
    bool noted = false, fixed = false;
    std::vector<std::pair<Tensor, Tensor>> statistics = {};  // means and unbiased variances, in the order of the passes
};

/// Layers in the order of the passes.
class Layers {
public:
    Layers(const std::vector<Tensor>& tensors, Norms& norms) : m_tensors(tensors), m_norms(norms) {}
    Tensor convolved(const Tensor& x, std::int64_t stride, std::int64_t padding) {
        return at::conv2d(x, take().to(x.scalar_type()), {}, stride, padding);
    }
    Tensor mapped(const Tensor& x_RF) {
        const Tensor& w = take();
        return at::linear(x_RF, w, take());
    }
    Tensor normed(const Tensor& x) {
        const Tensor& gain = take();
        const Tensor& bias = take();
        if (m_norms.fixed) {
            const auto& [mean, variance] = m_norms.statistics.at(m_norm++);
            return at::batch_norm(x, gain, bias, mean, variance, false, 0, batch_norm_epsilon, false);
        }
        if (m_norms.noted) {
            std::vector<std::int64_t> places = {0};
            for (std::int64_t axis = 2; axis < x.dim(); ++axis) places.push_back(axis);
            const Tensor exact = x.to(at::kFloat);
            m_norms.statistics.emplace_back(exact.mean(places), exact.var(places, true));
        }
        return at::batch_norm(x, gain, bias, {}, {}, true, 0, batch_norm_epsilon, false);
    }
    const Tensor& take() { return m_tensors.at(m_next++); }
    void go_to(std::size_t tensor) { m_next = tensor; }
    [[nodiscard]] bool all_taken() const { return m_next == m_tensors.size(); }

private:
    const std::vector<Tensor>& m_tensors;
    Norms& m_norms;
    std::size_t m_next = 0, m_norm = 0;
};

/// A part of the residual network: the stem, or a block of a stage.
struct Part {
    std::size_t first = 0;  // of its tensors
    bool stem = false;
    std::int64_t stride = 1;
    bool reshaped = false;  // its sum's other side passes a convolution, too
};

/// In the order of the passes. `end`: the tensor behind the last one's.
std::vector<Part> parts_of(const model::ModelSpec& spec, std::size_t& end) {
    constexpr std::size_t unit = 3;  // a convolution, its norm's gain and bias
    const model::SwavShape& shape = spec.swav;
    const std::size_t inner = shape.block == model::SwavBlock::bottleneck ? 3 : 2;
    std::vector<Part> parts = {{.first = 0, .stem = true}};
    end = unit;
    std::int64_t width = spec.width;
    for (std::uint32_t stage = 0; stage < model::swav_stages; ++stage) {
        const std::int64_t out = std::int64_t{spec.width << stage} * model::swav_expansion(shape.block);
        for (std::uint32_t i = 0; i < shape.stages[stage]; ++i) {
            const std::int64_t stride = model::swav_stride(stage, i);
            const bool reshaped = stride == 2 || width != out;
            parts.push_back({.first = end, .stride = stride, .reshaped = reshaped});
            end += unit * (inner + (reshaped ? 1 : 0));
            width = out;
        }
    }
    return parts;
}

/// What the forward pass of crops of one size leaves for one that runs again.
struct Trail {
    std::vector<Tensor> inputs;  // of each part
    Tensor features_RF;          // a leaf, whose gradient is the head's
};

Tensor features_of(const Tensor& x_RCSS) { return x_RCSS.mean({2, 3}, false, at::kFloat); }

/// The features of all trails, crop by crop.
Tensor joined(const std::vector<Trail>& trails) {
    std::vector<Tensor> features;
    for (const Trail& trail : trails) features.push_back(trail.features_RF);
    return at::cat(features);
}

Tensor of_unit_length(const Tensor& rows) { return rows / rows.norm(2, {1}, true).clamp_min(length_epsilon); }

std::vector<float> floats_of(const Tensor& tensor) {
    const Tensor here = at::detach(tensor).to(at::kCPU).contiguous();
    const float* values = here.const_data_ptr<float>();
    return {values, values + here.numel()};
}

/// (count, count), row by row.
std::vector<float> cosines_of(std::vector<float>& rows, std::size_t count) {
    const auto width = static_cast<std::int64_t>(rows.size() / count);
    const Tensor rows_BF =
        of_unit_length(at::from_blob(rows.data(), {static_cast<std::int64_t>(count), width}, at::kFloat));
    return floats_of(at::mm(rows_BF, rows_BF.t()));
}

/// The last embeddings of one large crop, from which older ones fall out.
struct Queue {
    Tensor z_QE;
    std::int64_t next = 0, filled = 0;

    void push(const Tensor& z_BE) {
        const std::int64_t size = z_QE.size(0);
        for (std::int64_t i = 0; i < z_BE.size(0); ++i, next = (next + 1) % size) z_QE[next].copy_(z_BE[i]);
        filled = std::min(size, filled + z_BE.size(0));
    }
    [[nodiscard]] bool is_full() const { return z_QE.defined() && filled == z_QE.size(0); }
};

}  // namespace

struct Swav::Network {
    model::ModelSpec spec;
    at::Device device;
    at::ScalarType products;
    bool runs_again;
    std::size_t head = 0;  // its first tensor
    std::vector<Part> parts;
    Tensor flat;
    std::vector<Tensor> leaves;
    std::array<Queue, model::swav_large_crops> queues;

    Network(const model::ModelSpec& model, const ModelOptions& wanted)
        : spec(model),
          device(device_of(wanted.device)),
          products(type_of(wanted.matmul)),
          runs_again(wanted.checkpointing == Checkpointing::full),
          parts(parts_of(model, head)) {}
    void bind(const FlatView& local);
    [[nodiscard]] Status check(std::span<const model::Token> records) const;
    [[nodiscard]] Tensor tensor_of(std::vector<float>& crops, std::uint32_t side) const;
    [[nodiscard]] Tensor stem(Layers& layers, const Tensor& crops_R3SS) const;
    [[nodiscard]] Tensor block(Layers& layers, const Part& part, const Tensor& x_RCSS) const;
    /// Goes to the part's tensors first.
    [[nodiscard]] Tensor passed(Layers& layers, const Part& part, const Tensor& x_RCSS) const;
    [[nodiscard]] Tensor trunk(Norms& norms, const Tensor& crops_R3SS) const;
    /// The same without a graph, keeping what each part takes in.
    [[nodiscard]] Trail followed(const Tensor& crops_R3SS) const;
    /// Adds the gradient of what `followed` computed, from that of its features, and uses the trail up.
    void go_back(Trail& trail) const;
    /// Embeddings of unit length and their scores.
    [[nodiscard]] std::pair<Tensor, Tensor> scored(const Tensor& features_RF, bool frozen) const;
    [[nodiscard]] Tensor features(Crops& crops) const;
    /// One for the large crops, then one for the small ones if there are any.
    [[nodiscard]] std::vector<Trail> trails_of(Crops& crops) const;
    [[nodiscard]] Tensor assigned(std::size_t crop, const Tensor& scores_RK, std::int64_t pictures, bool queued) const;
    [[nodiscard]] Tensor loss_of(const Tensor& scores_RK, std::int64_t pictures, bool queued) const;
    void remember(const Tensor& z_RE, std::int64_t pictures);
    [[nodiscard]] std::int64_t count(std::span<const model::Token> records) const {
        return static_cast<std::int64_t>(records.size() / (std::size_t{spec.context} + 1));
    }
};

void Swav::Network::bind(const FlatView& local) { take_leaves(spec, local, device, flat, leaves); }

/// `malformed` if a record is not of the form in the header.
Status Swav::Network::check(std::span<const model::Token> records) const {
    const std::size_t size = std::size_t{spec.context} + 1;
    POTLUCK_CHECK(!records.empty() && records.size() % size == 0);
    const bool fine = std::ranges::all_of(records, [](model::Token value) { return value < model::coder_values; });
    if (fine) return {};
    return Error{ErrorCode::malformed, "A record is no picture: its values or its class go beyond 255."};
}

Tensor Swav::Network::tensor_of(std::vector<float>& crops, std::uint32_t side) const {
    const auto count = static_cast<std::int64_t>(crops.size() / (std::size_t{3} * side * side));
    // Convolutions of a processor are a quarter faster where the channels of a pixel lie side by side.
    return at::from_blob(crops.data(), {count, 3, side, side}, at::kFloat)
        .to(device, products, false, false, at::MemoryFormat::ChannelsLast);
}

Tensor Swav::Network::stem(Layers& layers, const Tensor& crops_R3SS) const {
    const bool large = spec.swav.stem == model::SwavStem::large;
    Tensor x_RCSS = layers.normed(layers.convolved(crops_R3SS, large ? 2 : 1, large ? 3 : 1)).relu_();
    return large ? at::max_pool2d(x_RCSS, 3, 2, 1) : x_RCSS;
}

Tensor Swav::Network::block(Layers& layers, const Part& part, const Tensor& x_RCSS) const {
    Tensor inner_RCSS;
    if (spec.swav.block == model::SwavBlock::bottleneck) {
        inner_RCSS = layers.normed(layers.convolved(x_RCSS, 1, 0)).relu_();
        inner_RCSS = layers.normed(layers.convolved(inner_RCSS, part.stride, 1)).relu_();
        inner_RCSS = layers.normed(layers.convolved(inner_RCSS, 1, 0));
    } else {
        inner_RCSS = layers.normed(layers.convolved(x_RCSS, part.stride, 1)).relu_();
        inner_RCSS = layers.normed(layers.convolved(inner_RCSS, 1, 1));
    }
    // No backward pass reads what a norm put out or the sum, so both are changed in place.
    return inner_RCSS.add_(part.reshaped ? layers.normed(layers.convolved(x_RCSS, part.stride, 0)) : x_RCSS).relu_();
}

Tensor Swav::Network::passed(Layers& layers, const Part& part, const Tensor& x_RCSS) const {
    layers.go_to(part.first);
    return part.stem ? stem(layers, x_RCSS) : block(layers, part, x_RCSS);
}

Tensor Swav::Network::trunk(Norms& norms, const Tensor& crops_R3SS) const {
    Layers layers(leaves, norms);
    Tensor x_RCSS = crops_R3SS;
    for (const Part& part : parts) x_RCSS = passed(layers, part, x_RCSS);
    return features_of(x_RCSS);
}

Trail Swav::Network::followed(const Tensor& crops_R3SS) const {
    const at::NoGradGuard nothing_kept;
    Norms norms;
    Layers layers(leaves, norms);
    Trail trail;
    Tensor x_RCSS = crops_R3SS;
    for (const Part& part : parts) {
        trail.inputs.push_back(x_RCSS);
        x_RCSS = passed(layers, part, x_RCSS);
    }
    trail.features_RF = features_of(x_RCSS).set_requires_grad(true);
    return trail;
}

void Swav::Network::go_back(Trail& trail) const {
    Norms norms;
    Layers layers(leaves, norms);
    Tensor gradient = trail.features_RF.grad();
    trail.features_RF = Tensor();
    for (std::size_t i = parts.size(); i-- > 0;) {
        const Tensor x_RCSS = at::detach(trail.inputs.back()).set_requires_grad(i > 0);
        trail.inputs.pop_back();
        const Tensor out_RCSS = passed(layers, parts[i], x_RCSS);
        torch::autograd::backward({i + 1 == parts.size() ? features_of(out_RCSS) : out_RCSS}, {gradient});
        gradient = x_RCSS.grad();
    }
}

Tensor Swav::Network::features(Crops& crops) const {
    Norms norms;
    const Tensor large_RF = trunk(norms, tensor_of(crops.large, spec.swav.large_side));
    if (crops.small.empty()) return large_RF;
    return at::cat({large_RF, trunk(norms, tensor_of(crops.small, spec.swav.small_side))});
}

std::vector<Trail> Swav::Network::trails_of(Crops& crops) const {
    std::vector<Trail> trails;
    trails.push_back(followed(tensor_of(crops.large, spec.swav.large_side)));
    if (!crops.small.empty()) trails.push_back(followed(tensor_of(crops.small, spec.swav.small_side)));
    return trails;
}

std::pair<Tensor, Tensor> Swav::Network::scored(const Tensor& features_RF, bool frozen) const {
    Norms norms;
    Layers layers(leaves, norms);
    layers.go_to(head);
    const Tensor inner_RH = layers.normed(layers.mapped(features_RF)).relu_();
    const Tensor z_RE = of_unit_length(layers.mapped(inner_RH));
    const Tensor& prototypes_KE = layers.take();
    POTLUCK_CHECK(layers.all_taken());
    return {z_RE, at::linear(z_RE, of_unit_length(frozen ? at::detach(prototypes_KE) : prototypes_KE))};
}

Tensor Swav::Network::assigned(std::size_t crop, const Tensor& scores_RK, std::int64_t pictures, bool queued) const {
    const at::NoGradGuard nothing_kept;
    const std::int64_t from = static_cast<std::int64_t>(crop) * pictures;
    Tensor all_MK = scores_RK.narrow(0, from, pictures);
    if (queued && queues[crop].is_full())
        all_MK = at::cat({at::linear(queues[crop].z_QE, of_unit_length(leaves.back())), all_MK});
    std::vector<float> q = balanced_assignments(floats_of(all_MK), spec.swav.prototypes,
                                                static_cast<std::size_t>(pictures), spec.swav.epsilon);
    return at::from_blob(q.data(), {pictures, scores_RK.size(1)}, at::kFloat).clone().to(device);
}

Tensor Swav::Network::loss_of(const Tensor& scores_RK, std::int64_t pictures, bool queued) const {
    const std::int64_t crops = scores_RK.size(0) / pictures;
    const Tensor told_VBK = (scores_RK / spec.swav.temperature).log_softmax(1).view({crops, pictures, -1});
    const Tensor all_BK = told_VBK.sum(0);
    Tensor sum;
    for (std::size_t i = 0; i < model::swav_large_crops; ++i) {
        const Tensor others_BK = all_BK - told_VBK[static_cast<std::int64_t>(i)];
        const Tensor lost = -(assigned(i, scores_RK, pictures, queued) * others_BK).sum();
        sum = sum.defined() ? sum + lost : lost;
    }
    return sum / static_cast<double>(model::swav_large_crops * (crops - 1) * pictures);
}

void Swav::Network::remember(const Tensor& z_RE, std::int64_t pictures) {
    const at::NoGradGuard nothing_kept;
    for (std::size_t i = 0; i < queues.size(); ++i) {
        if (!queues[i].z_QE.defined())
            queues[i].z_QE = at::zeros({std::int64_t{spec.swav.queue}, z_RE.size(1)}, z_RE.options());
        queues[i].push(at::detach(z_RE).narrow(0, static_cast<std::int64_t>(i) * pictures, pictures));
    }
}

Swav::Swav(const model::ModelSpec& spec, const ModelOptions& options)
    : m_network(std::make_unique<Network>(spec, options)) {}
Swav::~Swav() = default;

Status Swav::use_parameters(const FlatView& local) {
    return guarded([&]() -> Status {
        m_network->bind(local);
        return {};
    });
}

Result<Model::Evaluation> Swav::evaluate(std::span<const model::Token> records, std::uint64_t first) {
    return guarded([&]() -> Result<Evaluation> {
        const at::NoGradGuard nothing_kept;
        const model::ModelSpec& spec = m_network->spec;
        if (const Status fine = m_network->check(records); !fine.ok()) return fine.error();
        const std::int64_t pictures = m_network->count(records);
        Crops crops = crops_of(spec, records, evaluation_seed, first);
        const auto [z_RE, scores_RK] = m_network->scored(m_network->features(crops), false);
        const auto loss = m_network->loss_of(scores_RK, pictures, false).item<double>();
        ClusterSums sums{std::vector<std::uint64_t>(spec.swav.prototypes, 0)};
        const Tensor best_B = scores_RK.narrow(0, 0, pictures).argmax(1).to(at::kCPU).contiguous();
        for (std::int64_t i = 0; i < pictures; ++i)
            ++sums.chosen[static_cast<std::size_t>(best_B.const_data_ptr<std::int64_t>()[i])];
        return Evaluation{.loss_sum = loss * static_cast<double>(pictures) * spec.context, .clusters = std::move(sums)};
    });
}

Result<double> Swav::add_gradient(const BackwardRequest& request) {
    return guarded([&]() -> Result<double> {
        Network& network = *m_network;
        const model::SwavShape& shape = network.spec.swav;
        if (const Status fine = network.check(request.records); !fine.ok()) return fine.error();
        const std::int64_t pictures = network.count(request.records);
        Crops crops = crops_of(network.spec, request.records, request.record_seed, request.first);
        const bool queued = shape.queue > 0 && request.round >= shape.queue_from;
        const double values = static_cast<double>(pictures) * network.spec.context;
        return values * add_gradients(network.spec, network.flat, network.leaves, request.gradient, [&] {
                   std::vector<Trail> trails = network.runs_again ? network.trails_of(crops) : std::vector<Trail>{};
                   const Tensor features_RF = network.runs_again ? joined(trails) : network.features(crops);
                   const auto [z_RE, scores_RK] = network.scored(features_RF, request.round < shape.frozen);
                   const Tensor loss = network.loss_of(scores_RK, pictures, queued);
                   const auto value = loss.item<double>();
                   if (!std::isfinite(value)) return value;
                   (loss * (request.scale * values)).backward();
                   for (; !trails.empty(); trails.pop_back()) network.go_back(trails.back());
                   if (queued) network.remember(z_RE, pictures);
                   return value;
               });
    });
}

Result<std::vector<float>> Swav::next_logits(std::span<const std::uint32_t> /*tokens*/) {
    return Error{ErrorCode::invalid_argument, "SwAV goes on with no text and draws no pictures; it compares them."};
}

Result<std::vector<float>> Swav::similarities_of(std::span<const model::Token> records) {
    const std::size_t length = std::size_t{m_network->spec.context} + 1;
    const auto statistics = norm_statistics(records);
    if (!statistics.ok()) return statistics.error();
    std::vector<float> embeddings;
    const std::size_t step = length * m_network->spec.swav.together;
    for (std::size_t at = 0; at < records.size(); at += step) {
        const auto found = features(records.subspan(at, std::min(step, records.size() - at)), *statistics);
        if (!found.ok()) return found.error();
        embeddings.insert(embeddings.end(), found->begin(), found->end());
    }
    return guarded([&]() -> Result<std::vector<float>> { return cosines_of(embeddings, records.size() / length); });
}

Result<std::optional<Model::Neighbours>> Swav::neighbours(std::span<const model::Token> records) {
    const std::size_t length = std::size_t{m_network->spec.context} + 1;
    std::vector<std::uint32_t> labels;
    for (std::size_t end = length; end <= records.size(); end += length) labels.push_back(records[end - 1]);
    if (std::ranges::none_of(labels, [](std::uint32_t label) { return label != 0; }))
        return std::optional<Neighbours>{};
    const auto similarities = similarities_of(records);
    if (!similarities.ok()) return similarities.error();
    return guarded([&]() -> Result<std::optional<Neighbours>> {
        std::vector<float> pixels = whole_pictures(m_network->spec, records);
        return std::optional(Neighbours{told_by_neighbours(*similarities, labels),
                                        told_by_neighbours(cosines_of(pixels, labels.size()), labels)});
    });
}

Result<std::vector<NormStatistics>> Swav::norm_statistics(std::span<const model::Token> records) {
    return guarded([&]() -> Result<std::vector<NormStatistics>> {
        const at::NoGradGuard nothing_kept;
        const Network& network = *m_network;
        if (const Status fine = network.check(records); !fine.ok()) return fine.error();
        const std::size_t length = std::size_t{network.spec.context} + 1;
        const std::size_t step = length * network.spec.swav.together;
        std::vector<std::pair<Tensor, Tensor>> sums;
        double batches = 0;
        // A batch that is left over would weigh as much as a whole one.
        for (std::size_t at = 0; at == 0 || at + step <= records.size(); at += step, ++batches) {
            Norms norms{.noted = true};
            std::vector<float> pictures =
                whole_pictures(network.spec, records.subspan(at, std::min(step, records.size())));
            (void)network.trunk(norms, network.tensor_of(pictures, network.spec.swav.large_side));
            if (sums.empty()) {
                sums = std::move(norms.statistics);
                continue;
            }
            for (std::size_t i = 0; i < sums.size(); ++i) {
                sums[i].first += norms.statistics[i].first;
                sums[i].second += norms.statistics[i].second;
            }
        }
        std::vector<NormStatistics> out;
        for (const model::TensorSpec& tensor : model::tensors_of(network.spec)) {
            if (tensor.role != model::Role::gain || out.size() == sums.size()) continue;
            const auto& [mean, variance] = sums[out.size()];
            out.push_back({tensor.name.substr(0, tensor.name.rfind('.')), floats_of(mean / batches),
                           floats_of(variance / batches)});
        }
        return out;
    });
}

Result<std::vector<float>> Swav::norms_of(std::span<const model::Token> records) {
    const auto statistics = norm_statistics(records);
    if (!statistics.ok()) return statistics.error();
    std::vector<float> row;
    for (const NormStatistics& one : *statistics) {
        row.insert(row.end(), one.mean.begin(), one.mean.end());
        row.insert(row.end(), one.variance.begin(), one.variance.end());
    }
    return row;
}

Result<std::vector<float>> Swav::features(std::span<const model::Token> records,
                                          std::span<const NormStatistics> statistics) {
    return guarded([&]() -> Result<std::vector<float>> {
        const at::NoGradGuard nothing_kept;
        const Network& network = *m_network;
        if (const Status fine = network.check(records); !fine.ok()) return fine.error();
        Norms norms{.fixed = true};
        for (const NormStatistics& one : statistics)
            norms.statistics.emplace_back(at::tensor(at::ArrayRef<float>(one.mean)).to(network.device),
                                          at::tensor(at::ArrayRef<float>(one.variance)).to(network.device));
        std::vector<float> pictures = whole_pictures(network.spec, records);
        return floats_of(network.trunk(norms, network.tensor_of(pictures, network.spec.swav.large_side)));
    });
}

}  // namespace potluck::training
