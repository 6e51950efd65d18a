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
#include "core/model/token.h"
#include "core/training/memory/layout.h"

namespace potluck::training {

/// What of a Layout concerns the model. Residual stream, norms, softmax and accumulated gradients are fp32 whatever
/// `matmul` is.
struct DecoderOptions {
    DeviceId device = {};
    Dtype matmul = Dtype::fp32;
    AttentionKernel attention = AttentionKernel::blocked;
    Checkpointing checkpointing = Checkpointing::none;
    Streaming weights_flow = Streaming::resident;
    Kernels kernels = Kernels::own;
};

class Decoder {
public:
    Decoder(const model::ModelSpec& spec, const DecoderOptions& options);
    Decoder(Decoder&&) noexcept;
    Decoder& operator=(Decoder&&) noexcept;
    ~Decoder();

    /// Takes L, spec.parameters() numbers in fp32 or bf16, as the weights. They stay the caller's and must outlive
    /// their use here; after they change, call this again (it refreshes copies).
    [[nodiscard]] Status use_parameters(const FlatView& local);

    /// `records`: whole records of context + 1 tokens each (B, T+1). Sum over all B*T targets of -ln p, in nats.
    [[nodiscard]] Result<double> loss_sum(std::span<const model::Token> records);

    struct BackwardRequest {
        std::span<const model::Token> records;  // (B, T+1)
        FlatView gradient;                      // fp32 or bf16; added to
        double scale = 1;                       // gradient += scale * d(loss sum)/d(parameters)
        std::uint64_t dropout_seed = 0;
    };
    /// Loss sum of the records, and its gradient. Leaves `gradient` as it was if the loss is not finite. 16-bit numbers
    /// may overflow in the backward pass all the same: then `gradient` holds infinities or NaN, which its norm shows.
    [[nodiscard]] Result<double> add_gradient(const BackwardRequest& request);

    /// Scores of every next token after each of `tokens` (1..context): (tokens, vocabulary), row-major.
    [[nodiscard]] Result<std::vector<float>> logits(std::span<const std::uint32_t> tokens);
    /// The last row of `logits`.
    [[nodiscard]] Result<std::vector<float>> next_logits(std::span<const std::uint32_t> tokens);

private:
    struct Network;
    std::unique_ptr<Network> m_network;
};

}  // namespace potluck::training
