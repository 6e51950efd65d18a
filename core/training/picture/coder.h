// A picture coder over one flat parameter vector: convolutions halve a picture's side, each place becomes a few whole
// numbers by finite scalar quantisation (Mentzer et al. 2023, arXiv 2309.15505), and a decoder makes the picture of
// them. There is no code book and nothing that gradients do not move, so volunteers train it as any other model.
// Gradients come from LibTorch's autograd and are summed straight into the flat gradient.
//
//   record := 3 side^2 values of 0..255, red, green, blue of each pixel, row by row, then 0
//
// It does not own parameters or gradients, steps no optimizer and reads no files. LibTorch stays inside the .cpp.
// Threads: one at a time; the convolutions use LibTorch's pool. Owns: copies of weights where L is not fp32 where the
// model computes.
#pragma once

#include <memory>

#include "core/model/model_spec.h"
#include "core/training/compute/model.h"

namespace potluck::training {

class PictureCoder final : public Model {
public:
    PictureCoder(const model::ModelSpec& spec, const ModelOptions& options);
    ~PictureCoder() override;

    [[nodiscard]] Status use_parameters(const FlatView& local) override;
    /// The loss is context * model::coder_loss_of a picture's, summed over records.
    [[nodiscard]] Result<Evaluation> evaluate(std::span<const model::Token> records, std::uint64_t first) override;
    [[nodiscard]] Result<double> add_gradient(const BackwardRequest& request) override;
    /// The picture again after coding, as values of 0..255: `tokens` is a record without its last.
    [[nodiscard]] Result<std::vector<float>> next_logits(std::span<const std::uint32_t> tokens) override;

    /// The numbers of each place, joined to one, in the order of the places.
    [[nodiscard]] Result<std::vector<std::uint32_t>> codes_of(std::span<const model::Token> records) override;
    [[nodiscard]] Result<std::vector<float>> picture_of(std::span<const std::uint32_t> codes) override;

private:
    struct Network;
    std::unique_ptr<Network> m_network;
};

}  // namespace potluck::training
