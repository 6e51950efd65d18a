// Three ways to hold the same views. Direct: L is in the products' type where they run, and nothing is copied.
// Resident: one whole copy, renewed at each bind(). Streamed: two slots of one layer each, of which neighbouring layers
// take different ones, so that the next layer can be on its way while one computes.
//
// Gains and biases of norms are read in fp32 whatever the products' type is: a copy of them is kept where L has them
// otherwise, and with_norms() puts them into the place of those that were copied with their layer. What a family lacks
// is undefined in every view and stays so.
#include "core/training/decoder/parameter_store.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"
#include "core/training/compute/tensor_types.h"

namespace potluck::training {

using at::Tensor;

Tensor tensor_of(const FlatView& view) {
    POTLUCK_CHECK(view.dtype != Dtype::fp16);
    const at::TensorOptions options = at::TensorOptions(type_of(view.dtype)).device(device_of(view.device));
    return at::from_blob(view.data, {static_cast<std::int64_t>(view.size)}, options);
}

ParameterStore::ParameterStore(const model::ModelSpec& spec, const Operations& operations, Streaming flow)
    : m_spec(spec), m_operations(operations), m_flow(flow), m_ranges(block_ranges(spec)) {}

void ParameterStore::bind(const FlatView& local) {
    POTLUCK_CHECK(local.size == m_spec.parameters());
    if (local.data != m_bound.data || local.dtype != m_bound.dtype || !(local.device == m_bound.device)) {
        point_at(local);
    }
    m_head_magnitude.reset();
    for (Slot& slot : m_slots) slot.layer.reset();
    if (m_copy.defined()) m_copy.copy_(m_local);
    copy_norms();
}

void ParameterStore::point_at(const FlatView& local) {
    m_bound = local;
    m_local = tensor_of(local);
    m_local_views = views_of(m_spec, m_local);
    const at::TensorOptions wanted = at::TensorOptions(m_operations.type()).device(m_operations.device());
    m_is_direct = m_local.device() == m_operations.device() && m_local.scalar_type() == m_operations.type();
    m_copy.reset();
    m_layers.clear();
    m_norms = {};
    if (m_is_direct) m_layers = m_local_views.layers;
    if (!m_is_direct && m_flow == Streaming::resident) {
        m_copy = at::empty(m_local.sizes(), wanted);
        m_layers = views_of(m_spec, m_copy).layers;
    }
    if (!m_is_direct && m_flow == Streaming::streamed && !m_slots[0].block.defined()) {
        const std::int64_t size = m_ranges.layers.front().size();
        for (Slot& slot : m_slots) {
            slot.block = at::empty({size}, wanted);
            slot.views = layer_views(m_spec, slot.block);
            slot.copy.emplace(m_operations.device(), size, m_operations.type());
        }
    }
}

/// Norms are fp32 always: small enough to keep a copy of where L has them otherwise.
void ParameterStore::copy_norms() {
    const bool first = m_norms.layers.empty();
    const bool usable = m_local.scalar_type() == at::kFloat && m_local.device() == m_operations.device();
    if (usable && !first) return;
    const auto kept = [&](Tensor& place, const Tensor& from) {
        if (!from.defined()) return;
        if (usable) {
            place = from;
        } else if (first) {
            place = from.to(m_operations.fp32());
        } else {
            place.copy_(from);
        }
    };
    m_norms.layers.resize(m_spec.layers);
    for (std::size_t i = 0; i < m_spec.layers; ++i) {
        const LayerWeights& from = m_local_views.layers[i];
        LayerWeights& to = m_norms.layers[i];
        kept(to.ln1_gain_C, from.ln1_gain_C);
        kept(to.ln1_bias_C, from.ln1_bias_C);
        kept(to.ln2_gain_C, from.ln2_gain_C);
        kept(to.ln2_bias_C, from.ln2_bias_C);
        kept(to.q_gain_D, from.q_gain_D);
        kept(to.k_gain_D, from.k_gain_D);
    }
    kept(m_norms.final_norm.gain_C, m_local_views.final_norm.gain_C);
    kept(m_norms.final_norm.bias_C, m_local_views.final_norm.bias_C);
    for (std::size_t i = 0; i < m_layers.size(); ++i) m_layers[i] = with_norms(m_layers[i], i);
}

LayerWeights ParameterStore::with_norms(LayerWeights weights, std::size_t index) const {
    const LayerWeights& norms = m_norms.layers[index];
    weights.ln1_gain_C = norms.ln1_gain_C;
    weights.ln1_bias_C = norms.ln1_bias_C;
    weights.ln2_gain_C = norms.ln2_gain_C;
    weights.ln2_bias_C = norms.ln2_bias_C;
    weights.q_gain_D = norms.q_gain_D;
    weights.k_gain_D = norms.k_gain_D;
    return weights;
}

/// Neighbouring layers lie in different slots.
ParameterStore::Slot& ParameterStore::fetched(std::size_t index) {
    Slot& slot = m_slots[index % 2];
    if (slot.layer != index) {
        const BlockRange& range = m_ranges.layers[index];
        const Tensor from = m_local.narrow(0, static_cast<std::int64_t>(range.begin), range.size());
        if (m_local.device() == m_operations.device()) {
            slot.block.copy_(from);
        } else {
            slot.copy->upload(from, slot.block);
        }
        slot.layer = index;
    }
    return slot;
}

const LayerWeights& ParameterStore::layer(std::size_t index, std::optional<std::size_t> next) {
    if (!m_layers.empty()) return m_layers[index];
    Slot& slot = fetched(index);
    slot.copy->await_on_device();
    slot.views = with_norms(slot.views, index);
    // On a processor there is nothing to overlap with, and the block is read while it is in the cache.
    if (next && !m_operations.device().is_cpu()) (void)fetched(*next);
    return slot.views;
}

EmbeddingWeights ParameterStore::head() const {
    if (m_is_direct) return m_local_views.embedding;
    if (m_copy.defined()) {
        return embedding_views(m_spec, m_copy.narrow(0, 0, m_ranges.embedding.size()));
    }
    const at::TensorOptions wanted = at::TensorOptions(m_operations.type()).device(m_operations.device());
    return embedding_views(m_spec, m_local.narrow(0, 0, m_ranges.embedding.size()).to(wanted));
}

Tensor ParameterStore::token_rows(const Tensor& ids_N) const {
    return m_local_views.embedding.tokens_VE.index_select(0, ids_N.to(m_local.device())).to(m_operations.fp32());
}

Tensor ParameterStore::position_rows(std::int64_t time) const {
    return m_local_views.embedding.positions_PC.narrow(0, position_offset(m_spec), time).to(m_operations.fp32());
}

double ParameterStore::head_magnitude() {
    if (!m_head_magnitude) {
        const auto [least, most] = at::aminmax(m_local_views.embedding.head_VE);
        const Tensor ends = at::stack({least, most}).to(at::kCPU, at::kDouble);  // one wait for a GPU
        const double low = ends[0].item<double>(), high = ends[1].item<double>();
        m_head_magnitude = std::isnan(low) || std::isnan(high) ? NAN : std::max(std::fabs(low), std::fabs(high));
    }
    return *m_head_magnitude;
}

}  // namespace potluck::training
