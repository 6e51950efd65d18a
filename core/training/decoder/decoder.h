// A GPT-2, OPT or Llama-shaped decoder (Radford et al. 2019, Zhang et al. 2022, Touvron et al. 2023; names and shapes
// as in HF's) over one flat parameter vector: forward, loss, and a backward pass written out by hand, which adds into
// one flat gradient vector. Written out, because a fifth of an autograd step of a small model is graph upkeep and
// copies between separate gradients, and because weights and gradients of a large one come and go block by block.
// `plain.h` is the plain version; a test holds the two together.
//
// It does not own parameters or gradients, steps no optimizer and reads no files. LibTorch stays inside the .cpp.
// Threads: one at a time; the matrix products use LibTorch's pool. Owns: scratch memory, copies of weights.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/model/model_spec.h"
#include "core/training/compute/model.h"

namespace potluck::training {

using DecoderOptions = ModelOptions;

class Decoder final : public Model {
public:
    Decoder(const model::ModelSpec& spec, const DecoderOptions& options);
    ~Decoder() override;

    [[nodiscard]] Status use_parameters(const FlatView& local) override;

    /// Sum over all B*T targets of -ln p, in nats.
    [[nodiscard]] Result<double> loss_sum(std::span<const model::Token> records);
    /// The same: nothing is drawn for a record.
    [[nodiscard]] Result<Evaluation> evaluate(std::span<const model::Token> records, std::uint64_t first) override;

    [[nodiscard]] Result<double> add_gradient(const BackwardRequest& request) override;

    /// Scores of every next token after each of `tokens` (1..context): (tokens, vocabulary), row-major.
    [[nodiscard]] Result<std::vector<float>> logits(std::span<const std::uint32_t> tokens);
    /// The last row of `logits`.
    [[nodiscard]] Result<std::vector<float>> next_logits(std::span<const std::uint32_t> tokens) override;

private:
    struct Network;
    std::unique_ptr<Network> m_network;
};

}  // namespace potluck::training
