// ALBERT (Lan et al. 2019; names and shapes as in HF's AlbertForPreTraining) over one flat parameter vector: an encoder
// whose layers share their weights, with a loss for masked tokens and one for the order of two texts (masking.h).
// Gradients come from LibTorch's autograd and are summed straight into the flat gradient.
//
// It does not own parameters or gradients, steps no optimizer and reads no files. LibTorch stays inside the .cpp.
// Threads: one at a time; the matrix products use LibTorch's pool. Owns: copies of weights where L is not fp32 where
// the model computes.
#pragma once

#include <memory>

#include "core/model/model_spec.h"
#include "core/training/compute/model.h"

namespace potluck::training {

class Encoder final : public Model {
public:
    Encoder(const model::ModelSpec& spec, const ModelOptions& options);
    ~Encoder() override;

    [[nodiscard]] Status use_parameters(const FlatView& local) override;
    /// The loss is context * (mean of -ln p over a record's gaps, and -ln p of its order), summed over records.
    [[nodiscard]] Result<Evaluation> evaluate(std::span<const model::Token> records, std::uint64_t first) override;
    [[nodiscard]] Result<double> add_gradient(const BackwardRequest& request) override;
    [[nodiscard]] Result<std::vector<float>> next_logits(std::span<const std::uint32_t> tokens) override;

    /// What is drawn follows from `seed`, which is 0 above.
    [[nodiscard]] Result<PairSums> pair_sums(std::span<const model::Token> records, std::uint64_t seed,
                                             std::uint64_t first);

private:
    struct Network;
    std::unique_ptr<Network> m_network;
};

}  // namespace potluck::training
