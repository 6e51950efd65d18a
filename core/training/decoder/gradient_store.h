// Where the gradient goes: a block's views add straight into the caller's vector where that is fp32 in the memory of
// the compute device; else into a scratch block, which is added to the vector, rounded once, when the block is done;
// the copy from a GPU goes on while the next block computes. Only for files that name tensors.
//
// Threads: one. Owns: scratch blocks. The vector is the caller's.
#pragma once

#include <array>
#include <optional>

#include "core/training/compute/operations.h"
#include "core/training/decoder/parameter_store.h"
#include "core/training/decoder/staged_copy.h"
#include "core/training/decoder/weights.h"

namespace potluck::training {

class GradientStore {
public:
    GradientStore(const model::ModelSpec& spec, const Operations& operations);

    /// The vector of the pass under way.
    void begin(const FlatView& gradient);
    /// fp32 views to add to. Layers are asked for one after another, each followed by `finish_layer`.
    [[nodiscard]] LayerWeights layer(std::size_t index);
    void finish_layer(std::size_t index);
    /// The gradient of the whole embedding, first for the head; `finish_head` takes what there is, and the rest
    /// follows row by row.
    [[nodiscard]] EmbeddingWeights head();
    void finish_head();
    [[nodiscard]] FinalNormWeights final_norm();
    void finish_final_norm();
    void add_token_rows(const at::Tensor& ids_N, const at::Tensor& dx_NE);
    void add_position_rows(const at::Tensor& dpositions_TC);
    /// The block of the input projection, (E, C) transposed as in the vector; only where E differs from C.
    void add_input_product(const at::Tensor& x_NE, const at::Tensor& dx_NC);
    /// Adds what is still on its way.
    void finish();

private:
    struct Slot {
        at::Tensor block;  // fp32, on the compute device
        std::optional<StagedCopy> copy;
        std::optional<BlockRange> leaving;
    };
    [[nodiscard]] at::Tensor part(const BlockRange& range) const;
    void send(Slot& slot, const BlockRange& range);
    void receive(Slot& slot);

    model::ModelSpec m_spec;
    Operations m_operations;
    BlockRanges m_ranges;
    at::Tensor m_flat;
    bool m_is_direct = false;
    std::array<Slot, 2> m_slots;
    at::Tensor m_head, m_final_norm;  // scratch, not direct
};

}  // namespace potluck::training
