#include "core/training/decoder/gradient_store.h"

#include <vector>

#include "core/base/check.h"
#include "core/training/compute/products.h"

namespace potluck::training {

using at::Tensor;

GradientStore::GradientStore(const model::ModelSpec& spec, const Operations& operations)
    : m_spec(spec), m_operations(operations), m_ranges(block_ranges(spec)) {}

Tensor GradientStore::part(const BlockRange& range) const {
    return m_flat.narrow(0, static_cast<std::int64_t>(range.begin), range.size());
}

void GradientStore::begin(const FlatView& gradient) {
    POTLUCK_CHECK(gradient.size == m_spec.parameters());
    m_flat = tensor_of(gradient);
    m_is_direct = m_flat.scalar_type() == at::kFloat && m_flat.device() == m_operations.device();
    for (Slot& slot : m_slots) slot.leaving.reset();
    if (m_is_direct || m_slots[0].block.defined()) return;
    const std::int64_t size = m_ranges.layers.front().size();
    const bool one = m_operations.device().is_cpu();  // what is added at once needs no second block
    for (Slot& slot : m_slots) {
        slot.block = one && m_slots[0].block.defined() ? m_slots[0].block : at::empty({size}, m_operations.fp32());
        slot.copy.emplace(m_operations.device(), size, m_flat.scalar_type());
    }
}

LayerWeights GradientStore::layer(std::size_t index) {
    if (m_is_direct) return layer_views(m_spec, part(m_ranges.layers[index]));
    Slot& slot = m_slots[index % 2];
    receive(slot);
    slot.block.zero_();
    return layer_views(m_spec, slot.block);
}

void GradientStore::finish_layer(std::size_t index) {
    if (m_is_direct) return;
    send(m_slots[index % 2], m_ranges.layers[index]);
    receive(m_slots[(index + 1) % 2]);
}

void GradientStore::send(Slot& slot, const BlockRange& range) {
    if (m_flat.device() == slot.block.device()) {
        m_operations.accumulate(part(range), slot.block);
        return;
    }
    slot.copy->download(slot.block);
    slot.leaving = range;
}

void GradientStore::receive(Slot& slot) {
    if (!slot.leaving) return;
    const Tensor sum = part(*slot.leaving);
    sum.add_(slot.copy->downloaded());
    slot.leaving.reset();
}

EmbeddingWeights GradientStore::head() {
    if (m_is_direct) return embedding_views(m_spec, part(m_ranges.embedding));
    m_head = at::zeros({m_ranges.embedding.size()}, m_operations.fp32());
    return embedding_views(m_spec, m_head);
}

void GradientStore::finish_head() {
    if (m_is_direct) return;
    m_operations.accumulate(part(m_ranges.embedding), m_head);
    m_head.reset();
}

FinalNormWeights GradientStore::final_norm() {
    if (m_is_direct) return final_norm_views(m_spec, part(m_ranges.final_norm));
    m_final_norm = at::zeros({m_ranges.final_norm.size()}, m_operations.fp32());
    return final_norm_views(m_spec, m_final_norm);
}

void GradientStore::finish_final_norm() {
    if (m_is_direct) return;
    m_operations.accumulate(part(m_ranges.final_norm), m_final_norm);
    m_final_norm.reset();
}

/// Rows of one token are summed in fp32 before they are rounded into a 16-bit vector.
void GradientStore::add_token_rows(const Tensor& ids_N, const Tensor& dx_NE) {
    const Tensor sums_VE = embedding_views(m_spec, part(m_ranges.embedding)).tokens_VE;
    const Tensor ids = ids_N.to(m_flat.device()), dx = dx_NE.to(m_flat.device());
    if (m_flat.scalar_type() == at::kFloat) {
        Tensor(sums_VE).index_add_(0, ids, dx);
        return;
    }
    const auto [distinct_U, place_N] = at::_unique(ids, /*sorted=*/true, /*return_inverse=*/true);
    const Tensor rows_UE = at::zeros({distinct_U.size(0), dx.size(1)}, dx.options()).index_add_(0, place_N, dx);
    const Tensor summed_UE = sums_VE.index_select(0, distinct_U).to(at::kFloat).add_(rows_UE);
    Tensor(sums_VE).index_copy_(0, distinct_U, summed_UE.to(sums_VE.scalar_type()));
}

void GradientStore::add_position_rows(const Tensor& dpositions_TC) {
    const Tensor sums_PC = embedding_views(m_spec, part(m_ranges.embedding)).positions_PC;
    m_operations.accumulate(sums_PC.narrow(0, position_offset(m_spec), dpositions_TC.size(0)), dpositions_TC);
}

void GradientStore::add_input_product(const Tensor& x_NE, const Tensor& dx_NC) {
    const Tensor sum_EC = embedding_views(m_spec, part(m_ranges.embedding)).in_EC;
    m_operations.accumulate(sum_EC.t(), product(dx_NC.t(), x_NE));
}

void GradientStore::finish() {
    for (Slot& slot : m_slots) receive(slot);
    m_flat.reset();
}

}  // namespace potluck::training
