// The bytes that a layout holds at its peak, part by part: the first half of the memory plan. Private to it.
#pragma once

#include "core/training/memory/plan.h"

namespace potluck::training {

/// Bytes of the forward pass that wait for the backward pass, and of what is at work in one layer at the same time.
struct ActivationBytes {
    std::uint64_t kept = 0;     // of all layers of one micro-batch
    std::uint64_t working = 0;  // beside it at the worst moment: one layer's backward pass, or the head's
};
[[nodiscard]] ActivationBytes activation_bytes(const model::ModelSpec& model, const Layout& layout);

/// The longest stretch of the flat vector that moves at once: the embedding, a layer, or the final norm.
struct BlockSizes {
    std::uint64_t embedding = 0, layer = 0;
};
[[nodiscard]] BlockSizes block_sizes(const model::ModelSpec& model);

/// What a second model beside the trainer's takes that answers questions: weights and their copy for the products, as
/// the layout keeps the first's. Its activations take the place of those of training, which waits.
struct SecondModelBytes {
    std::uint64_t gpu = 0, ram = 0;
};
[[nodiscard]] SecondModelBytes second_model_bytes(const model::ModelSpec& model, const Layout& layout);

/// What a budget must hold for a plan: its bytes, and a little for what the heap leaves between blocks.
[[nodiscard]] constexpr std::uint64_t needed(std::uint64_t planned) { return planned + planned / 25; }

/// `parts`, peaks and disk of `plan`, from its layout.
void price(const model::ModelSpec& model, const run::Recipe& recipe, const PlanFacts& facts, MemoryPlan& plan);

}  // namespace potluck::training
