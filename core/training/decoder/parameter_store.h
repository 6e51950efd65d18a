// The weights as the model reads them: matrices and biases of products in the products' type on the compute device,
// gains and biases of norms in fp32. Where L already is that, these are views of it; else a whole copy, or (streamed)
// two blocks of it, of which the next one is on its way while one is used. Only for files that name tensors.
//
// Threads: one. Owns: the copies. L is the caller's.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/training/compute/operations.h"
#include "core/training/decoder/staged_copy.h"
#include "core/training/decoder/weights.h"

namespace potluck::training {

/// A tensor over a vector that the caller keeps alive.
[[nodiscard]] at::Tensor tensor_of(const FlatView& view);

class ParameterStore {
public:
    ParameterStore(const model::ModelSpec& spec, const Operations& operations, Streaming flow);

    /// L from here on; call again after it changed.
    void bind(const FlatView& local);

    /// Where L lies.
    [[nodiscard]] at::Device home() const { return m_local.device(); }
    /// Valid until the next call. `next` is the layer that will be asked for after it, if any.
    [[nodiscard]] const LayerWeights& layer(std::size_t index, std::optional<std::size_t> next);
    [[nodiscard]] const FinalNormWeights& final_norm() const { return m_norms.final_norm; }
    /// The parts of the embedding that enter products: the head and the two projections. Made anew if
    /// streamed.
    [[nodiscard]] EmbeddingWeights head() const;
    /// Rows of the token embedding and of the positions as L has them, in fp32 on the compute device.
    [[nodiscard]] at::Tensor token_rows(const at::Tensor& ids_N) const;
    [[nodiscard]] bool has_positions() const { return m_local_views.embedding.positions_PC.defined(); }
    [[nodiscard]] at::Tensor position_rows(std::int64_t time) const;
    /// The largest magnitude of an entry of the head, not a number if one is none. Read once after each `bind`.
    [[nodiscard]] double head_magnitude();

private:
    struct Slot {
        at::Tensor block;
        std::optional<std::size_t> layer;
        std::optional<StagedCopy> copy;
        LayerWeights views;
    };
    struct Norms {
        std::vector<LayerWeights> layers;  // gains and biases of norms only
        FinalNormWeights final_norm;
    };
    void point_at(const FlatView& local);
    void copy_norms();
    Slot& fetched(std::size_t index);
    [[nodiscard]] LayerWeights with_norms(LayerWeights weights, std::size_t index) const;

    model::ModelSpec m_spec;
    Operations m_operations;
    Streaming m_flow;
    BlockRanges m_ranges;
    FlatView m_bound;
    at::Tensor m_local;  // L
    Weights m_local_views;
    bool m_is_direct = false;            // L is in the products' type on the compute device
    at::Tensor m_copy;                   // resident, not direct
    std::vector<LayerWeights> m_layers;  // resident or direct
    Norms m_norms;
    std::array<Slot, 2> m_slots;
    std::optional<double> m_head_magnitude;
};

}  // namespace potluck::training
